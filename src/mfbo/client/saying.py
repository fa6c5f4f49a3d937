"""What is said to a study, as JSON values: arrays as lists, positions as names, pairs as nested names."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from mfbo.client.wire import table
from mfbo.population import Population, cells_by_name
from mfbo.population.limits import AGENT_COLUMNS
from mfbo.records import Feedback, Plan
from mfbo.records.distributions import SHARE_COLUMNS
from mfbo.records.told_values import COUNT_COLUMNS, PAYOFF_COLUMNS
from mfbo.validation import by_label

Words = ParamSpec("Words")
Answer = TypeVar("Answer")
_LIMITS = ("capacity", "minimum")
_CELLS = {  # what speaks of cells, and how a data frame calls it
    "distribution": SHARE_COLUMNS,
    "start": SHARE_COLUMNS + AGENT_COLUMNS,
    "placed": AGENT_COLUMNS,
    "fixed": AGENT_COLUMNS,
    "cells": PAYOFF_COLUMNS,
    "counts": COUNT_COLUMNS,
}


def said(population: Population, **words: Any) -> dict[str, Any]:
    """Return what was said, as JSON values; what was not said (None) is left out."""
    return {key: _value(key, value, population) for key, value in words.items() if value is not None}


def taken_apart(words: dict[str, Any]) -> dict[str, Any]:
    """Return what was said with a whole ``Feedback`` as what it holds."""
    whole = words["payoff"]
    if not isinstance(whole, Feedback):
        return words
    told = whole.payoff if whole.total is None else whole.total
    return {**words, "payoff": told, "agents": whole.agents or None, "cells": whole.cells, "counts": whole.counts}


def in_the_words_of(
    declared: Callable[Concatenate[Any, Words], Answer],
) -> Callable[[Callable[[Any, dict[str, Any]], Answer]], Callable[Concatenate[Any, Words], Answer]]:
    """Give a method the arguments of another one, which declares them for both; it gets all of them by name."""
    signature = inspect.signature(declared)

    def decorate(method: Callable[[Any, dict[str, Any]], Answer]) -> Callable[Concatenate[Any, Words], Answer]:
        @functools.wraps(method)
        def called(study: Any, /, *args: Words.args, **kwargs: Words.kwargs) -> Answer:
            bound = signature.bind(study, *args, **kwargs)
            bound.apply_defaults()
            own, *_ = signature.parameters
            return method(study, {name: value for name, value in bound.arguments.items() if name != own})

        called.__signature__ = signature  # type: ignore[attr-defined]
        return called

    return decorate


def number_of(plan: Plan | int) -> int:
    """Return the number of a plan."""
    return plan.number if isinstance(plan, Plan) else int(plan)


def _value(key: str, value: Any, population: Population) -> Any:
    if key in _CELLS and (hasattr(value, "columns") or isinstance(by_label(value), Mapping)):
        return _by_context(cells_by_name(value, population.contexts, population.actions, key, _CELLS[key]), population)
    value = by_label(value)
    if key in _LIMITS and isinstance(value, float) and value == np.inf:
        return dict.fromkeys(population.actions)  # no limit anywhere
    if key == "move_budget" and value == np.inf:
        return "none"
    if isinstance(value, Mapping) and key not in ("situation", "open", "rename", "weights"):
        return {population.actions[population.action_index(action)]: plain(bound) for action, bound in value.items()}
    return plain(value)


def _by_context(cells: Mapping[Any, Any] | None, population: Population) -> dict[str, dict[str, Any]]:
    """Return {context: {action: value}}: JSON has names as keys, and "2" would be another name than place 2."""
    named: dict[str, dict[str, Any]] = {}
    for (context, action), value in (cells or {}).items():
        named.setdefault(population.contexts[context], {})[population.actions[action]] = plain(value)
    return named


def plain(value: Any) -> Any:
    """Return arrays, tuples and NumPy's numbers as JSON values; infinitely many is null: no limit."""
    if isinstance(value, Plan):
        return table(value.realized)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset) or hasattr(value, "to_list"):
        entries = value.to_list() if hasattr(value, "to_list") else value
        return [_inner(entry) for entry in entries]
    return value.isoformat() if hasattr(value, "isoformat") else value


def _inner(value: Any) -> Any:
    """Return an entry of a table: what is NaN or infinite there is not known, or not limited."""
    return None if isinstance(value, float) and not np.isfinite(value) else plain(value)
