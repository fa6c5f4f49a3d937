"""The suites that come with mfbo: the paper's evaluation, a quick one, and how cost and regret scale."""

from pathlib import Path

from mfbo.errors import UnknownNameError
from mfbo.experiments.suites import Batch, Suite, read_suite
from mfbo.validation import known_name

PAPER_PROBLEMS = ("swarm", "arena", "bay-area-bike", "maritime", "nyc-12x20", "nyc-15x26", "nyc-20x36")
SMALL_PROBLEMS = ("swarm", "arena", "bay-area-bike")  # M up to 300: what TuRBO follows within a coffee
PLACED = ("default", "annealing", "genetic")  # by quota, or placing every agent themselves
DRAWN = ("mf-gp-ucb", "random")  # the paper draws each agent's action from their distribution
WITH_CONTEXTS = ("arena", "maritime")

PROTOCOL = (
    "Each round the strategy sees the system payoff and nothing else, without noise: only that reproduces the paper's "
    "figures (its printed kernel knows no interaction of an agent's own action with the distribution). MF-GP-UCB and "
    "random search draw every agent's action from their distribution, as in the paper; our default places whole "
    "agents by quota (largest remainders), which takes away the luck of the draw; the others place every agent "
    "themselves. Every context has its exact share of the agents in each round unless a case says that contexts are "
    "drawn (sampled), as in the paper. Values are the noise-free population payoff of what was really played. Set "
    'allocation and context_allocation to "quota" or "sampled" in a TOML file.'
)


def _paper_methods(problems: tuple[str, ...], seeds: tuple[int, ...], rounds: int) -> tuple[Batch, Batch]:
    """All methods of the paper but TuRBO, and ours, each with its way to place whole agents."""
    return (
        Batch(problems, PLACED, seeds, (rounds,)),
        Batch(problems, DRAWN, seeds, (rounds,), allocation="sampled"),
    )


PAPER = Suite(
    "paper",
    (
        *_paper_methods(PAPER_PROBLEMS, tuple(range(10)), 250),
        Batch(PAPER_PROBLEMS, ("turbo",), tuple(range(10)), (250,)),
        Batch(WITH_CONTEXTS, ("default",), tuple(range(10)), (250,), context_allocation="sampled"),
        Batch(WITH_CONTEXTS, DRAWN, tuple(range(10)), (250,), allocation="sampled", context_allocation="sampled"),
    ),
    "The paper's seven experiments: 250 rounds, 10 seeds, all its methods and our default. The bike problem is the Bay "
    "Area stand-in for LouVelo, whose trips do not come with mfbo. Arena and maritime are also run with contexts drawn "
    "anew in every round, by the methods that propose distributions; the others know each agent's context.",
    PROTOCOL,
)

QUICK = Suite(
    "quick",
    (*_paper_methods(PAPER_PROBLEMS, (0, 1), 100), Batch(SMALL_PROBLEMS, ("turbo",), (0, 1), (100,))),
    "The paper's seven experiments in minutes: 100 rounds, 2 seeds, TuRBO only up to 300 agents.",
    PROTOCOL,
)

SIZES = (50, 500, 5_000, 50_000, 500_000, 10_000_000)
AREAS = ("bay-area-bike", "nyc-12x20", "nyc-15x26", "nyc-20x36")
HORIZONS = (25, 50, 200, 400)

SCALING = Suite(
    "scaling",
    (
        Batch(("swarm",), ("default",), tuple(range(5)), (100,), SIZES),
        Batch(("swarm",), ("mf-gp-ucb",), tuple(range(5)), (100,), SIZES, allocation="sampled"),
        Batch(("swarm",), ("annealing", "genetic"), tuple(range(5)), (100,), SIZES[:4], time_limit=120.0),
        Batch(AREAS, ("default",), (0, 1, 2), (100,), (20_000,)),
        Batch(AREAS, ("mf-gp-ucb",), (0, 1, 2), (100,), (20_000,), allocation="sampled"),
        Batch(("swarm",), ("default",), (0, 1, 2), HORIZONS),
        Batch(("swarm",), ("mf-gp-ucb",), (0, 1, 2), HORIZONS, allocation="sampled"),
    ),
    "The paper's central claim: regret and time against the number of agents M, 50 to 10 million, on swarm; time "
    "against the number of actions |A| on the bike and taxi problems with 20,000 agents; time against rounds T. "
    "The per-agent methods go as far as they can follow, 120 s per run.",
    PROTOCOL,
)

BUILT_IN = {suite.name: suite for suite in (PAPER, QUICK, SCALING)}


def find_suite(name: str) -> Suite:
    """Return a suite by its name, or from a TOML file."""
    if name.endswith(".toml"):
        return read_suite(Path(name))
    try:
        return BUILT_IN[known_name(name, "suite", list(BUILT_IN))]
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} (or give a file that ends in .toml)") from error
