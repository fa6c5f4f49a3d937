"""How pages write numbers: short, with a true minus, and never more digits than help."""

import math


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many digits that count; whole ones whole."""
    if value is None or not math.isfinite(value):
        return "–"
    whole = float(value).is_integer() or abs(value) >= 10**digits
    if abs(value) < 1e9 and whole:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}" if 1e-4 <= abs(value) < 1e9 else f"{value:.3g}"
    return text.replace("-", "−").replace(",", " ")


def signed(value: float | None, digits: int = 4) -> str:
    """Return a number with its sign, also above 0."""
    return f"+{number(value, digits)}" if value is not None and value > 0 else number(value, digits)


def percent(share: float | None) -> str:
    """Return a share as a percentage without more digits than help."""
    if share is None or not math.isfinite(share):
        return "–"
    return f"{100 * share:.{0 if abs(share) >= 0.1 else 1}f} %".replace("-", "−")


def banded(value: float, half: float, *, sign: bool = False) -> str:
    """Return a value and its band with as many digits as the band makes sense of: two of its own."""
    if not (math.isfinite(value) and math.isfinite(half)) or half <= 0:
        return f"{signed(value) if sign else number(value)} ± {number(half)}"
    digits = min(max(1 - math.floor(math.log10(half)), 0), 12)
    middle = f"{round(value, digits) + 0.0:{'+' if sign and round(value, digits) else ''}.{digits}f}"
    return f"{middle} ± {half:.{digits}f}".replace("-", "−")
