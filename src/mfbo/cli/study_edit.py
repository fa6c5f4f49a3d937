"""`mfbo study edit`: stations, fleet and limits from now on."""

from collections.abc import Collection, Sequence
from shlex import quote
from typing import Any

import typer

from mfbo.cli.change_words import change_words
from mfbo.cli.options import typed_number
from mfbo.cli.output import counted, print_json, say
from mfbo.cli.study_commands import Edit
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.sheets import read_new_stations
from mfbo.study import Study, load_study


def edit(options: Edit) -> None:
    """Read everything first; nothing changes if a part of it cannot be."""
    study = load_study(options.name, options.storage)
    new, capacity = _opened(study, options)
    population = study.change(
        open={**new, **dict.fromkeys(options.reopen or ())} or None,
        contexts=options.add_context,
        close=options.close,
        rename=pairs(options.rename, "rename", str.strip),
        size=options.size,
        capacity=capacity,
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
        for name in _unlimited(population, new):
            say(f"{name!r} holds any number of agents: --capacity {quote(f'{name}=NUMBER')} says how many it can")


def pairs(entries: Sequence[str] | None, option: str, read: Any) -> dict[str, Any] | None:
    """Read NAME=VALUE, as often as it is given; a name may hold the sign itself."""
    if not entries:
        return None
    found = {}
    for entry in entries:
        name, sign, text = entry.rpartition("=")
        try:
            value = read(text)
        except (ValueError, typer.BadParameter):
            sign = ""
        if not sign or not name:
            raise InvalidInputError(f"--{option} must be NAME=VALUE, not {entry!r}")
        if name in found:
            raise InvalidInputError(f"--{option} says {name!r} twice: leave one of them out")
        found[name] = value
    return found


def whole_or_none(text: str) -> int | None:
    """Read a whole number, or none for no limit."""
    return None if text.strip().casefold() == "none" else int(text)


def _opened(study: Study, options: Edit) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the stations of --open with their features, and what stations hold: --capacity with or without a sign."""
    columns = [entry for entry in options.capacity or () if "=" not in entry]
    said = pairs([entry for entry in options.capacity or () if "=" in entry], "capacity", whole_or_none)
    if options.open is None or len(columns) > 1:
        pairs(columns, "capacity", whole_or_none)  # refuses them: a column is one of the file of --open
        return {}, said
    new = read_new_stations(options.open, study.population, capacity=columns[0] if columns else None)
    return new.features, {**new.capacity, **(said or {})} or None


def _unlimited(population: Population, opened: Collection[str]) -> list[str]:
    """Return the stations that opened without a limit where others have one."""
    limits, size = population.limits, population.size
    if limits is None or size is None:
        return []
    most = dict(zip(population.actions, limits.most.tolist(), strict=True))
    others = [most[name] for name in population.actions if name not in opened and name not in population.closed]
    return [name for name in opened if most.get(name) == size] if min(others, default=size) < size else []


def _budget(text: str) -> float:
    try:
        budget = whole_or_none(text)
    except ValueError:
        raise InvalidInputError(f"--move-budget must be a whole number or none, not {text!r}") from None
    return float("inf") if budget is None else budget
