"""The suites that come with mfbo: the paper's evaluation, a quick one, and how cost and regret scale."""

from pathlib import Path

from mfbo.errors import UnknownNameError
from mfbo.experiments.suites import Batch, Suite, read_suite
from mfbo.validation import known_name

PAPER_PROBLEMS = ("swarm", "arena", "bay-area-bike", "maritime", "nyc-12x20", "nyc-15x26", "nyc-20x36")
SMALL_PROBLEMS = ("swarm", "arena", "bay-area-bike")  # M up to 300: what TuRBO follows within a coffee
OURS = ("default", "mf-gp-ucb")
BY_AGENT = ("annealing", "genetic")  # per-agent baselines that stay cheap
TURBO_LIMIT = 600.0

PROTOCOL = (
    "Each round the strategy sees the system payoff and nothing else, without noise: only that reproduces the paper's "
    "figures (its printed kernel knows no interaction of an agent's own action with the distribution). Plans become "
    "whole agents by quota (largest remainders), not by drawing every agent's action, and every context has its exact "
    "share of the agents in each round; the paper draws both for MF-GP-UCB and random search and fixes contexts for "
    "the per-agent methods. Quota takes away the luck of the draw, for all methods alike: with 50 agents drawn one by "
    'one the arena\'s optimal plan is worth 0.90 instead of 1.05. Set allocation and contexts to "sampled" in a TOML '
    "file for the paper's way. Values are the noise-free population payoff of what was really played."
)

PAPER = Suite(
    "paper",
    (
        Batch(PAPER_PROBLEMS, (*OURS, *BY_AGENT, "random"), tuple(range(10)), (250,)),
        Batch(PAPER_PROBLEMS, ("turbo",), tuple(range(10)), (250,), time_limit=TURBO_LIMIT),
    ),
    "The paper's seven experiments: 250 rounds, 10 seeds, all its methods and our default. The bike problem is the Bay "
    "Area stand-in for LouVelo, whose trips do not come with mfbo. TuRBO, which took the paper up to 76 hours per run, "
    f"begins no further round after {TURBO_LIMIT:.0f} s; the tables say how far it came.",
    PROTOCOL,
)

QUICK = Suite(
    "quick",
    (
        Batch(PAPER_PROBLEMS, (*OURS, *BY_AGENT, "random"), (0, 1), (100,)),
        Batch(SMALL_PROBLEMS, ("turbo",), (0, 1), (100,)),
    ),
    "The paper's seven experiments in minutes: 100 rounds, 2 seeds, TuRBO only up to 300 agents.",
    PROTOCOL,
)

SCALING = Suite(
    "scaling",
    (
        Batch(("swarm",), OURS, tuple(range(5)), (100,), (50, 500, 5_000, 50_000, 500_000, 10_000_000)),
        Batch(("swarm",), BY_AGENT, tuple(range(5)), (100,), (50, 500, 5_000, 50_000), time_limit=120.0),
        Batch(("bay-area-bike", "nyc-12x20", "nyc-15x26", "nyc-20x36"), OURS, (0, 1, 2), (100,), (20_000,)),
        Batch(("swarm",), OURS, (0, 1, 2), (25, 50, 200, 400)),
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
