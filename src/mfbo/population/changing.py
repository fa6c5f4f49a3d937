"""A population changes, for a day or for good: actions open and close, agents come and go, limits change.

A change is a record of plain values, read once and applied again whenever a log is replayed. The actions are always all
that ever were, in the order of their appearance: a closed one stays, and holds nobody.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.population.limits import Limits, refuse_impossible, whole_limit
from mfbo.population.population import Population
from mfbo.validation import (
    by_label,
    feature_array,
    is_missing,
    listed,
    place_of,
    said,
    share_array,
    unique_names,
    whole_number,
)

Change = Mapping[str, Any]
"""Plain values under the names of ``read_change``'s arguments; only those that are given."""

BOUNDS = ("capacity", "minimum")


def read_change(
    population: Population,
    *,
    open: Any = None,
    contexts: Any = None,
    close: Any = None,
    rename: Any = None,
    size: Any = None,
    capacity: Any = None,
    minimum: Any = None,
    move_budget: Any = None,
    weights: Any = None,
) -> dict[str, Any]:
    """Check what a user wants to change, and return it as a record; names are those before the change.

    open: a mapping from new actions to their features, or names (of closed actions, or without features). close: names.
    rename: a mapping from old names to new ones. capacity, minimum: a number for all, a list, or a mapping action →
    number; infinity or None for no limit. move_budget: infinity for none. contexts: new ones, as ``open``; weights: of
    all contexts, needed with new ones.
    """
    change: dict[str, Any] = {}
    if open is not None:
        change["open"] = _read_open(open, population)
    names = (*population.actions, *(name for name in change.get("open", {}) if name not in population.actions))
    if close is not None:
        closing = [names[place_of(entry, "action", names)] for entry in _names(close, "close")]
        change["close"] = list(dict.fromkeys(closing))
    if rename is not None:
        change["rename"] = _read_rename(rename, names)
    if size is not None:
        change["size"] = _read_size(size, population)
    for key, bounds in (("capacity", capacity), ("minimum", minimum)):
        if bounds is not None:
            change[key] = _read_bounds(bounds, key, names)
    if move_budget is not None:
        unlimited = isinstance(move_budget, float) and move_budget == np.inf
        change["move_budget"] = None if unlimited else whole_number(move_budget, "move_budget", least=0)
    return change | _read_contexts(contexts, weights, population)


def changed(population: Population, change: Change) -> Population:
    """Return the population after a change; refuse one after which no placement keeps all limits, with the reason."""
    grown = _joined(_opened(population, change.get("open", {})), change.get("contexts", {}))
    if "weights" in change:
        grown = grown.with_weights(np.array(change["weights"], dtype=np.float64))
    reopened = set(change.get("open", {}))
    closed = [name for name in grown.closed if name not in reopened]
    closed = list(dict.fromkeys([*closed, *change.get("close", ())]))
    grown = _resized(grown, change.get("size"))
    limits = _limited(grown, change, needed=bool(closed))
    if limits is not None:
        grown = _closed(grown, limits, tuple(closed))
    return _renamed(grown, change.get("rename", {}))


def in_later_names(change: Change, before: Population, after: Population) -> Change:
    """Return a change that was said in the names of one population in those of a later one."""
    if before.actions == after.actions[: len(before.actions)]:
        return change
    now = dict(zip(before.actions, after.actions, strict=False))
    spoken: dict[str, Any] = dict(change)
    if "close" in change:
        spoken["close"] = [now[name] for name in change["close"]]
    spoken |= {key: {now[name]: most for name, most in change[key].items()} for key in BOUNDS if key in change}
    return spoken


def _opened(population: Population, opened: Mapping[str, Any]) -> Population:
    new = [name for name in opened if name not in population.actions]
    if not new:
        return population
    features = population.features
    if features is not None:
        rows = np.array([opened[name] for name in new], dtype=np.float64)
        features = read_only(np.concatenate([features, rows]))
    limits = _all_open(population)
    if limits is not None:
        limits = _grown(limits, len(new), _size(population))
    return population.replaced(actions=(*population.actions, *new), features=features, limits=limits, all_open=limits)


def _joined(population: Population, joined: Mapping[str, Any]) -> Population:
    """Return the population with contexts more; their weights come with the same change."""
    if not joined:
        return population
    features, limits = population.context_features, _all_open(population)
    if features is not None:
        rows = np.array(list(joined.values()), dtype=np.float64)
        features = read_only(np.concatenate([features, rows]))
    if limits is not None:
        limits = _grown(limits, len(joined), _size(population), axis=0)
    names = (*population.contexts, *joined)
    return population.replaced(contexts=names, context_features=features, limits=limits, all_open=limits)


