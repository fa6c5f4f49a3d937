"""Stations on a map: circles by what stands there, colors and signs by what changes. No tiles, no network."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from mfbo.serve.pages.drawing.charts import Chart, canvas, mark
from mfbo.serve.pages.drawing.outline import hull
from mfbo.serve.pages.drawing.svg import path_of, tag
from mfbo.serve.pages.wording import number, signed

WIDTH, LEAST, MOST, EDGE = 560.0, 240.0, 560.0, 44.0
LARGEST = 22.0  # radius of the fullest station, if there are few
CROWD = 20  # stations from which circles are smaller, so that they do not cover one another
SMALLEST = 2.2  # of one where nobody is
SEEN = 4.0  # least radius of one where something is to be done
LETTER = 7.0  # width of a letter of a sign, for telling whether signs would overlap
LINE = 13.0
SIGNS = 40  # at most so many changes are written beside their stations


@dataclass(frozen=True)
class Stop:
    """A station: where it is, how many agents (or which share) it has, what changes, None if that is not known."""

    name: str
    x: float
    y: float
    amount: float
    change: float | None = None
    closed: bool = False

    @property
    def tone(self) -> str:
        """What is to be done here."""
        if self.closed:
            return "closed"
        return "still" if not self.change else "bring" if self.change > 0 else "take"

    @property
    def words(self) -> str:
        """What is said of it."""
        change = "" if self.change is None else f", {signed(self.change)}" if self.change else ", no change"
        return f"{self.name}: {number(self.amount)}{change}" + ", closed" * self.closed


def station_map(title: str, stops: Sequence[Stop], *, geographic: bool) -> Chart:
    """Draw a map; geographic: x and y are degrees of longitude and latitude."""
    spots, height = _projected(stops, geographic=geographic)
    most = max((stop.amount for stop in stops), default=0.0) or 1.0
    largest = max(LARGEST * min(1.0, math.sqrt(CROWD / max(len(stops), 1))), 3 * SMALLEST)
    radii = [SMALLEST + (largest - SMALLEST) * math.sqrt(max(stop.amount, 0.0) / most) for stop in stops]
    radii = [max(radius, SEEN) if stop.change else radius for radius, stop in zip(radii, stops, strict=True)]
    order = sorted(range(len(stops)), key=lambda place: -radii[place])
    circles = [
        mark(
            tag("circle", cx=spots[place][0], cy=spots[place][1], r=radii[place]),
            stops[place].words,
            first=rank == 0,
            class_=f"mark stop {stops[place].tone}",
            data_station=place,
        )
        for rank, place in enumerate(order)
    ]
    land = tag("path", class_="land", d=path_of(hull(spots), closed=True))
    moved = sum(1 for stop in stops if stop.change)
    summary = f"{len(stops)} stations, {moved} of them change"
    parts = [land, *circles, tag("g", *_signs(stops, spots, radii), aria_hidden="true")]
    svg = canvas(WIDTH, height, title, summary, parts, "map")
    rows = tuple((stop.name, stop.amount, stop.change) for stop in sorted(stops, key=lambda stop: -stop.amount))
    return Chart(title, svg, ("station", "agents", "change"), rows, _key(stops))


def _projected(stops: Sequence[Stop], *, geographic: bool) -> tuple[list[tuple[float, float]], float]:
    """Return where stations lie in the drawing, and its height; a degree of longitude is as short as on the ground."""
    ys = [stop.y for stop in stops]
    squeeze = max(math.cos(math.radians((min(ys) + max(ys)) / 2)), 0.05) if geographic else 1.0
    xs = [stop.x * squeeze for stop in stops]
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    inside = WIDTH - 2 * EDGE
    height = min(max(high / wide * inside if wide > 0 else inside, LEAST - 2 * EDGE), MOST - 2 * EDGE)
    scale = min(inside / wide if wide > 0 else math.inf, height / high if high > 0 else math.inf)
    scale = scale if math.isfinite(scale) else 0.0
    left, top = (WIDTH - scale * wide) / 2, EDGE + (height - scale * high) / 2
    spots = [(left + scale * (x - min(xs)), top + scale * (max(ys) - y)) for x, y in zip(xs, ys, strict=True)]
    return spots, height + 2 * EDGE


def _signs(stops: Sequence[Stop], spots: list[tuple[float, float]], radii: list[float]) -> list[Markup]:
    """Write the largest changes above their stations, where they do not cover one another."""
    changed = [place for place, stop in enumerate(stops) if stop.change]
    taken: list[tuple[float, float, float]] = []
    texts = []
    for place in sorted(changed, key=lambda place: -abs(stops[place].change or 0.0))[:SIGNS]:
        text = signed(stops[place].change or 0.0)
        x, y, half = spots[place][0], spots[place][1] - radii[place] - 3.0, len(text) * LETTER / 2
        if any(abs(x - ox) < half + other and abs(y - oy) < LINE for ox, oy, other in taken):
            continue
        taken.append((x, y, half))
        texts.append(tag("text", text, class_=f"sign {stops[place].tone}", x=x, y=y))
    return texts


def _key(stops: Sequence[Stop]) -> tuple[tuple[str, str], ...]:
    words = {"bring": "bring", "take": "take", "still": "stays as it is", "closed": "closed"}
    present = {stop.tone for stop in stops}
    return tuple((tone, words[tone]) for tone in words if tone in present)
