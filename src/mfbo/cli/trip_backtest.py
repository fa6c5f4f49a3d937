"""`mfbo backtest`: what recorded days would have brought under the status quo, the rules and mfbo."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

from mfbo.cli.commands import BacktestTrips
from mfbo.cli.output import check_out, print_json, print_table, progress, say, write_out
from mfbo.cli.study_feeds import given_trips
from mfbo.errors import InvalidInputError
from mfbo.experiments.backtest import Backtest, backtest
from mfbo.experiments.backtest_tables import notes, tables
from mfbo.problems import replay_problem
from mfbo.problems.forecasts import RULES
from mfbo.problems.tables import Trips
from mfbo.problems.tables.days import iso
from mfbo.sheets import read_docks, read_placed
from mfbo.validation import known_name, said, whole_number

LEARNED = 2 / 3  # of the days, where nobody says which


def replay_days(options: BacktestTrips) -> None:
    """Check everything first; the page is written whole at the end, or not at all."""
    whole_number(options.agents, "agents", 1, 10**7)
    known_name(options.rule, "rule", list(RULES))
    if options.move_budget is not None:
        whole_number(options.move_budget, "move-budget", 0)
    check_out(options.out)
    _require_plots()
    silent = options.quiet or options.json
    trips = given_trips(options.files, options.columns, stations=options.stations, silent=silent)
    learned, held_out = parted(trips, options.train, options.test)
    given = _fleet(options, trips)
    days = 5 * len(learned.dates)
    with progress("backtest", days, silent=silent, unit="day", value="") as advance:
        found = backtest(
            learned,
            held_out,
            options.agents,
            **given,
            rule=options.rule,
            move_budget=options.move_budget,
            seed=options.seed,
            progress=lambda done, total: advance(done, 0.0),
        )
    _write(options.out, found)
    if options.json:
        print_json(_record(found, trips, options.out))
        return
    for table in tables(found)[: len(found.parts)]:
        print_table(
            table.title, table.columns, [["–" if value is None else value for value in row] for row in table.rows]
        )
    for note in notes(found):
        say(note)
    say(f"page with curve, map and all days: {options.out}")


def parted(trips: Trips, train: str | None, test: str | None) -> tuple[Trips, Trips | None]:
    """Return the trips to learn from and those held out; by default the first two thirds of the days, and the rest."""
    dates = trips.dates
    if train is None and test is None:
        cut = max(1, round(LEARNED * len(dates)))
        return trips.on(dates[:cut]), None if cut == len(dates) else trips.on(dates[cut:])
    first = None if train is None else days_of(train, "train", dates)
    second = None if test is None else days_of(test, "test", dates)
    if first is None:
        assert second is not None
        first = [day for day in dates if day < second[0]]
        if not first:
            raise InvalidInputError(f"--test {test}: there is no day before it to learn from")
    if second is None:
        second = [day for day in dates if day > first[-1]]
    if set(first) & set(second):
        raise InvalidInputError("--train and --test share days: what was learned from is not held out")
    return trips.on(first), trips.on(second) if second else None


def days_of(text: str, option: str, dates: tuple[int, ...]) -> list[int]:
    """Return the days with trips (ordinals) of a month, 2020-11, a day, or a range, 2020-11-01..2020-11-20."""
    begin, dots, end = (part.strip() for part in text.partition(".."))
    first, last = _span(begin, option)[0], _span(end if dots else begin, option)[1]
    if last < first:
        raise InvalidInputError(f"--{option} {text}: the end is before the beginning")
    chosen = [day for day in dates if first <= day <= last]
    if not chosen:
        raise InvalidInputError(
            f"--{option} {text}: no trip is on these days; there are trips from {iso(dates[0])} to {iso(dates[-1])}"
        )
    return chosen


def _span(text: str, option: str) -> tuple[int, int]:
    """Return the first and last day of a month or a day."""
    try:
        if len(text) == 7:
            first = date.fromisoformat(f"{text}-01")
            following = (first + timedelta(days=31)).replace(day=1)
            return first.toordinal(), following.toordinal() - 1
        return date.fromisoformat(text).toordinal(), date.fromisoformat(text).toordinal()
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"--{option}: {said(text)} is neither a month like 2020-11 nor a day; a range is 2020-11-01..2020-11-20"
        ) from None


def _fleet(options: BacktestTrips, trips: Trips) -> dict[str, Any]:
    """Return docks and placement, read and checked against the stations of the trips."""
    docks: Any = None
    if options.docks is not None:
        alone = replay_problem(trips, options.agents).population
        docks = int(options.docks) if options.docks.isdecimal() else read_docks(Path(options.docks), alone)
    population = replay_problem(trips, options.agents, docks).population
    placed = None
    if options.placed is not None:
        counts = read_placed(options.placed, population)
        wrong = population.misfit(population.read_placed(counts))
        if wrong:
            raise InvalidInputError(f"{options.placed}: {wrong}")
        placed = population.read_placed(counts)[0]
    return {"docks": docks, "placed": placed}


def _require_plots() -> None:
    """Say before the work, not after it, that there is nothing to draw with."""
    import mfbo.plotting.figures  # noqa: F401


def _write(out: Path, found: Backtest) -> None:
    from mfbo.plotting.backtest_page import backtest_page  # matplotlib takes a second

    write_out(out, backtest_page(found).encode())


def _record(found: Backtest, trips: Trips, out: Path) -> dict[str, Any]:
    return {
        "page": str(out),
        "agents": found.population.size,
        "stations": list(found.trips.stations),
        "counts": trips.details["counts"],
        "notes": notes(found),
        "ways": [
            {
                "name": way.name,
                **{
                    part: {
                        "days": [iso(day) for day in getattr(way, part).dates],
                        "trips": getattr(way, part).trips.tolist(),
                        "rides": getattr(way, part).rides.tolist(),
                        "brought": getattr(way, part).brought.tolist(),
                        "last_plan": getattr(way, part).bikes[-1].tolist(),
                        "a_day_against_the_status_quo": vars(found.gained(way, part, found.ways[0])),
                    }
                    for part in found.parts
                },
            }
            for way in found.ways
        ],
    }
