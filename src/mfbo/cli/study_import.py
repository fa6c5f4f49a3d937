"""`mfbo study import`: days that were played before the study."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mfbo.cli.output import print_json
from mfbo.cli.sheets import Faults
from mfbo.cli.study_sheets import Day, read_past_days
from mfbo.records import Round
from mfbo.study import load_study

SAME_SHARE = 1e-12


def import_days(name: str, file: Path, storage: str, *, quiet: bool, json: bool) -> None:
    """Read the whole file first; nothing is added if it has a fault. Days that are there already are left alone."""
    study = load_study(name, storage)
    faults = Faults()
    days = read_past_days(file, study.population, faults)
    faults.report()
    missing = _not_there(days, [each for each in study.rounds if each.added])
    added = [study.add(day.distribution, day.payoff) for day in missing]
    there = len(days) - len(added)
    if json:
        numbers = [each.number for each in added]
        print_json({"study": name, "days": len(added), "already_there": there, "rounds": numbers})
    elif not quiet:
        known = f"; {there} were there already" if there else ""
        print(f"{len(added)} past days added to study {name!r}{known}")


def _not_there(days: Sequence[Day], added: Sequence[Round]) -> list[Day]:
    """Return the days without an equal one among those added before, so that an import can be repeated."""
    left = list(added)
    missing = []
    for day in days:
        same = (index for index, each in enumerate(left) if _equal(day, each))
        place = next(same, None)
        if place is None:
            missing.append(day)
        else:
            del left[place]
    return missing


def _equal(day: Day, past: Round) -> bool:
    return past.payoff == day.payoff and bool(np.abs(past.played - day.distribution).max() <= SAME_SHARE)
