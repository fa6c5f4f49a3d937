"""`mfbo study tell`: what a plan brought, as a number or in files."""

from pathlib import Path
from typing import Any

from mfbo.cli.output import print_json
from mfbo.cli.sheets import Faults
from mfbo.cli.study_sheets import read_day, read_placement, read_trips
from mfbo.errors import InvalidInputError, UnknownNameError
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
    quiet: bool,
    json: bool,
) -> None:
    """Read all files first; nothing is told if one of them has a fault."""
    given = [each for each in (payoff, cells, agents_file) if each is not None]
    if failed is not None and (given or placed is not None):
        raise InvalidInputError("--failed says that there is no result: leave out --payoff and the files")
    if failed is None and not given:
        raise InvalidInputError(
            "nothing was told: give --payoff, --cells or --agents-file, or --failed with the reason"
        )
    study = load_study(name, storage)
    if failed is not None:
        done = study.fail(plan, failed)
    else:
        done = study.tell(plan, worker=worker, **_feedback(study, plan, payoff, cells, agents_file, placed))
    _say(study, done, quiet=quiet, json=json)


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
        options["distribution"] = planned / (totals + (totals == 0))
    if cells is not None:
        options["cells"], options["counts"] = read_day(cells, study.population, planned, faults)
    if agents_file is not None:
        options["agents"] = read_trips(agents_file, study.population, faults)
    faults.report()
    return options


def _say(study: Study, done: Round, *, quiet: bool, json: bool) -> None:
    if json:
        print_json(
            {"study": study.name, "plan": done.number, "state": done.state, "payoff": done.payoff, "late": done.late}
        )
        return
    if quiet:
        return
    late = ", late: its lease had expired" if done.late else ""
    print(f"plan {done.number} of study {study.name!r} is {done.state}{late}")
    best = study.best if study.history.told else None
    if best is not None and best.payoff is not None:
        print(f"best so far: plan {best.number}, payoff {best.payoff:.6g}")
