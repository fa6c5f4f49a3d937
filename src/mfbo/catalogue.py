"""The one table that maps names to strategies and problems, without importing them.

A strategy's name may carry settings: "mf-gp-ucb(multiplier=2)". So written, it can stand wherever a name can: on the
command line, in a suite, in a stored study, in the legend of a figure. Parts of a user's own have names too: those that
an installed package registers, and import paths ("mypkg.mine:Mine"). A path is imported only if the user says it, never
because a stored study or result names it.
"""

from dataclasses import dataclass, fields, is_dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from mfbo.errors import InvalidInputError
from mfbo.own_parts import imported, is_import_path, package_of, registered
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
        return imported(self.factory, "part")(*arguments)


@dataclass(frozen=True)
class StrategyEntry(Entry):
    """A strategy, and what a user compares strategies by.

    searches: what it moves, the distribution or the M single agents; a rule moves nothing, and follows the plan that
    the study begins with. library, license: what it is built on; mfbo itself
    unless it needs the extra "baselines". resumes: whether a resumed study equals an unbroken one, bit for bit.
    """

    searches: Literal["distribution", "single agents", "nothing"] = "distribution"
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
    "deficit": StrategyEntry(
        "mfbo.strategies.forecast_rules:Deficit", "the plan of past trips' largest deficits, kept", searches="nothing"
    ),
    "shares": StrategyEntry(
        "mfbo.strategies.forecast_rules:Shares", "the plan of past trips' starts, kept", searches="nothing"
    ),
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


def listed_strategies() -> dict[str, StrategyEntry]:
    """Return the strategies of mfbo and of the packages that register some, by name; mfbo's own names stay its own."""
    others = {
        name: StrategyEntry(
            _factory(point), f"registered by {package_of(point)}", library=package_of(point), license="?"
        )
        for name, point in registered("strategy").items()
    }
    return {**STRATEGIES, **{name: entry for name, entry in others.items() if name not in STRATEGIES}}


def listed_problems() -> dict[str, Entry]:
    """Return the problems of mfbo and of the packages that register some, by name; mfbo's own names stay its own."""
    others = {
        name: Entry(_factory(point), f"registered by the package {package_of(point)}")
        for name, point in registered("problem").items()
    }
    return {**PROBLEMS, **{name: entry for name, entry in others.items() if name not in PROBLEMS}}


def _factory(point: Any) -> str:
    return f"{point.module}:{point.attr}"


def known_strategy(strategy: str, kind: str = "strategy") -> str:
    """Return the name in the one way it is written ("mf-gp-ucb(multiplier=2)"), or say what of it is unknown."""
    name = base_name(strategy)
    if name not in STRATEGIES and not is_import_path(name):
        known_name(name, kind, list(listed_strategies()))
    return strategy if strategy in STRATEGIES else make_strategy(strategy).name


def known_problem(problem: Any) -> str:
    """Return the name of a problem that can be made, or say what was probably meant; a path is imported."""
    if is_import_path(problem):
        imported(problem, "problem")
        return str(problem)
    if isinstance(problem, str) and problem in PROBLEMS:
        return problem
    return known_name(problem, "problem", list(listed_problems()))


def searches_single_agents(name: str) -> bool:
    """Tell whether the strategy of this name places agents one by one."""
    base = base_name(name)
    return base in STRATEGIES and STRATEGIES[base].searches == "single agents"


def follows_a_rule(name: str) -> bool:
    """Tell whether the strategy of this name only follows the plan that a rule made of past trips."""
    base = base_name(name)
    return base in STRATEGIES and STRATEGIES[base].searches == "nothing"


def make_strategy(strategy: Any) -> "Strategy":
    """Return a strategy given by name, with or without settings, or the object itself if it already is one.

    A name may be an import path, "mypkg.mine:Mine", of a class or function without arguments.
    """
    if isinstance(strategy, str):
        name, settings = (strategy, None) if strategy in STRATEGIES else split_name(strategy)
        made = _named_strategy(name)
        return made if settings is None else with_settings(made, settings)
    return _checked(strategy, said(strategy))


def _named_strategy(name: str) -> "Strategy":
    if name in STRATEGIES:
        made: Strategy = STRATEGIES[name].make()
        return made
    if is_import_path(name):
        return _checked(_renamed(imported(name, "strategy")(), name), name)
    entry = listed_strategies()[known_name(name, "strategy", list(listed_strategies()))]
    return _checked(_renamed(entry.make(), name), name)


def _checked(strategy: Any, written: str) -> "Strategy":
    """Return an object that has all that a strategy needs, or say what it lacks."""
    missing = [member for member in STRATEGY_MEMBERS if not hasattr(strategy, member)]
    if missing or isinstance(strategy, type):
        lacking = f"it lacks {', '.join(missing)}" if missing else "give an object of the class"
        raise InvalidInputError(f"strategy must be a name or an object like mfbo.Strategy, not {written}: {lacking}")
    own: Strategy = strategy
    return own


def _renamed(made: Any, name: str) -> Any:
    """Return a part under the name by which it is found again, if it is a dataclass that has one."""
    named = is_dataclass(made) and any(field.name == "name" and field.init for field in fields(made))
    return replace(made, name=name) if named and not isinstance(made, type) else made


def make_problem(name: str, data: "DemandTable | str | PathLike[str] | None" = None) -> "Problem":
    """Return the problem of this name or path; ``data``: a user's table, its file or a raw one, where one is taken."""
    known = known_problem(name)
    if data is not None:
        require_data_taker(known)
    if known not in PROBLEMS:
        return _own_problem(known)
    made: Problem = PROBLEMS[known].make() if data is None else PROBLEMS[known].make(data)
    return made


def _own_problem(name: str) -> "Problem":
    from mfbo.problems import Problem

    made = imported(name, "problem")() if is_import_path(name) else listed_problems()[name].make()
    if not isinstance(made, Problem):
        raise InvalidInputError(f"problem {name!r} must make an mfbo.Problem, not {said(made)}")
    renamed: Problem = _renamed(made, name)
    return renamed


def require_data_taker(name: str) -> None:
    """Refuse a data file for a problem that takes none."""
    if name not in PROBLEMS or not PROBLEMS[name].data:
        takers = ", ".join(taker for taker, entry in PROBLEMS.items() if entry.data)
        raise InvalidInputError(f"problem {name!r} takes no data file; those that do: {takers}")
