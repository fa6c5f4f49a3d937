"""Small drawings of a card as SVG: payoffs over rounds, amounts at places, bars. Light and dark pages suit them."""

import html
from collections.abc import Sequence

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.cards.card import amount, in_short

MOST_POINTS = 240  # of a curve; of more, the highest and lowest of each stretch are drawn
MOST_PLACES = 400  # the fullest ones
MOST_BARS = 12
BLUE, ORANGE = "#2a8fd0", "#d9742b"  # seen on white and on black
CURVE = (420.0, 150.0)
MAP = 300.0
MARGIN = 16.0
LARGEST = 13.0  # radius of the fullest place
BAR = (420.0, 17.0)
NAMES = 150.0  # width of the names beside bars


def payoff_points(payoffs: FloatArray) -> str:
    """Draw told payoffs (n,) as points over the rounds, and the highest so far as a line."""
    payoffs = np.asarray(payoffs, dtype=np.float64)
    if len(payoffs) < 2 or not np.isfinite(payoffs).all():
        return ""
    best, places = np.maximum.accumulate(payoffs), _thinned(payoffs)
    width, height = CURVE
    low, high = float(payoffs.min()), float(payoffs.max())
    x = MARGIN + 60 + places / (len(payoffs) - 1) * (width - 2 * MARGIN - 60)
    scale = (height - 3 * MARGIN) / ((high - low) or 1.0)

    def up(values: FloatArray) -> FloatArray:
        return np.asarray(height - 2 * MARGIN - (values - low) * scale)

    dots = "".join(_dot(*at, 2.2, BLUE) for at in zip(x, up(payoffs[places]), strict=True))
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, up(best[places]), strict=True))
    parts = [
        f'<polyline points="{line}" fill="none" stroke="{ORANGE}" stroke-width="1.5"/>',
        dots,
        _letters(high, MARGIN + 52, MARGIN + 4, "end"),
        _letters(low, MARGIN + 52, height - 2 * MARGIN + 4, "end"),
        _words(f"{len(payoffs):,} told rounds; the line is the best so far", MARGIN + 60, height - 6),
    ]
    return _svg(width, height, f"payoffs of {len(payoffs)} rounds, from {amount(low)} to {amount(high)}", parts)


def place_dots(places: FloatArray, amounts: FloatArray, names: Sequence[str], *, geographic: bool) -> str:
    """Draw amounts (A,) as circles at places (A, 2); geographic: in degrees of longitude and latitude."""
    chosen = np.argsort(-amounts, kind="stable")[:MOST_PLACES]
    spots = places[chosen].astype(np.float64)
    if geographic:  # a degree of longitude is as short as on the ground
        spots = spots * [max(float(np.cos(np.radians(spots[:, 1].mean()))), 0.05), 1.0]
    low, extent = spots.min(axis=0), np.ptp(spots, axis=0)
    longest = float(extent.max()) or 1.0
    inside = MAP - 2 * MARGIN
    if not np.isfinite(longest):
        return ""
    spots = (spots - low) / longest * inside
    width, height = np.maximum(extent / longest * inside + 2 * MARGIN, 3 * MARGIN).tolist()
    top = float(amounts.max()) or 1.0
    frame = f'width="{width:.0f}" height="{height:.0f}" fill="none" stroke="currentColor" stroke-opacity="0.25"'
    parts = [f"<rect {frame}/>"]
    for place, (x, y) in zip(chosen.tolist(), spots.tolist(), strict=True):
        radius = 1.5 + (LARGEST - 1.5) * float(np.sqrt(max(amounts[place], 0.0) / top))
        said = f"{in_short(names[place])}: {amount(float(amounts[place]))}"
        parts.append(_dot(MARGIN + x, height - MARGIN - y, radius, BLUE, said))
    return _svg(width, height, f"a map of {len(names)} places", parts)


def bar_list(names: Sequence[str], values: FloatArray, halves: FloatArray | None = None) -> str:
    """Draw values (n,) as bars from zero, with whiskers of ± halves (n,); the first twelve."""
    names, values = list(names)[:MOST_BARS], np.asarray(values, dtype=np.float64)[:MOST_BARS]
    halves = np.zeros(len(values)) if halves is None else np.asarray(halves, dtype=np.float64)[:MOST_BARS]
    ends = np.concatenate([values - halves, values + halves, [0.0]])
    if not len(values) or not np.isfinite(ends).all():
        return ""
    width, row = BAR
    low, extent = float(ends.min()), float(np.ptp(ends)) or 1.0

    def across(value: float) -> float:
        return NAMES + (value - low) / extent * (width - NAMES - MARGIN)

    parts = []
    for place, (name, value, half) in enumerate(zip(names, values.tolist(), halves.tolist(), strict=True)):
        y, ends_at = place * row + 4.0, sorted((across(0.0), across(value)))
        shape = f'x="{ends_at[0]:.1f}" y="{y:.1f}" width="{ends_at[1] - ends_at[0]:.1f}" height="{row - 6:.1f}"'
        said = html.escape(f"{in_short(name)}: {amount(value)} ± {amount(half)}" if half else in_short(name))
        parts.append(f'<rect {shape} fill="{BLUE}" fill-opacity="0.8"><title>{said}</title></rect>')
        parts.append(_words(in_short(name, 22), NAMES - 8, y + row - 8, "end"))
        if half:
            middle = f'y1="{y + 5.5:.1f}" y2="{y + 5.5:.1f}" stroke="currentColor" stroke-opacity="0.7"'
            parts.append(f'<line x1="{across(value - half):.1f}" x2="{across(value + half):.1f}" {middle}/>')
    return _svg(width, len(values) * row + 6.0, f"bars of {len(values)} values", parts)


def _thinned(values: FloatArray) -> IntArray:
    """Return which of many values are drawn: the lowest and the highest of every stretch, in their order."""
    if len(values) <= MOST_POINTS:
        return np.arange(len(values))
    stretches = np.array_split(np.arange(len(values)), MOST_POINTS // 2)
    ends = [(part[values[part].argmin()], part[values[part].argmax()]) for part in stretches]
    return np.unique(np.array(ends))


def _dot(x: float, y: float, radius: float, color: str, said: str = "") -> str:
    title = f"<title>{html.escape(said)}</title>" if said else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{color}" fill-opacity="0.75">{title}</circle>'


def _letters(value: float, x: float, y: float, anchor: str) -> str:
    return _words(amount(value), x, y, anchor)


def _words(text: str, x: float, y: float, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="11" font-family="sans-serif" fill="currentColor">{html.escape(text)}</text>'


def _svg(width: float, height: float, said: str, parts: Sequence[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{html.escape(said)}"'
    return f'{opening} style="display:block;max-width:100%">{"".join(parts)}</svg>'
