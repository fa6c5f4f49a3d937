"""`mfbo study import`: days that were played before the study."""

from pathlib import Path

from mfbo.cli.output import print_json
from mfbo.cli.sheets import Faults
from mfbo.cli.study_sheets import read_past_days
from mfbo.study import load_study


def import_days(name: str, file: Path, storage: str, *, quiet: bool, json: bool) -> None:
    """Read the whole file first; nothing is added if it has a fault."""
    study = load_study(name, storage)
    faults = Faults()
    days = read_past_days(file, study.population, faults)
    faults.report()
    added = [study.add(day.distribution, day.payoff) for day in days]
    if json:
        print_json({"study": name, "days": len(added), "rounds": [each.number for each in added]})
    elif not quiet:
        print(f"{len(added)} past days added to study {name!r}")