def _grown(limits: Limits, count: int, size: int, axis: int = 1) -> Limits:
    """Return limits with so many actions (axis 1) or contexts (axis 0) more, which have none."""

    def longer(values: IntArray, filled: int) -> IntArray:
        width = [(0, count * (place == axis)) for place in (0, 1)][-values.ndim :]
        return _frozen(np.pad(values, width, constant_values=filled))

    return replace(
        limits,
        least=longer(limits.least, 0),
        most=longer(limits.most, size),
        lower=longer(limits.lower, 0),
        upper=longer(limits.upper, size),
        placed=None if limits.placed is None else longer(limits.placed, 0),
    )


def _resized(population: Population, size: int | None) -> Population:
    """Return the population with another number of agents; what was no limit before is none afterwards."""
    if size is None:
        return population
    before, limits = population.size, _all_open(population)
    if limits is not None and before is not None:
        most = np.where(limits.most == before, size, limits.most)
        upper = np.where((limits.upper == before) & (limits.lower < before), size, limits.upper)
        limits = replace(limits, most=_frozen(most), upper=_frozen(upper))
    return population.replaced(size=size, limits=limits, all_open=limits)


def _limited(population: Population, change: Change, *, needed: bool) -> Limits | None:
    """Return the limits as they would be with all actions open; None if there are none, and none is needed."""
    limits = _all_open(population)
    needed = needed or any(key in change for key in ("capacity", "minimum", "move_budget"))
    if limits is None and needed:
        limits = _unlimited(population)
    if limits is None:
        return None
    size, names = _size(population), population.actions
    most = _with_bounds(limits.most, change.get("capacity", {}), names, size)
    least = _with_bounds(limits.least, change.get("minimum", {}), names, 0)
    return replace(limits, most=most, least=least, move_budget=change.get("move_budget", limits.move_budget))


def _closed(population: Population, limits: Limits, closed: tuple[str, ...]) -> Population:
    """Return the population under limits that would hold with all actions open, with these closed."""
    places = [population.actions.index(name) for name in closed]
    least, most, lower = limits.least.copy(), limits.most.copy(), limits.lower.copy()
    least[places] = most[places] = 0
    lower[:, places] = 0
    effective = replace(limits, least=_frozen(least), most=_frozen(most), lower=_frozen(lower))
    limited = population.replaced(closed=closed, limits=effective, all_open=limits)
    refuse_impossible(replace(effective, placed=None), limited.names)
    return limited


def _renamed(population: Population, renamed: Mapping[str, str]) -> Population:
    if not renamed:
        return population
    closed = tuple(renamed.get(name, name) for name in population.closed)
    return population.replaced(actions=tuple(renamed.get(name, name) for name in population.actions), closed=closed)


def _all_open(population: Population) -> Limits | None:
    return population.limits if population.all_open is None else population.all_open


def _unlimited(population: Population) -> Limits:
    contexts, actions = population.shape
    size = _size(population)
    cells = np.zeros((contexts, actions), dtype=np.int64)
    return Limits(_frozen(cells[0]), _frozen(cells[0] + size), _frozen(cells), _frozen(cells + size))


def _size(population: Population) -> int:
    if population.size is None:
        raise InvalidInputError("the mean-field limit counts no agents: closing and limits need a study with a size")
    return population.size


def _with_bounds(values: IntArray, bounds: Mapping[str, Any], names: tuple[str, ...], missing: int) -> IntArray:
    if not bounds:
        return values
    changed = values.copy()
    for name, bound in bounds.items():
        changed[names.index(name)] = missing if bound is None else bound
    return _frozen(changed)


def _frozen(values: Any) -> IntArray:
    return np.asarray(read_only(np.asarray(values, dtype=np.int64), np.int64))


def _names(entries: Any, name: str) -> list[Any]:
    """Return a list of actions; one action alone is a list of one."""
    if isinstance(entries, str | int | np.integer):
        return [entries]
    if not isinstance(entries, Iterable):
        raise InvalidInputError(f"{name} must be a list of actions, not {said(entries)}")
    return listed(entries, name)


def _texts(opened: Any) -> list[str]:
    odd = [entry for entry in _names(opened, "open") if not isinstance(entry, str)]
    if odd:
        raise InvalidInputError(f"open must hold names of actions, not {said(odd[0])}")
    return _names(opened, "open")


def _read_open(opened: Any, population: Population) -> dict[str, list[float] | None]:
    """Return the features of every action to open; None for one that is closed and known already."""
    entries = dict(opened) if isinstance(opened, Mapping) else dict.fromkeys(_texts(opened))
    if not entries:
        raise InvalidInputError("open must name at least one action")
    found: dict[str, list[float] | None] = {}
    for name, features in zip(unique_names(entries, "open"), entries.values(), strict=True):
        if name not in population.actions:
            found[name] = _read_features(name, features, population)
        elif name in population.closed:
            found[name] = None
        else:
            raise InvalidInputError(f"open: there is an action {name!r} already, and it is not closed")
    return found


