"""The one table that maps names to strategies and problems, without importing them.

A strategy's name may carry settings: "mf-gp-ucb(multiplier=2)". So written, it can stand wherever a name can: on the
command line, in a suite, in a stored study, in the legend of a figure.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from importlib import import_module
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.validation import known_name


@dataclass(frozen=True)
class Entry:
    """Where a thing is made ("module:callable"), what it is in a line, and whether it takes a user's data file."""

    factory: str
    summary: str
    data: bool = False

    def make(self, *arguments: Any) -> Any:
        """Import the module and call the factory."""
        module, _, attribute = self.factory.partition(":")
        return cast(Callable[..., Any], getattr(import_module(module), attribute))(*arguments)


@dataclass(frozen=True)
class StrategyEntry(Entry):
    """A strategy, and what a user compares strategies by.

    searches: what it moves, the distribution or the M single agents. library, license: what it is built on; mfbo itself
    unless it needs the extra "baselines". resumes: whether a resumed study equals an unbroken one, bit for bit.
    """

    searches: Literal["distribution", "single agents"] = "distribution"
    library: str = "mfbo"
    license: str = "MIT"
    resumes: bool = True


STRATEGY_MEMBERS = ("name", "propose", "recommend", "posterior")

STRATEGIES: dict[str, StrategyEntry] = {
    "default": StrategyEntry("mfbo.strategies:Default", "our kernel, population UCB, L-BFGS: the fewest rounds"),
    "mf-gp-ucb": StrategyEntry(
        "mfbo.strategies:MeanFieldGPUCB", "the paper's algorithm: additive kernel, MF-UCB, Adam"
    ),
    "random": StrategyEntry("mfbo.strategies:RandomSearch", "the paper's control: softmax of a uniform vector"),
    "annealing": StrategyEntry(
        "mfbo.strategies.per_agent.annealing:Annealing",
        "simulated annealing, one agent at a time",
        searches="single agents",
    ),
    "genetic": StrategyEntry(
        "mfbo.strategies.per_agent.genetic:Genetic",
        "generations of forty, crossover and mutation",
        searches="single agents",
    ),
    "turbo": StrategyEntry(
        "mfbo.strategies.per_agent.turbo:Turbo",
        "TuRBO-1: trust region and Thompson sampling on the assignment",
        searches="single agents",
        library="botorch, gpytorch, torch",
        license="MIT, MIT, BSD-3-Clause",
    ),
    "gp-ucb": StrategyEntry(
        "mfbo.strategies.per_agent.gaussian:GPUCB",
        "a Gaussian process over all agents' actions",
        searches="single agents",
    ),
    "add-gp-ucb": StrategyEntry(
        "mfbo.strategies.per_agent.gaussian:AdditiveGPUCB",
        "the sum of one Gaussian process per agent",
        searches="single agents",
    ),
    "cma-es": StrategyEntry(
        "mfbo.strategies.on_simplex.cma_es:CmaEs", "CMA-ES on logits, with restarts", library="cmaes", license="MIT"
    ),
    "optuna-tpe": StrategyEntry(
        "mfbo.strategies.on_simplex.optuna_samplers:OptunaTpe",
        "Optuna's Parzen estimator on logits",
        library="optuna",
        license="MIT",
    ),
    "optuna-gp": StrategyEntry(
        "mfbo.strategies.on_simplex.optuna_samplers:OptunaGp",
        "Optuna's Gaussian process on logits",
        library="optuna, torch",
        license="MIT, BSD-3-Clause",
    ),
    "botorch-simplex": StrategyEntry(
        "mfbo.strategies.on_simplex.botorch_simplex:BotorchSimplex",
        "SingleTaskGP and qLogNEI under sum-to-one constraints",
        library="botorch, gpytorch, torch",
        license="MIT, MIT, BSD-3-Clause",
    ),
}

PROBLEMS: dict[str, Entry] = {
    "swarm": Entry("mfbo.problems:swarm", "agents gather near π/2 and avoid crowds"),
    "arena": Entry("mfbo.problems:arena", "two teams on opposite sides of the pitch, without crowds"),
    "louvelo": Entry("mfbo.problems:louvelo", "300 bikes in Louisville (Bay Area stand-in without a file)", data=True),
    "bay-area-bike": Entry("mfbo.problems:bay_area_bike", "300 bikes at the San Francisco stations"),
    "nyc-12x20": Entry("mfbo.problems:nyc_12x20", "20,000 taxis on a coarse grid of Manhattan", data=True),
    "nyc-15x26": Entry("mfbo.problems:nyc_15x26", "20,000 taxis on a medium grid of Manhattan", data=True),
    "nyc-20x36": Entry("mfbo.problems:nyc_20x36", "20,000 taxis on a fine grid of Manhattan", data=True),
    "maritime": Entry("mfbo.problems:maritime", "3,000 vessels of five regions at 30 ports"),
    "taxi-dispatch": Entry(
        "mfbo.problems:taxi_dispatch", "20,000 taxis, own payoffs: fare × chance of a rider", data=True
    ),
}


