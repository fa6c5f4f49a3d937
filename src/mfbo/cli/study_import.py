"""`mfbo study import`: days that were played before the study."""

from mfbo.cli.output import counted, print_json, say
from mfbo.cli.study_commands import ImportDays
from mfbo.given_files import given_bytes
from mfbo.sheets import read_past_days
from mfbo.study import is_archive, load_study, restored


def import_days(options: ImportDays) -> None:
    """Read the whole file first; nothing is added if it has a fault. Days that are there already are left alone."""
    if is_archive(given_bytes(options.file)):
        _restore(options)
        return
    study = load_study(options.name, options.storage)
    days = read_past_days(options.file, study.population, situations=study.history.situations)
    brought = ((day.distribution, day.payoff, day.situation, day.size) for day in days)
    added = study.add_missing(brought, new_categories=options.new_categories)
    there = len(days) - len(added)
    if options.json:
        numbers = [day.number for day in added]
        print_json({"study": options.name, "days": len(added), "already_there": there, "rounds": numbers})
    elif not options.quiet:
        left_alone = f"; {there} {'was' if there == 1 else 'were'} there already" if there else ""
        say(f"{counted(len(added), 'past day')} added to study {options.name!r}{left_alone}")


def _restore(options: ImportDays) -> None:
    """Make the study that a file holds, under the name given."""
    made = restored(given_bytes(options.file), options.storage, options.name)
    if options.json:
        print_json({"study": options.name, "rounds": len(made.rounds), "restored": True})
    elif not options.quiet:
        say(f"study {options.name!r} restored: {counted(len(made.rounds), 'round')}")
