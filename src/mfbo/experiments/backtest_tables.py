"""A backtest as tables: what each way served in sum, with intervals, and day by day; and how to read them."""

from datetime import date

from mfbo.experiments.backtest import STATUS_QUO, Backtest, Way
from mfbo.experiments.statistics import Interval
from mfbo.experiments.tables import Table

PARTS = {"learned": "days to learn from", "held_out": "held-out days, with the final plans"}
CENSORED = (
    "Recorded trips found a bike in their time. Who was turned away, or looked elsewhere, is in no file: stations that "
    "were often empty look as if few wanted to ride there. So a replay says how much of the recorded demand a plan "
    "serves and nothing of demand that was never served, and it flatters plans like those of the recorded days."
)
INTERVALS = (
    "Intervals are 95 %, by Student's t over the differences of the days, as if days were independent of one another."
)
NIGHTLY = (
    "Every day begins with the bikes as planned; 'brought a night' is how many of them are not where the evening left "
    "them, whatever the way."
)


def tables(found: Backtest) -> list[Table]:
    """Return the sums of each part, then all days."""
    return [*(sums(found, part) for part in found.parts), *(by_day(found, part) for part in found.parts)]


def sums(found: Backtest, part: str) -> Table:
    """Return a line for each way: rides and share served, a day against the status quo and the rule, bikes brought."""
    status_quo, rule = (next(way for way in found.ways if way.name == name) for name in (STATUS_QUO, found.rule))
    rows = []
    for way in found.ways:
        days = getattr(way, part)
        rows.append(
            (
                way.name,
                int(days.rides.sum()),
                f"{100 * days.served:.2f} %",
                _against(found, way, part, status_quo),
                _against(found, way, part, rule),
                round(float(days.brought.mean()), 1) if len(days.brought) else None,
            )
        )
    days = getattr(status_quo, part)
    first, last = (date.fromordinal(day).isoformat() for day in (days.dates[0], days.dates[-1]))
    title = f"{first} to {last}, {_counted(len(days.dates), PARTS[part])}: {int(days.trips.sum()):,} recorded trips"
    columns = (
        "", "rides served", "of the trips", "rides a day against the status quo (95 %)",
        f"rides a day against {found.rule} (95 %)", "brought a night",
    )  # fmt: skip
    return Table(part.replace("_", "-"), title, columns, tuple(rows))


def by_day(found: Backtest, part: str) -> Table:
    """Return a line for each day: trips, and the rides of each way."""
    ways = [getattr(way, part) for way in found.ways]
    rows = [
        (
            f"{date.fromordinal(day):%Y-%m-%d %a}",
            int(ways[0].trips[place]),
            *(int(way.rides[place]) for way in ways),
        )
        for place, day in enumerate(ways[0].dates)
    ]
    title = f"Day by day: rides served, {PARTS[part]}"
    columns = ("day", "recorded trips", *(way.name for way in found.ways))
    return Table(f"{part.replace('_', '-')}-days", title, columns, tuple(rows))


def notes(found: Backtest) -> list[str]:
    """Return what a reader must know of these figures."""
    lines = [CENSORED]
    if not found.known_placement:
        lines.append(
            "The files do not say where bikes stood: the status quo is the fleet spread evenly over all stations."
        )
    lines.append(
        "Rules are made of the trips of the days to learn from, so on those days they know what is to come"
        + ("; the held-out days are the fair comparison." if len(found.parts) > 1 else ".")
        + f" mfbo from {found.rule} begins with the same knowledge, mfbo from the status quo with none. Both are told"
        " what share of the day's trips was served, one number each evening, and what every station saw."
    )
    if found.docks is None:
        lines.append("Docks are not known: stations hold any number of bikes, which flatters every way.")
    if found.move_budget is not None:
        lines.append(
            f"The move budget of {found.move_budget} counts changes of the plan from one day to the next; held-out days"
            " begin at the final plan."
        )
    return [*lines, NIGHTLY, INTERVALS]


def _against(found: Backtest, way: Way, part: str, other: Way) -> str:
    if way is other:
        return "–"
    gained: Interval = found.gained(way, part, other)
    if gained.low is None or gained.high is None:
        return f"{gained.mean:+.1f}"
    return f"{gained.mean:+.1f} ({gained.low:+.1f} to {gained.high:+.1f})"


def _counted(days: int, kind: str) -> str:
    return f"{days} {kind}" if days != 1 else f"1 {kind.replace('days', 'day')}"