_NAME = re.compile(r"\s*([^()\s]+)\s*(?:\(([^()]*)\))?\s*")


def base_name(strategy: str) -> str:
    """Return a strategy's name without its settings, as it stands in the table."""
    found = _NAME.fullmatch(strategy)
    return strategy if found is None else found[1]


def known_strategy(strategy: str, kind: str = "strategy") -> str:
    """Return the name in the one way it is written ("mf-gp-ucb(multiplier=2)"), or say what of it is unknown."""
    known_name(base_name(strategy), kind, list(STRATEGIES))
    return strategy if strategy in STRATEGIES else str(make_strategy(strategy).name)


def searches_single_agents(name: str) -> bool:
    """Tell whether the strategy of this name places agents one by one."""
    base = base_name(name)
    return base in STRATEGIES and STRATEGIES[base].searches == "single agents"


def make_strategy(strategy: Any) -> Any:
    """Return a strategy given by name, with or without settings, or the object itself if it already is one."""
    if isinstance(strategy, str):
        found = _NAME.fullmatch(strategy)
        name = known_name(strategy if found is None else found[1], "strategy", list(STRATEGIES))
        made = STRATEGIES[name].make()
        return (
            made if found is None or found[2] is None else _with_settings(made, _written_settings(strategy, found[2]))
        )
    missing = [member for member in STRATEGY_MEMBERS if not hasattr(strategy, member)]
    if missing or isinstance(strategy, type):
        lacking = f"it lacks {', '.join(missing)}" if missing else "give an object of the class"
        raise InvalidInputError(f"strategy must be a name or an object like mfbo.Strategy, not {strategy!r}: {lacking}")
    return strategy


def _written_settings(strategy: str, text: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = (each.strip() for each in part.partition("="))
        if not (key and equals and value) or key in settings:
            raise InvalidInputError(f"settings of {strategy!r} must be like (multiplier=2, kernel=joint), each once")
        settings[key] = value
    return settings


def _with_settings(made: Any, settings: Mapping[str, str]) -> Any:
    """Return the strategy with these settings, which become part of its name in alphabetical order."""
    hints = {key: kinds for key, kinds in _setting_kinds(made).items() if kinds}
    values: dict[str, Any] = {}
    for key in sorted(settings):
        if key not in hints:
            raise UnknownNameError(f"{made.name} has no setting {key!r}; it has: {', '.join(hints) or 'none'}")
        values[key] = _setting(f"{key} of {made.name}", settings[key], hints[key])
    written = ",".join(f"{key}={_written(value)}" for key, value in values.items())
    return replace(made, **values, name=f"{made.name}({written})")


def _setting_kinds(made: Any) -> dict[str, tuple[Any, ...]]:
    """Return for every field what a text for it can be: bool, int, float, or one of some words."""
    hints = get_type_hints(type(made))
    settable = [each.name for each in fields(made) if each.init and each.name != "name"]
    return {name: tuple(kind for kind in _alternatives(hints[name]) if _is_simple(kind)) for name in settable}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for part in get_args(hint) for kind in _alternatives(part))
    return (hint,)


def _is_simple(kind: Any) -> bool:
    return kind in (bool, int, float) or isinstance(kind, str)


def _setting(what: str, text: str, kinds: tuple[Any, ...]) -> Any:
    if text in kinds:
        return text
    if bool in kinds and text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            number = kind(text) if kind in kinds else math.nan
        except ValueError:
            continue
        if math.isfinite(number) and number >= 0:
            return number
    wanted = {bool: "true or false", int: "a whole number from 0", float: "a number from 0"}
    named = " or ".join(wanted.get(kind, repr(kind)) for kind in kinds)
    raise InvalidInputError(f"{what} must be {named}, not {text!r}")


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}".removesuffix(".0")


def make_problem(name: str, data: Any = None) -> Any:
    """Return the problem of this name; ``data`` is a user's table or raw file for the problems that take one."""
    entry = PROBLEMS[known_name(name, "problem", list(PROBLEMS))]
    if data is None:
        return entry.make()
    if not entry.data:
        takers = ", ".join(each for each, other in PROBLEMS.items() if other.data)
        raise InvalidInputError(f"problem {name!r} takes no data file; those that do: {takers}")
    return entry.make(data)