def _read_features(name: str, features: Any, population: Population) -> list[float] | None:
    names = population.feature_names
    if population.features is None:
        if features is not None and not (isinstance(features, Mapping | list | tuple) and not features):
            raise InvalidInputError(f"open: actions have no features here; {name!r} cannot have {said(features)}")
        return None
    if isinstance(features, Mapping):
        missing = [feature for feature in names if feature not in features]
        if missing or len(features) != len(names):
            raise InvalidInputError(f"open: {name!r} needs the features {', '.join(names)}, not {said(features)}")
        features = [features[feature] for feature in names]
    if features is None:
        raise InvalidInputError(f"open: {name!r} is new and needs the features {', '.join(names)}")
    values = [features] if isinstance(features, Real) else listed(features, f"open: {name!r}")
    return [float(value) for value in feature_array(values, f"open: the features of {name!r}", (len(names),))]


def _read_contexts(contexts: Any, weights: Any, population: Population) -> dict[str, Any]:
    """Return the contexts that join and the weights of all, as far as they are given."""
    joining = {} if contexts is None else {"contexts": _read_joining(contexts, population)}
    if joining and weights is None:
        raise InvalidInputError("contexts that join need weights: give those of all contexts, old and new")
    if weights is None:
        return joining
    return {**joining, "weights": _read_weights(weights, (*population.contexts, *joining.get("contexts", {})))}


def _read_joining(joining: Any, population: Population) -> dict[str, list[float] | None]:
    """Return the features of every context that joins; None where contexts have none."""
    entries = dict(joining) if isinstance(joining, Mapping) else dict.fromkeys(_names(joining, "contexts"))
    table = population.context_features
    found: dict[str, list[float] | None] = {}
    for name, features in zip(unique_names(entries, "contexts"), entries.values(), strict=True):
        if name in population.contexts:
            raise InvalidInputError(f"contexts: there is a context {name!r} already")
        if (table is None) != (features is None):
            has = "no features" if table is None else f"{table.shape[1]} features each"
            raise InvalidInputError(f"contexts: contexts have {has} here; {name!r} cannot have {said(features)}")
        values = [features] if isinstance(features, Real) else features
        shape = () if table is None else table.shape[1:]
        checked = None if table is None else feature_array(values, f"contexts: the features of {name!r}", shape)
        found[name] = None if checked is None else [float(value) for value in checked]
    return found


def _read_rename(renamed: Any, names: tuple[str, ...]) -> dict[str, str]:
    if not isinstance(renamed, Mapping):
        raise InvalidInputError(f"rename must map old names to new ones, not {said(renamed)}")
    found: dict[str, str] = {}
    for old, new in renamed.items():
        found[names[place_of(old, "action", names)]] = unique_names([new], "rename")[0]
    after = [found.get(name, name) for name in names]
    twice = next((name for name in after if after.count(name) > 1), None)
    if twice is not None:
        raise InvalidInputError(f"rename: two actions would be called {twice!r}")
    return found


def _read_size(size: Any, population: Population) -> int:
    if population.size is None:
        raise InvalidInputError("size: this study places shares of all agents, not a number of them")
    return whole_number(size, "size", least=1)


def _read_bounds(bounds: Any, key: str, names: tuple[str, ...]) -> dict[str, int | None]:
    """Return numbers by action, None for no limit."""
    bounds = by_label(bounds)
    if isinstance(bounds, Real):
        return dict.fromkeys(names, _bound(bounds, key))
    if isinstance(bounds, Mapping):
        pairs = [(names[place_of(action, "action", names)], bound) for action, bound in bounds.items()]
    else:
        values = listed(bounds, key) if isinstance(bounds, Iterable) and not isinstance(bounds, str) else []
        if len(values) != len(names):
            raise InvalidInputError(f"{key} must be a number, a mapping or a list of {len(names)}, not {said(bounds)}")
        pairs = list(zip(names, values, strict=True))
    return {name: _bound(bound, f"{key} of {name!r}") for name, bound in pairs}


def _bound(value: Any, name: str) -> int | None:
    return None if is_missing(value) or value == np.inf else whole_limit(value, name)


def _read_weights(weights: Any, contexts: tuple[str, ...]) -> list[float]:
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if name not in contexts]
        if unknown or len(weights) != len(contexts):
            raise InvalidInputError(
                f"weights must name every context once ({', '.join(contexts)}), not {', '.join(map(said, weights))}"
            )
        weights = [weights[name] for name in contexts]
    shares: FloatArray = share_array(weights, "context weights", len(contexts))
    return [float(share) for share in shares]
