"""What changes, for a day or from now on, in words."""

from collections.abc import Callable, Mapping
from typing import Any

from mfbo.cli.output import counted
from mfbo.population import Change


def change_words(change: Change) -> str:
    """Say what is otherwise after a change; empty if nothing is."""
    return ", ".join(words for key, said in _SAID.items() if key in change for words in said(change[key]))


def _opened(opened: Mapping[str, Any]) -> list[str]:
    return [f"{name!r} opens" for name in opened]


def _joined(joined: Mapping[str, Any]) -> list[str]:
    return [f"context {name!r} joins" for name in joined]


def _renamed(renamed: Mapping[str, str]) -> list[str]:
    return [f"{old!r} is called {new!r}" for old, new in renamed.items()]


def _capacities(bounds: Mapping[str, int | None]) -> list[str]:
    return [f"{name!r} holds {'any number' if most is None else most}" for name, most in bounds.items()]


def _minima(bounds: Mapping[str, int | None]) -> list[str]:
    return [f"{name!r} needs {f'at least {least}' if least else 'nobody'}" for name, least in bounds.items()]


def _budget(budget: int | None) -> list[str]:
    movers = "any number of agents" if budget is None else f"at most {counted(budget, 'agent')}"
    return [f"{movers} may move in a round"]


def _weights(weights: list[float]) -> list[str]:
    return [f"contexts weigh {', '.join(f'{weight:.6g}' for weight in weights)}"]


_SAID: dict[str, Callable[[Any], list[str]]] = {
    "size": lambda size: [counted(size, "agent")],
    "open": _opened,
    "contexts": _joined,
    "close": lambda closed: [f"{name!r} closed" for name in closed],
    "rename": _renamed,
    "capacity": _capacities,
    "minimum": _minima,
    "move_budget": _budget,
    "weights": _weights,
}
