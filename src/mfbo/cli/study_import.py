"""`mfbo study import`: days that were played before the study."""

from pathlib import Path

from mfbo.cli.output import print_json, say
from mfbo.cli.sheets import Faults
from mfbo.cli.study_sheets import read_past_days
from mfbo.study import load_study


def import_days(name: str, file: Path, storage: str, *, quiet: bool, json: bool) -> None:
    """Read the whole file first; nothing is added if it has a fault. Days that are there already are left alone."""
    study = load_study(name, storage)
    faults = Faults()
    days = read_past_days(file, study.population, faults)
    faults.report()
    added = study.add_missing((day.distribution, day.payoff) for day in days)
    there = len(days) - len(added)
    if json:
        numbers = [each.number for each in added]
        print_json({"study": name, "days": len(added), "already_there": there, "rounds": numbers})
    elif not quiet:
        known = f"; {there} were there already" if there else ""
        say(f"{len(added)} past days added to study {name!r}{known}")
