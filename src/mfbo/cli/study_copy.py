"""`mfbo study copy`: a study under another name, as it is or as it was."""

from datetime import datetime, timedelta

from mfbo.cli.output import counted, print_json, say
from mfbo.cli.study_commands import Copy
from mfbo.errors import InvalidInputError
from mfbo.study import copy_study


def copy(options: Copy) -> None:
    """Copy; the study itself stays as it is."""
    until = None if options.until is None else _end_of(options.until)
    made = copy_study(options.name, options.new, options.storage, until=until)
    if options.json:
        print_json({"study": options.name, "copy": options.new, "rounds": len(made.rounds)})
    elif not options.quiet:
        say(f"study {options.name!r} copied to {options.new!r}: {counted(len(made.rounds), 'round')}")


def _end_of(text: str) -> float:
    """Return the last moment of a day, or a moment, in seconds since 1970; local time unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text.strip())
        whole_day = len(text.strip()) <= len("2026-11-03")
        return (moment + timedelta(days=1)).timestamp() - 1e-6 if whole_day else moment.timestamp()
    except (ValueError, OverflowError):  # OverflowError: a year that no clock knows
        raise InvalidInputError(f"--until must be a date such as 2026-11-03, not {text!r}") from None
