"""The one table that maps names to strategies and problems, without importing them.

A strategy's name may carry settings: "mf-gp-ucb(multiplier=2)". So written, it can stand wherever a name can: on the
command line, in a suite, in a stored study, in the legend of a figure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, cast

from mfbo.errors import InvalidInputError
from mfbo.validation import known_name, said
from mfbo.written_settings import split_name, with_settings

if TYPE_CHECKING:  # both load NumPy, which help and lists of names do without
    from mfbo.interfaces import Strategy
    from mfbo.problems import Problem
    from mfbo.problems.tables import DemandTable


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
    "gp-sqrt": StrategyEntry(
        "mfbo.strategies.on_simplex.plain_gp:GPSqrt", "a plain Matérn process on the roots of all shares"
    ),
    "gp-simplex": StrategyEntry(
        "mfbo.strategies.on_simplex.plain_gp:GPSimplex", "a plain Matérn process on all shares, with a trust region"
    ),
    "gp-fisher-rao": StrategyEntry(
        "mfbo.strategies.on_simplex.geometric_gp:GPFisherRao", "a Matérn process in the information geometry (α-GaBO)"
    ),
    "gp-wasserstein": StrategyEntry(
        "mfbo.strategies.on_simplex.geometric_gp:GPWasserstein", "a process on the Wasserstein distance (BORIS)"
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
    "jersey-city": Entry("mfbo.problems:jersey_city", "100 bikes that a month of trips in Jersey City finds or misses"),
    "taxi-dispatch": Entry(
        "mfbo.problems:taxi_dispatch", "20,000 taxis, own payoffs: fare × chance of a rider", data=True
    ),
    "traffic": Entry("mfbo.problems:traffic", "five flows across Sioux Falls choose among eight routes each"),
    "queues": Entry("mfbo.problems:queues", "500 customers at twelve stations of one to eight servers"),
    "coverage": Entry("mfbo.problems:coverage", "20 units at 30 sites cover the demand around them"),
    "portfolio": Entry("mfbo.problems:portfolio", "seven stock markets: return against variance"),
    "bay-area-week": Entry("mfbo.problems:bay_area_week", "300 bikes on every day of 2014, in order"),
    "city-days": Entry("mfbo.problems:city_days", "300 bikes on weekdays and weekends, in rain and sun"),
    "city-drift": Entry("mfbo.problems:city_drift", "the same with holidays and a drifting demand"),
    "mixture": Entry("mfbo.problems:mixture", "a yarn of three polymers that help or harm each other"),
}


def base_name(strategy: str) -> str:
    """Return a strategy's name without its settings, as it stands in the table."""
    return split_name(strategy)[0]


def known_strategy(strategy: str, kind: str = "strategy") -> str:
    """Return the name in the one way it is written ("mf-gp-ucb(multiplier=2)"), or say what of it is unknown."""
    known_name(base_name(strategy), kind, list(STRATEGIES))
    return strategy if strategy in STRATEGIES else make_strategy(strategy).name


def searches_single_agents(name: str) -> bool:
    """Tell whether the strategy of this name places agents one by one."""
    base = base_name(name)
    return base in STRATEGIES and STRATEGIES[base].searches == "single agents"


def make_strategy(strategy: Any) -> "Strategy":
    """Return a strategy given by name, with or without settings, or the object itself if it already is one."""
    if isinstance(strategy, str):
        name, settings = split_name(strategy)
        made: Strategy = STRATEGIES[known_name(name, "strategy", list(STRATEGIES))].make()
        if settings is not None:
            made = with_settings(made, settings)
        return made
    missing = [member for member in STRATEGY_MEMBERS if not hasattr(strategy, member)]
    if missing or isinstance(strategy, type):
        lacking = f"it lacks {', '.join(missing)}" if missing else "give an object of the class"
        raise InvalidInputError(
            f"strategy must be a name or an object like mfbo.Strategy, not {said(strategy)}: {lacking}"
        )
    own: Strategy = strategy
    return own


def make_problem(name: str, data: "DemandTable | str | PathLike[str] | None" = None) -> "Problem":
    """Return the problem of this name; ``data`` is a user's table, or its file or a raw one, where one is taken."""
    entry = PROBLEMS[known_name(name, "problem", list(PROBLEMS))]
    if data is not None:
        require_data_taker(name)
    problem: Problem = entry.make() if data is None else entry.make(data)
    return problem


def require_data_taker(name: str) -> None:
    """Refuse a data file for a problem that takes none."""
    if not PROBLEMS[name].data:
        takers = ", ".join(taker for taker, entry in PROBLEMS.items() if entry.data)
        raise InvalidInputError(f"problem {name!r} takes no data file; those that do: {takers}")
