"""`mfbo study edit`: stations, fleet and limits from now on."""

from collections.abc import Sequence
from typing import Any

import typer

from mfbo.cli.change_words import change_words
from mfbo.cli.options import typed_number
from mfbo.cli.output import counted, print_json, say
from mfbo.cli.study_commands import Edit
from mfbo.errors import InvalidInputError
from mfbo.sheets import read_new_stations
from mfbo.study import Study, load_study


def edit(options: Edit) -> None:
    """Read everything first; nothing changes if a part of it cannot be."""
    study = load_study(options.name, options.storage)
    population = study.change(
        open=_opened(study, options),
        contexts=options.add_context,
        close=options.close,
        rename=pairs(options.rename, "rename", str),
        size=options.size,
        capacity=pairs(options.capacity, "capacity", whole_or_none),
        minimum=pairs(options.minimum, "minimum", whole_or_none),
        move_budget=None if options.move_budget is None else _budget(options.move_budget),
        weights=pairs(options.weights, "weights", typed_number),
        by=options.by,
        reason=options.reason,
    )
    change = study.log()[-1].said.get("change", {})
    if options.json:
        record = {"study": options.name, "change": change, "agents": population.size}
        stations = [name for name in population.actions if name not in population.closed]
        print_json({**record, "stations": stations, "closed": population.closed})
    elif not options.quiet:
        agents = "shares of all agents" if population.size is None else counted(population.size, "agent")
        still_open = population.shape[1] - len(population.closed)
        say(f"study {options.name!r} changes: {change_words(change)}")
        say(f"from now on {agents} at {counted(still_open, 'station')}")


def pairs(entries: Sequence[str] | None, option: str, read: Any) -> dict[str, Any] | None:
    """Read NAME=VALUE, as often as it is given; a name may hold the sign itself."""
    if not entries:
        return None
    found = {}
    for entry in entries:
        name, sign, text = entry.rpartition("=")
        try:
            found[name] = read(text)
        except (ValueError, typer.BadParameter):
            sign = ""
        if not sign or not name:
            raise InvalidInputError(f"--{option} must be NAME=VALUE, not {entry!r}")
    return found


def whole_or_none(text: str) -> int | None:
    """Read a whole number, or none for no limit."""
    return None if text.strip().casefold() == "none" else int(text)


def _opened(study: Study, options: Edit) -> dict[str, Any] | None:
    opened = {} if options.open is None else read_new_stations(options.open, study.population)
    reopened = dict.fromkeys(options.reopen or ())
    return {**opened, **reopened} or None


def _budget(text: str) -> float:
    try:
        budget = whole_or_none(text)
    except ValueError:
        raise InvalidInputError(f"--move-budget must be a whole number or none, not {text!r}") from None
    return float("inf") if budget is None else budget
