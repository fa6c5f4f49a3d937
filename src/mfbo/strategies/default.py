"""The default strategy: our kernel, population UCB, L-BFGS; few rounds for every kind of feedback, noisy or not.

Exact payoffs: optimism is small (0.3 standard deviations) as long as rounds improve, and doubles each time the strategy
sits on its best plan without gaining, so that it leaves local optima ("stall rule"). With agents' payoffs, some rounds
send agents where nobody was seen. Noisy payoffs: more optimism, at least until a plan teaches something ("information
floor"), and from time to time the plan with the best mean. Whether payoffs are noisy is seen by playing the first plan
twice. All of it is a function of the history; docs/decisions/0006-default-strategy.md has the measurements.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from mfbo.acquisition import PopulationUCB, TrustRegion
from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.interfaces import Acquisition, Maximizer, Posterior
from mfbo.maximizers import Lbfgs, ProjectedAscent
from mfbo.models import Kernel, agents_kernel, default_kernel, only_system
from mfbo.population import Population
from mfbo.records import History, Proposal, Round
from mfbo.simplex import Region, dirichlet, uniform
from mfbo.strategies.modeled import ModeledStrategy
from mfbo.strategies.reading import pending_shares, steered
from mfbo.strategies.shared import with_shared_payoffs
from mfbo.strategies.surrogate import ROUND_BUDGET, Process
from mfbo.strategies.unseen import with_lookers
from mfbo.strategies.whole_agents import fresh, is_known

STALL_WINDOW = 5
STALL_TOLERANCE = 1e-3  # in standard deviations of the told payoffs
NEGLIGIBLE_NOISE = 1e-3  # fitted noise variance, in variances of the told payoffs
REPLICATE_TOLERANCE = 1e-9  # relative difference of two payoffs of one plan that counts as noise
FLOOR = 1.5  # a plan's standard deviation, in noise standard deviations, below which it would teach too little
RAISE = 1.6  # factor on the multiplier until a plan is above the floor
GREEDY_FROM, GREEDY_EVERY = 25, 5
LOOK_EVERY = 4  # with agents' payoffs: rounds from one that looks at cells never seen to the next
RANDOM_AGENTS_ROUNDS = 4
SAME_START = 0.01  # L1 distance per context below which two starts climb to the same place


@dataclass(frozen=True)
class Default(ModeledStrategy):
    """One setting for every problem; nothing to tune.

    multiplier: optimism while exact payoffs improve. highest_multiplier: up to where it rises while they do not, or
    while plans teach too little. noisy_multiplier: optimism under noise. trust: how much fuller than ever seen an
    action may become in one round, once agents' payoffs are told.
    """

    multiplier: float = 0.3
    highest_multiplier: float = 8.0
    noisy_multiplier: float = 1.5
    trust: float = 2.0
    name: str = "default"
    sparse: bool = field(default=True, kw_only=True)
    subset_kinds: tuple[str, ...] = field(default=("exact",), kw_only=True)

    def data_kind(self, told: tuple[Round, ...], noise: float | None) -> str:
        """Return "agents" as soon as one agent's payoff is told, otherwise "noisy" or "exact" population payoffs."""
        if not only_system(told):
            return "agents"
        return "noisy" if noise is not None or replicates_disagree(told) else "exact"

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return our kernel for agents' payoffs or for population payoffs."""
        return agents_kernel(population) if kind == "agents" else default_kernel(population, noisy=kind == "noisy")

    def as_modeled(self, history: History) -> History:
        """Return the history with payoffs that all agents share told as population payoffs."""
        return with_shared_payoffs(history)

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the uniform plan first (twice, to see noise), then random ones near it, then what the model likes."""
        history = self.as_modeled(history)
        shape = history.population.shape
        if not history.rounds:
            return Proposal(_allowed(history, uniform(*shape)))
        if _wants_replicate(history):
            return Proposal(history.told[0].plan.distribution)
        if not history.told or _random_rounds_left(history):
            return Proposal(_allowed(history, dirichlet(3.0, *shape, rng)))
        with one_blas_thread():
            return self._modeled(history, rng)

    def _modeled(self, history: History, rng: np.random.Generator) -> Proposal:
        process, note = self.surrogate.prepared(history)
        visited = steered(history)
        posterior = process.posterior()
        means = posterior.population_means(visited)
        search = _Search(
            posterior=process.posterior(pending_shares(history)) if history.open else posterior,
            starts=_starts(history, visited[int(np.argmax(means))], rng),
            weights=history.population.weights,
            rng=rng,
            trusted=None if only_system(history.told) else self._trusted(history.population.weights @ visited),
            region=history.region,
        )
        if self.data_kind(history.told, history.noise) == "noisy":
            distribution, notes = self._noisy(history, process, search)
        else:
            distribution, notes = self._exact(history, process, search, means)
        return Proposal(distribution, {**note.to_notes(), **notes})

    def _trusted(self, occupancies: FloatArray) -> FloatArray:
        """Return how full each action may become, (A,), after these occupancies (m, A); twice an even share always."""
        even = 1.0 / occupancies.shape[1]
        return np.asarray(self.trust * np.maximum(occupancies.max(axis=0), even))

    def _exact(
        self, history: History, process: Process, search: "_Search", means: FloatArray
    ) -> tuple[FloatArray, dict[str, tuple[float, ...]]]:
        """Climb with little optimism, or with more the longer the strategy sits on its best plan."""
        base = self.multiplier if process.noise_variance <= NEGLIGIBLE_NOISE else 1.0
        level = _stall_level(means, history)
        multiplier = min(base * 2.0**level, self.highest_multiplier) if _sits(means) else base
        sat_known = level > 0 and history.last_notes.get("known") == (1.0,)
        distribution = (search.from_incumbent() if sat_known else search).climbed(multiplier)
        looks = len(history.rounds) % LOOK_EVERY == LOOK_EVERY - 1 or multiplier > base
        if looks and not only_system(history.told):
            distribution = _allowed(history, with_lookers(history, distribution))
        known = is_known(history, distribution)
        if known:  # whole agents sit where they sat before: look further at once (and only there, next time)
            level += 1
            multiplier = min(base * 2.0**level, self.highest_multiplier)
            distribution = replace(search, starts=[distribution, search.starts[-1]]).climbed(multiplier)
            distribution = fresh(history, distribution, search.acquisition(multiplier), search.rng)
        return distribution, {"level": (float(level),), "multiplier": (multiplier,), "known": (float(known),)}

    def _noisy(
        self, history: History, process: Process, search: "_Search"
    ) -> tuple[FloatArray, dict[str, tuple[float, ...]]]:
        """Climb with the least optimism whose plan still teaches something; every few rounds with none."""
        number = len(history.rounds)
        noted = history.last_notes.get("multiplier", (self.noisy_multiplier,))[0]
        if number >= GREEDY_FROM and number % GREEDY_EVERY == 0:
            return search.climbed(0.0), {"multiplier": (noted,)}
        multiplier = max(self.noisy_multiplier, noted / RAISE)
        distribution = search.climbed(multiplier)
        least = FLOOR * FLOOR * process.noise_variance
        while search.posterior.population(distribution).variance < least and multiplier < self.highest_multiplier:
            multiplier = min(multiplier * RAISE, self.highest_multiplier)
            search = replace(search, starts=[distribution, *search.starts[1:]])
            distribution = search.climbed(multiplier)
        return distribution, {"multiplier": (multiplier,)}


@dataclass(frozen=True, eq=False)
class _Search:
    """What to climb, from where, and how far.

    weights: p (C,). trusted: occupancy up to which the model is trusted (A,), or None. region: what is allowed.
    """

    posterior: Posterior
    starts: list[FloatArray]
    weights: FloatArray
    trusted: FloatArray | None
    region: Region | None
    rng: np.random.Generator

    def acquisition(self, multiplier: float) -> Acquisition:
        """Return population UCB with this multiplier, inside the trusted occupancy."""
        optimistic = PopulationUCB(self.posterior, multiplier)
        return optimistic if self.trusted is None else TrustRegion(optimistic, self.weights, self.trusted)

    def from_incumbent(self) -> "_Search":
        """Return the search without its other starts."""
        return replace(self, starts=self.starts[-2:-1])

    def climbed(self, multiplier: float) -> FloatArray:
        """Return the best allowed distribution found."""
        iterations = _iterations(self.starts[0].size)
        climb: Maximizer = Lbfgs(iterations) if self.region is None else ProjectedAscent(self.region, iterations)
        return climb(self.acquisition(multiplier), self.starts)[0]


def _allowed(history: History, distribution: FloatArray) -> FloatArray:
    region = history.region
    return distribution if region is None else region.projected(distribution)


def replicates_disagree(told: tuple[Round, ...]) -> bool:
    """Tell whether one and the same played distribution was told two different population payoffs."""
    seen: dict[bytes, float] = {}
    for each in told:
        payoff = each.payoff
        if payoff is None:
            continue
        first = seen.setdefault(each.played_key, payoff)
        if abs(first - payoff) > REPLICATE_TOLERANCE * max(abs(first), abs(payoff)):
            return True
    return False


def _wants_replicate(history: History) -> bool:
    """Tell whether to play the first plan again: it can be repeated, and brought a payoff."""
    told = history.told
    return (
        len(history.rounds) == len(told) == 1
        and not told[0].added
        and only_system(told)
        and history.steers == "realized"
    )


def _random_rounds_left(history: History) -> bool:
    """Tell whether the random phase goes on: until a third plan for population payoffs, a sixth for agents'."""
    if any(each.added for each in history.rounds):
        return False
    if not only_system(history.told):
        return len(history.rounds) <= RANDOM_AGENTS_ROUNDS
    replicated = history.steers == "realized"
    return len(history.rounds) < (3 if replicated else 2)


