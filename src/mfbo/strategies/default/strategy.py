"""The default strategy: our kernel, population UCB, L-BFGS; few rounds for every kind of feedback, noisy or not.

``propose`` is the whole algorithm. Its rules are values computed from the history, one file each: ``first_plans``,
``doubts`` (wrong numbers), ``search`` (starts, trusted occupancy), ``exploring``, ``stall`` and ``information_floor``
(optimism for exact, agents' and noisy payoffs), ``lookers``, ``known_placements``, ``whole_moves`` (few agents).
docs/decisions/0006-default-strategy.md has the measurements. A study that is to earn has rules of its own:
``status_quo``, ``step``, ``guard``, ``crowding``, ``hidden_days`` and ``tilt`` (noisy
days), ``wrong_days``; see decision 0013. ``hints``: cells that do not add up to the payoff; ``shared_luck``: days that
move all cells at once.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from mfbo.arrays import FloatArray, one_blas_thread
from mfbo.interfaces import Acquisition
from mfbo.models import only_system
from mfbo.records import History, Note, Proposal
from mfbo.strategies.default.crowding import CrowdedBelief, Crowding
from mfbo.strategies.default.doubts import FEWEST as FEWEST_DOUBTED
from mfbo.strategies.default.doubts import Doubts, fleet_of, surprising_best
from mfbo.strategies.default.exploring import Exploring, looks
from mfbo.strategies.default.first_plans import MOST_PLANS, first_plan
from mfbo.strategies.default.guard import Guard
from mfbo.strategies.default.hidden_days import DOUBT, luck_hides
from mfbo.strategies.default.hints import without_hints
from mfbo.strategies.default.information_floor import InformationFloor
from mfbo.strategies.default.kernels import UNPLACED, kernel_for, situated_kernel, started_kernel
from mfbo.strategies.default.known_placements import KnownPlacements
from mfbo.strategies.default.lookers import look_is_due, with_lookers
from mfbo.strategies.default.search import Search, Starts
from mfbo.strategies.default.seen import (
    DEMAND,
    NEGLIGIBLE_NOISE,
    PLANNED,
    STREET,
    Seen,
    data_kind,
    drift_is_all,
    is_cost,
    replicates_disagree,
)
from mfbo.strategies.default.shared_luck import without_shared_luck
from mfbo.strategies.default.stall import RESTED, Stall
from mfbo.strategies.default.status_quo import first_earning_plan, named_status_quo, standing_word
from mfbo.strategies.default.step import LEAST, Step
from mfbo.strategies.default.tilt import TiltedMean
from mfbo.strategies.default.whole_moves import WholeMoves
from mfbo.strategies.default.wrong_days import without_wrong_days
from mfbo.strategies.modeled import Belief, ModeledStrategy
from mfbo.strategies.reading import recommendable, told_payoffs, with_shared_payoffs
from mfbo.written_settings import ImportPath


@dataclass(frozen=True)
class Default(ModeledStrategy):
    """One setting for every problem; nothing to tune.

    multiplier: optimism while exact payoffs improve. highest_multiplier: up to where it rises while they do not, or
    while plans teach too little. noisy_multiplier: optimism under noise. trust: how much fuller than ever seen an
    action may become in a round that explores, and in every round once agents' payoffs are told. kernel: ours for every
    kind of data, or the import path of one's own.
    """

    multiplier: float = 0.3
    highest_multiplier: float = 8.0
    noisy_multiplier: float = 1.5
    trust: float = 2.0
    kernel: Literal["ours"] | ImportPath = "ours"
    name: str = "default"
    sparse: bool = field(default=True, kw_only=True)
    subset_kinds: tuple[str, ...] = field(default=("exact", UNPLACED), kw_only=True)

    kernel_for = staticmethod(kernel_for)
    situated = staticmethod(situated_kernel)
    started = staticmethod(started_kernel)

    def kind_of(self, history: History) -> str:
        """Return the kind of data, see ``seen.data_kind``.

        Payoffs that differ because they drift are exact. Noisy population payoffs to be earned are "street", and
        "planned" where somebody chose the status quo, "demand" where agents merely stand and luck hides what plans
        bring; where days differ and payoffs are below zero, "costs" and "planned costs".
        """
        kind = data_kind(history.told, history.noise)
        if kind == "exact" and history.situations is not None:  # what situations do not say of a day is noise
            kind = "noisy"
        if kind == "noisy" and history.aim != "earn" and drift_is_all(history):
            return "exact"
        if kind == "noisy" and history.aim == "earn":
            if history.situations is not None and is_cost(history.told):
                return "planned costs" if history.planned else "costs"
            if history.planned:
                return "planned"
            return DEMAND if self.kernel == "ours" and luck_hides(history) else "street"
        return kind

    def as_modeled(self, history: History) -> History:
        """Return the history with payoffs that all agents share told as population payoffs, without those in doubt.

        Cells that do not add up to the payoff told with them are left out, see ``hints``. Population payoffs alone are
        read as they were told, and few of them are all believed.
        An earning study leaves days out that were probably told wrongly; others repeat the plan to find out. It also
        takes out what all cells of a day share, see ``shared_luck``.
        """
        shared = history if only_system(history.told) else without_hints(with_shared_payoffs(history))
        if history.aim == "earn":
            noisy = history.situations is not None or replicates_disagree(shared.told)
            return without_shared_luck(without_wrong_days(shared) if noisy else shared)
        return shared if len(shared.told) <= FEWEST_DOUBTED else Doubts.of(shared).believed(shared)

    def belief(self, history: History, kind: str | None = None) -> Belief:
        """Return the model of a history as it is modeled; an earning one of noisy days expects diminishing returns.

        Small steps tell little of what the payoffs are like, and a fit that began at a wrong belief stays with it: an
        earning study with exact payoffs fits its model afresh each time as well. One that is to find takes large steps,
        and asks whether costs far below the best are better read as their logarithms.
        """
        kind = self.kind_of(history) if kind is None else kind
        own = None if self.kernel == "ours" else self.kernel
        if kind not in STREET:
            unplaced = kind == "exact" and own is None and history.population.features is None
            afresh = kind == "exact" and history.aim == "earn"
            warps = kind == "exact" and own is None and not afresh
            return self.belief_with(history, UNPLACED if unplaced else kind, own=own, afresh=afresh, warps=warps)
        status_quo = named_status_quo(history)
        crowding = Crowding.of(history, status_quo)
        start = (
            status_quo if kind in (*PLANNED, DEMAND) else None
        )  # what merely stands is no feature once luck hides nothing
        rest = self.belief_with(crowding.removed_from(history), kind, start=start, own=own)
        return CrowdedBelief.of(rest, crowding.scaled(rest.note.fit.scale))

    def propose(self, history: History, rng: np.random.Generator) -> Proposal:
        """Return the uniform plan first (twice, to see noise), then random ones near it, then what the model likes."""
        modeled = self.as_modeled(history)
        seen = Seen.of(modeled, self.kind_of(modeled))
        if history.aim == "earn":
            return self._earning(seen, rng)
        if not seen.told or len(history.rounds) < MOST_PLANS:
            first = first_plan(seen, rng)
            if first is not None:
                return Proposal(first)
        if len(seen.told) < len(history.told):  # one that is in doubt, and may have to be repeated, is left out
            again = Doubts.of(with_shared_payoffs(history)).repeated(history)
            if again is not None:
                return Proposal(again.played, again.notes)
        with one_blas_thread():
            belief = self.belief(seen.history, seen.kind)
            means = belief.posterior.population_means(seen.visited)
            starts = Starts.of(seen, seen.visited[int(np.argmax(means))], rng)
            search = Search.of(seen, belief, self.trust)
            noise, memory = belief.noise_variance, belief.note.fit.memory

            if seen.kind == "noisy":
                bounds = self.noisy_multiplier, self.highest_multiplier
                floor = InformationFloor.of(seen, noise, *bounds, drifts=memory is not None)
                plan, floor = floor.climbed(search, starts)
                plan = KnownPlacements.of(seen, memory).left(plan, search.acquisition(floor.multiplier), rng)
                return Proposal(plan, {**belief.notes, **floor.notes})

            if seen.kind == "exact":
                return self._exact(seen, belief, search, starts, rng)

            stall = Stall.of(seen, means, noise, self.multiplier, self.highest_multiplier)
            plan = search.climbed(stall.multiplier, stall.chosen(starts))
            if look_is_due(seen, raised=stall.raised):
                plan = seen.allowed(with_lookers(seen.history, plan, everybody=stall.sends_everybody))
            plan, stall, notes = _further(seen, search, stall, plan, starts.random, rng)
            return Proposal(plan, {**belief.notes, **notes})

    def _found(self, history: History, seen: Seen) -> FloatArray:
        """Return what is recommended of a history of which ``seen`` is believed, to one who wants to find."""
        belief = self.belief(seen.history, seen.kind)
        exact = seen.kind == "exact" and belief.noise_variance <= NEGLIGIBLE_NOISE
        fleets = {fleet_of(done, seen.history.population) for done in seen.told}
        if not exact or belief.note.fit.memory is not None or len(fleets) > 1:
            visited = history.steered[recommendable(history)]
            return np.asarray(visited[int(np.argmax(belief.posterior.population_means(visited)))])
        places = recommendable(seen.history)
        return np.asarray(seen.visited[places[int(np.argmax(told_payoffs(seen.history)[places]))]])

    def _exact(self, seen: Seen, belief: Belief, search: Search, starts: Starts, rng: np.random.Generator) -> Proposal:
        """Return a best payoff's plan again if all others contradict it, or where little optimism, or a look, leads.

        A look believes in warped payoffs where these asked for it, a climb never does.
        """
        memory = belief.note.fit.memory
        doubts = memory is None and len(seen.told) > FEWEST_DOUBTED
        again = surprising_best(seen, belief) if doubts else None
        if again is not None:
            return Proposal(again.played, {**belief.notes, **again.notes})
        warped = belief.warped if looks(seen) else None
        if warped is not None:
            belief, search = warped, Search.of(seen, warped, self.trust)
        means, bounds = belief.posterior.population_means(seen.visited), (self.multiplier, self.highest_multiplier)
        exploring = Exploring.of(seen, means, belief.noise_variance, *bounds, memory)
        plan, explores = replace(exploring, bends=belief.bends).climbed(search, starts, rng)
        return Proposal(plan, {**belief.notes, **exploring.notes, "explores": (float(explores),)})

    def _earning(self, seen: Seen, rng: np.random.Generator) -> Proposal:
        """Return the status quo first, then what the model likes within a step of the best plan, as far as it passes.

        Noisy population payoffs are searched by random slopes, once days are enough to see any; others by optimism
        that grows with every stall.
        Under noise a status quo that somebody planned is left only for what is better with confidence.
        """
        first = first_earning_plan(seen)
        if first is not None:
            return Proposal(seen.allowed(first))
        with one_blas_thread():
            belief = self.belief(seen.history, seen.kind)
            means = belief.posterior.population_means(seen.visited)
            guard = Guard.of(seen, belief)
            careful = seen.kind in PLANNED
            best = guard.recommended(seen.visited) if careful else guard.best(seen.visited)
            stands = careful and np.array_equal(best, guard.status_quo)
            step = Step(LEAST) if stands else Step.of(seen, means)
            word = standing_word(seen, belief.noise_variance, guard.allowed) if stands else None
            if word is not None:
                return Proposal(seen.allowed(best), {**belief.notes, **step.notes, "guard": word})
            near = replace(seen, region=step.region(seen, best))
            search = Search.of(near, belief, self.trust)
            notes: dict[str, Note] = {**belief.notes, **step.notes}
            if seen.kind in STREET:
                promise = _street_promise(seen, search, best, rng)
                plan = search.climbed_on(promise, [best])
            else:
                stall = Stall.of(near, means, belief.noise_variance, self.multiplier, self.highest_multiplier)
                if seen.kind == "exact" and stall.rests(len(seen.told)):
                    kept = {"step": seen.history.last_notes.get("step", (step.share,)), **stall.rested}
                    return Proposal(seen.allowed(best), {**belief.notes, **kept, "guard": RESTED})
                plan, stall, stall_notes = _optimistic(near, search, stall, Starts.of(near, best, rng), rng)
                promise = search.acquisition(stall.multiplier)
                notes |= stall_notes
            plan, passed = guard.held(plan, best, promise)
            return Proposal(plan, {**notes, "guard": (passed,)})

    def recommend(self, history: History) -> FloatArray:
        """Return the visited distribution with the highest posterior mean, of those that keep the limits.

        Exact payoffs of one fleet need no model: it is the best one told, as far as they are believed and do not drift.
        An earning study recommends the status quo unless another is believed to be better with confidence.
        """
        with one_blas_thread():
            modeled = self.as_modeled(history)
            seen = Seen.of(modeled, self.kind_of(modeled))
            if history.aim != "earn":
                return self._found(history, seen)
            guard = Guard.of(seen, self.belief(seen.history, seen.kind))
            return guard.recommended(seen.visited[recommendable(seen.history)])


def _street_promise(seen: Seen, search: Search, best: FloatArray, rng: np.random.Generator) -> Acquisition:
    """Return what noisy days climb near the best plan (C, A): random slopes, or a lower bound while luck hides them."""
    if seen.kind == DEMAND:
        return search.acquisition(-DOUBT)
    return TiltedMean.drawn(search.posterior, seen.history.population, best, rng)


def _optimistic(
    near: Seen, search: Search, stall: Stall, starts: Starts, rng: np.random.Generator
) -> tuple[FloatArray, Stall, dict[str, Note]]:
    """Return what an earning study climbs to within its step, the stall that led to it, and its notes."""
    plan = search.climbed(stall.multiplier, stall.chosen(starts))
    if near.kind == "exact":
        plan = WholeMoves(near, search.acquisition(stall.multiplier)).onwards_from(plan)
    return _further(near, search, stall, plan, starts.random, rng)


def _further(
    seen: Seen, search: Search, stall: Stall, plan: FloatArray, random: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, Stall, dict[str, Note]]:
    """Return the plan, or, where whole agents would sit where they sat before, one that looks further at once.

    With the stall that led to it and what the next round goes on from: then it looks only where agents sit.
    """
    placements = KnownPlacements.of(seen)
    sits_still = placements.hold(plan)
    if sits_still:
        stall = stall.further()
        plan = search.climbed(stall.multiplier, [plan, random])
        plan = placements.left(plan, search.acquisition(stall.multiplier), rng)
    return plan, stall, {**stall.notes, "known": (float(sits_still),)}
