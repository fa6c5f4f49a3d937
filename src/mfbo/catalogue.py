"""The one table that maps names to strategies and problems, without importing them."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

from mfbo.errors import InvalidInputError
from mfbo.validation import known_name


@dataclass(frozen=True)
class Entry:
    """Where a thing is made ("module:callable") and what it is, in a line."""

    factory: str
    summary: str

    def make(self) -> Any:
        """Import the module and call the factory."""
        module, _, attribute = self.factory.partition(":")
        return cast(Callable[[], Any], getattr(import_module(module), attribute))()


STRATEGIES: dict[str, Entry] = {
    "default": Entry("mfbo.strategies:Default", "our kernel, population UCB, L-BFGS: the fewest rounds"),
    "mf-gp-ucb": Entry("mfbo.strategies:MeanFieldGPUCB", "the paper's algorithm: additive kernel, MF-UCB, Adam"),
    "random": Entry("mfbo.strategies:RandomSearch", "the paper's control: softmax of a uniform vector"),
}

PROBLEMS: dict[str, Entry] = {
    "swarm": Entry("mfbo.problems:swarm", "agents gather near π/2 and avoid crowds"),
    "arena": Entry("mfbo.problems:arena", "two teams on opposite sides of the pitch, without crowds"),
}


def make_strategy(strategy: Any) -> Any:
    """Return a strategy given by name, or the object itself if it already is one."""
    if isinstance(strategy, str):
        return STRATEGIES[known_name(strategy, "strategy", list(STRATEGIES))].make()
    if not hasattr(strategy, "propose"):
        raise InvalidInputError(f"strategy must be a name or have a method propose(history, rng), not {strategy!r}")
    return strategy


def make_problem(name: str) -> Any:
    """Return the problem of this name."""
    return PROBLEMS[known_name(name, "problem", list(PROBLEMS))].make()