def _starts(history: History, incumbent: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
    """Return the last plan, the incumbent unless it is nearly the same, and a random plan.

    After many rounds the last plan is left out: what it led to has been climbed before.
    """
    random = dirichlet(1.0, *history.population.shape, rng)
    if len(history.told) > ROUND_BUDGET:
        return [incumbent, random]
    last = history.rounds[-1].plan.distribution
    others = [incumbent] if np.abs(last - incumbent).sum() > SAME_START * len(last) else []
    return [last, *others, random]


def _iterations(cells: int) -> int:
    """Return how long to climb: 60 steps up to 2,000 cells, fewer beyond, so that a plan for 10,000 takes a second."""
    return max(15, min(60, 60 * 2000 // cells))


def _sits(means: FloatArray) -> bool:
    """Tell whether the last plan is as good as the best and the best has not risen over the window."""
    if len(means) <= STALL_WINDOW:
        return False
    best = means.max()
    return bool(best - means[:-STALL_WINDOW].max() <= STALL_TOLERANCE and best - means[-1] <= STALL_TOLERANCE)


def _stall_level(means: FloatArray, history: History) -> int:
    """Return how often the strategy has stalled in a row: noted level + 1 when it sits, 0 after a gain."""
    noted = int(history.last_notes.get("level", (0.0,))[0])
    if len(means) > 1 and means.max() - means[:-1].max() > STALL_TOLERANCE:
        return 0
    return noted + 1 if _sits(means) else noted
