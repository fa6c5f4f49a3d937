"""The default strategy: our kernel, population UCB, L-BFGS; few rounds for every kind of feedback, noisy or not.

``propose`` is the whole algorithm. Its rules are values computed from the history, one file each: ``first_plans``,
``doubts`` (wrong numbers), ``search`` (starts, trusted occupancy), ``exploring``, ``stall`` and ``information_floor``
(optimism for exact, agents' and noisy payoffs), ``lookers``, ``known_placements``.
docs/decisions/0006-default-strategy.md has the measurements.
"""

from dataclasses import dataclass, field

import numpy as np

from mfbo.arrays import one_blas_thread
from mfbo.models import Kernel, agents_kernel, default_kernel
from mfbo.population import Population
from mfbo.records import History, Proposal, Round
from mfbo.strategies.default.doubts import Doubts
from mfbo.strategies.default.exploring import Exploring
from mfbo.strategies.default.first_plans import first_plan
from mfbo.strategies.default.information_floor import InformationFloor
from mfbo.strategies.default.known_placements import KnownPlacements
from mfbo.strategies.default.lookers import look_is_due, with_lookers
from mfbo.strategies.default.search import Search, Starts
from mfbo.strategies.default.seen import Seen, data_kind
from mfbo.strategies.default.stall import Stall
from mfbo.strategies.modeled import ModeledStrategy
from mfbo.strategies.shared import with_shared_payoffs


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
        return data_kind(told, noise)

    def kernel_for(self, population: Population, kind: str) -> Kernel:
        """Return our kernel for agents' payoffs or for population payoffs."""
        return agents_kernel(population) if kind == "agents" else default_kernel(population, noisy=kind == "noisy")

    def as_modeled(self, history: History) -> History:
        """Return the history with payoffs that all agents share told as population payoffs, without those in doubt."""
        shared = with_shared_payoffs(history)
        return Doubts.of(shared).believed(shared)

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the uniform plan first (twice, to see noise), then random ones near it, then what the model likes."""
        shared = with_shared_payoffs(history)
        doubts = Doubts.of(shared)
        modeled = doubts.believed(shared)
        seen = Seen.of(modeled, self.data_kind(modeled.told, modeled.noise))
        first = first_plan(seen, rng)
        if first is not None:
            return Proposal(first)
        doubted = doubts.repeated(history)
        if doubted is not None:
            return Proposal(doubted.plan.distribution)
        with one_blas_thread():
            belief = self.belief(seen.history, seen.kind)
            means = belief.posterior.population_means(seen.visited)
            starts = Starts.of(seen, seen.visited[int(np.argmax(means))], rng)
            search = Search.of(seen, belief, self.trust)

            if seen.kind == "noisy":
                floor = InformationFloor.of(seen, belief.noise_variance, self.noisy_multiplier, self.highest_multiplier)
                plan, floor = floor.climbed(search, starts)
                return Proposal(plan, {**belief.notes, **floor.notes})

            if seen.kind == "exact":
                exploring = Exploring.of(seen, means, belief.noise_variance, self.multiplier, self.highest_multiplier)
                plan, explores = exploring.climbed(search, starts, rng)
                return Proposal(plan, {**belief.notes, **exploring.notes, "explores": (float(explores),)})

            stall = Stall.of(seen, means, belief.noise_variance, self.multiplier, self.highest_multiplier)
            plan = search.climbed(stall.multiplier, stall.chosen(starts))
            if look_is_due(seen, raised=stall.raised):
                plan = seen.allowed(with_lookers(seen.history, plan))
            placements = KnownPlacements.of(seen)
            known = placements.hold(plan)
            if known:  # whole agents sit where they sat before: look further at once (and only there, next time)
                stall = stall.further()
                plan = search.climbed(stall.multiplier, [plan, starts.random])
                plan = placements.left(plan, search.acquisition(stall.multiplier), rng)
            return Proposal(plan, {**belief.notes, **stall.notes, "known": (float(known),)})
