"""`mfbo study tell`: what a plan brought, as a number or in files."""

from pathlib import Path
from shlex import quote
from typing import Any

from mfbo.cli.confirming import confirm_misfit
from mfbo.cli.output import print_json, print_table, say
from mfbo.cli.sheets import Faults
from mfbo.cli.study_feeds import told_day
from mfbo.cli.study_sheets import read_day, read_placement, read_trips
from mfbo.errors import InvalidInputError, MfboError, UnknownNameError
from mfbo.problems.tables.days import iso
from mfbo.records import Round
from mfbo.study import Study, load_study


def tell(
    name: str,
    plan: int,
    payoff: float | None,
    cells: Path | None,
    agents_file: Path | None,
    placed: Path | None,
    failed: str | None,
    worker: str | None,
    storage: str,
    *,
    trips: Path | None = None,
    day: str | None = None,
    columns: str | None = None,
    yes: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Read all files first; nothing is told if one of them has a fault."""
    if trips is not None and payoff is not None:
        raise InvalidInputError("--payoff and --trips both say what the plan brought: leave one of them out")
    if trips is None and (day is not None or columns is not None):
        raise InvalidInputError("--day and --columns are about a trip file: give it with --trips")
    given = [each for each in (payoff, cells, agents_file, trips) if each is not None]
    if failed is not None and given:
        raise InvalidInputError(
            "--failed says that there is no result: leave out --payoff, --cells, --agents-file, --trips"
        )
    if failed is None and not given:
        raise InvalidInputError(
            "nothing was told: give --payoff, --cells, --agents-file or --trips, or --failed with the reason"
        )
    study = load_study(name, storage)
    if failed is not None and placed is not None and study.population.size is None:
        raise InvalidInputError("a study of shares keeps no placement of a failed plan: leave out --placed")
    rides = None if trips is None else told_day(trips, study.population, columns, day, silent=quiet or json)
    options = _feedback(study, plan, payoff if rides is None else rides.payoff, cells, agents_file, placed)
    if "placed" in options:
        options["allow_misfit"] = confirm_misfit(study.misfit(options["placed"]), yes=yes)
    if failed is None:
        done = study.tell(plan, worker=worker, **options)
    else:
        done = study.fail(plan, failed, **{key: options[key] for key in ("placed", "allow_misfit") if key in options})
    _say(study, done, quiet=quiet, json=json)
    if rides is not None and not (quiet or json):
        shown = zip(study.population.actions, rides.started.tolist(), rides.arrived.tolist(), strict=True)
        print_table(f"Rides of {iso(rides.day)}", ["station", "started", "arrived"], [list(row) for row in shown])


def _feedback(
    study: Study, number: int, payoff: float | None, cells: Path | None, agents_file: Path | None, placed: Path | None
) -> dict[str, Any]:
    if not 0 <= number < len(study.rounds):
        raise UnknownNameError(f"plan {number} was never asked; study {study.name!r} has {len(study.rounds)} plans")
    faults = Faults()
    options: dict[str, Any] = {"payoff": payoff}
    planned: Any = study.rounds[number].plan.allocation
    if placed is not None:
        planned = read_placement(placed, study.population, faults)
        totals = planned.sum(axis=1, keepdims=True)
        if study.population.size is None:
            options["distribution"] = planned / (totals + (totals == 0))
        else:
            options["placed"] = planned
    if cells is not None:
        options["cells"], options["counts"] = read_day(cells, study.population, planned, faults)
    if agents_file is not None:
        options["agents"] = read_trips(agents_file, study.population, faults)
    faults.report()
    return options


def _say(study: Study, done: Round, *, quiet: bool, json: bool) -> None:
    if json:
        print_json(
            {
                "study": study.name,
                "plan": done.number,
                "state": done.state,
                "payoff": done.payoff,
                "late": done.late,
                "placed": None if done.placed is None else done.placed.tolist(),
            }
        )
        return
    if quiet:
        return
    late = ", late: its lease had expired" if done.late else ""
    say(f"plan {done.number} of study {study.name!r} is {done.state}{late}")
    try:
        best = study.best if study.history.told else None
    except MfboError:  # it is told: a model that cannot name the best is no failure of that
        return
    if best is not None and best.payoff is not None:
        luck = f"luck included; mfbo study show {quote(study.name)} says what the model expects"
        say(f"highest told payoff so far: plan {best.number}, {best.payoff:.6g} ({luck})")
