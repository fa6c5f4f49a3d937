"""Elements of SVG from values: every text and every attribute is escaped."""

from typing import Any

from markupsafe import Markup, escape


def tag(name: str, *children: Any, **attributes: Any) -> Markup:
    """Return an element; class_ and aria_label are written class and aria-label, None is left out.

    Children that are not elements are texts.
    """
    written = "".join(
        f' {_attribute(key)}="{escape(_shown(value))}"' for key, value in attributes.items() if value is not None
    )
    if not children:
        return Markup(f"<{name}{written}/>")  # noqa: S704 -- all parts are escaped above
    inner = Markup("").join(children)
    return Markup(f"<{name}{written}>{inner}</{name}>")  # noqa: S704


def path_of(points: list[tuple[float, float]], *, closed: bool = False) -> str:
    """Return points as the d of a path."""
    if not points:
        return ""
    return "M" + "L".join(f"{_shown(x)} {_shown(y)}" for x, y in points) + ("Z" if closed else "")


def _attribute(name: str) -> str:
    if name in ("viewBox",):
        return name
    return name.rstrip("_").replace("_", "-")


def _shown(value: Any) -> str:
    """Return a number with a tenth of a unit, which no eye tells apart; anything else as text."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
