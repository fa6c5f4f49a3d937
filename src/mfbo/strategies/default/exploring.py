"""Exact payoffs: a plan that cannot gain is never played, and from the tenth payoff on every second round explores.

Little optimism (0.3) climbs fast while the model is right, but all that it plays is what the model likes, and a model
that sees nothing else confirms itself. So every second round plays the plan of the largest expected gain over the best,
as does one whose climb leads to a plan the model is sure cannot gain; and where the model is sure that nothing can
gain, the plan it knows least of, for then the model is to be doubted, or a random one. Climbed looks fill no action
much beyond twice what was ever seen of it, or an even share: a whole fleet in one place teaches no more, and may cost a
hundred times what there is to gain. A climb that begins where an action has nobody hardly gives it anybody, so starts
are mixed with a random plan: a little of it for a climb, a tenth for a look by expected gain. Few whole agents are
moved one by one. Where nothing is known of actions, there are more cells than payoffs, and the best plan leaves most of
them empty, every second look is such a start itself: a climbed look tries one action more, a random one all at once.

Where payoffs drift, what was best has to be followed and every plan teaches: every second round looks by expected gain
near the best plan as it is believed to be now, for what was seen elsewhere is long ago, and no further than to lose a
tenth of what was gained. Whole agents that would sit where they lately sat take turns: the best placement is played
again, the next round looks elsewhere.

Where there are more cells than payoffs that the model holds, most are never told apart, and the largest expected gain
of one round is short-sighted: a round that explores climbs an optimism of two standard deviations there, others one.

Where costs far below the best are explained better by their logarithms, a round that explores believes in these, and
one that climbs in payoffs as they were told: two models do not confirm each other.

A model with functions of single cells has a hill for every choice of cells, and a climb knows one of them: its gains
are climbed from the most promising of two dozen plans, in which two actions exchanged their shares or few have any.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mfbo.acquisition import ExpectedGain
from mfbo.arrays import FloatArray
from mfbo.interfaces import Acquisition
from mfbo.simplex import dirichlet
from mfbo.strategies.default.known_placements import KnownPlacements
from mfbo.strategies.default.search import Search, Starts, least_multiplier
from mfbo.strategies.default.seen import Seen
from mfbo.strategies.default.whole_moves import WholeMoves
from mfbo.strategies.replay_plan import ROUND_BUDGET

FEWEST = 10  # payoffs from which on every second round explores …
BLIND = 4  # … and every so many looks at a random plan, where there are more actions of which nothing is known
OFF_FACES, FAR_OFF = 0.01, 0.1  # share of a random plan in the starts of a climb, and of a look
EMPTY = 0.1  # of an even share, below which an action has hardly anybody
SURE = 3.0  # standard deviations beyond which the model is sure
NOTHING = 1e-5  # share of all that was gained so far that would not count as a gain
BEARABLE = 0.1  # share of what the best is above the first or a middle plan that a look into drift may lose …
HALVINGS = 8  # … and how often it is shortened for that
SAME = 1e-6  # L1 distance below which a plan is one that was played
JITTERED = 1e-10  # variance that a model without noise leaves at a told plan
MANY_CLIMB, MANY_LOOK = 1.0, 2.0  # optimism where there are more cells than the model holds payoffs
EXCHANGES, SPARSE = 16, 8  # plans that are looked at before gains of a model that bends are climbed …
FACE = 3.0  # … the sparse ones with about so many actions each


@dataclass(frozen=True, eq=False)
class Exploring:
    """When to explore, and how.

    seen: what was told, and the region that plans are held to. best: highest mean of the visited plans. bearable: by
    how much less a look may be expected to bring where payoffs drift. least: gain over the best that would count. due:
    whether this round explores whatever little optimism would find. blind: whether it may do so at random. multiplier:
    that little optimism, in standard deviations. highest: much of it. placements: of whole agents that are known. many:
    whether there are more cells than payoffs can tell apart. follows: whether payoffs drift. bends: whether the model
    has functions of single cells.
    """

    seen: Seen
    best: float
    bearable: float
    least: float
    due: bool
    blind: bool
    multiplier: float
    highest: float
    placements: KnownPlacements
    many: bool = False
    follows: bool = False
    bends: bool = False

    @staticmethod
    def of(
        seen: Seen,
        means: FloatArray,
        noise_variance: float,
        base: float,
        highest: float,
        memory: float | None = None,
    ) -> "Exploring":
        """Look at the means of the visited plans under the current model, (m,); memory: length of drift, or None."""
        best, gained = float(means.max()), float(means.max() - means[0])
        asked, cells = len(seen.history.rounds), seen.visited[0].size
        due = looks(seen)
        unplaced = seen.history.population.features is None
        blind = due and asked % BLIND == 0 and unplaced and len(means) < cells <= ROUND_BUDGET
        least = max(NOTHING * gained, SURE * (noise_variance + JITTERED) ** 0.5)
        many = cells > ROUND_BUDGET
        multiplier = MANY_CLIMB if many else least_multiplier(base, noise_variance)
        bearable = BEARABLE * (best - min(float(means[0]), float(np.median(means))))
        known, drifts = KnownPlacements.of(seen, memory), memory is not None
        return Exploring(seen, best, bearable, least, due, blind, multiplier, highest, known, many, follows=drifts)

    def climbed(self, search: Search, starts: Starts, rng: np.random.Generator) -> tuple[FloatArray, bool]:
        """Return the plan, (C, A), and whether it explores."""
        if self.follows:
            return self._followed(search, starts, rng)
        if not self.due:
            plan = search.climbed(self.multiplier, starts.mixed(OFF_FACES))
            plan = WholeMoves(self.seen, search.acquisition(self.multiplier)).onwards_from(plan)
            if self.may_gain(search, plan):
                return plan, False
        elif self.many:
            plan = search.held_back.climbed(MANY_LOOK, starts.every)
            if self.may_gain(search, plan):
                return plan, True
        elif self.blind and float(np.mean(starts.incumbent < EMPTY / starts.incumbent.shape[1])) > 0.5:
            plan = search.allowed(Starts(None, starts.incumbent, starts.random).mixed(FAR_OFF)[0])
            if not self.holds(plan):
                return plan, True
        plan, gain, random = self._promising(search, starts, rng)
        plan = WholeMoves(self.seen, gain).onwards_from(plan)
        if not self.may_gain(search, plan):
            plan = search.held_back.climbed(self.highest, [random])
            if self.holds(plan):
                plan = search.allowed(random)
        return self.placements.left(plan, gain, rng), True

    def _followed(self, search: Search, starts: Starts, rng: np.random.Generator) -> tuple[FloatArray, bool]:
        """Return the plan where payoffs drift, and whether it explores: every second round does."""
        if not self.due:
            plan = search.climbed(self.multiplier, starts.mixed(OFF_FACES))
            return (search.allowed(starts.incumbent) if self.placements.hold(plan) else plan), False
        plan, gain, _ = self._promising(search.near(starts.incumbent), starts, rng)
        plan = search.allowed(self._shortened(search, plan, starts.incumbent))
        return self.placements.left(plan, gain, rng), True

    def _shortened(self, search: Search, plan: FloatArray, incumbent: FloatArray) -> FloatArray:
        """Return the plan, or one on the way to it from the best plan that is not expected to lose much."""
        for _ in range(HALVINGS):
            if search.posterior.population(plan).mean >= self.best - self.bearable:
                break
            plan = 0.5 * (plan + incumbent)
        return plan

    def _promising(
        self, search: Search, starts: Starts, rng: np.random.Generator
    ) -> tuple[FloatArray, Acquisition, FloatArray]:
        """Return the plan of the largest expected gain, the gain, and the random plan it was climbed from as well."""
        careful, random = search.held_back, starts.random
        gain = careful.within(ExpectedGain(search.posterior, self.best))
        if self.bends:
            random = max([random, *exchanges(starts.incumbent, rng)], key=lambda plan: gain(plan)[0])
        return careful.climbed_on(gain, Starts(None, starts.incumbent, random).mixed(FAR_OFF)), gain, random

    @property
    def notes(self) -> dict[str, tuple[float, ...]]:
        """What a reader of the history may want to know."""
        return {"multiplier": (self.multiplier,)}

    def holds(self, plan: FloatArray) -> bool:
        """Tell whether a plan was played before or is open, or sends whole agents where they were."""
        near = np.abs(self.played - plan).sum(axis=(1, 2)) <= SAME
        return bool(near.any()) or self.placements.hold(plan)

    @cached_property
    def played(self) -> FloatArray:
        """What was played or is open, (m, C, A)."""
        return np.concatenate([self.seen.visited, *(asked.plan.distribution[None] for asked in self.seen.history.open)])

    def may_gain(self, search: Search, plan: FloatArray) -> bool:
        """Tell whether a plan could still gain something; what was played before cannot."""
        if self.holds(plan):
            return False
        moments = search.posterior.population(plan)
        hoped = moments.mean + SURE * moments.variance**0.5
        return bool(hoped > self.best + self.least)


def looks(seen: Seen) -> bool:
    """Tell whether this round explores whatever little optimism would find."""
    return len(seen.told) >= FEWEST and len(seen.history.rounds) % 2 == 0


def exchanges(incumbent: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
    """Return sparse plans, and the best plan with the shares of two actions of a context exchanged; (C, A) each."""
    contexts, actions = incumbent.shape
    plans = [dirichlet(min(1.0, FACE / actions), contexts, actions, rng) for _ in range(SPARSE)]
    for _ in range(EXCHANGES if actions > 1 else 0):
        context = int(rng.integers(contexts))
        full = int(rng.choice(actions, p=incumbent[context] / incumbent[context].sum()))
        other = (full + int(rng.integers(1, actions))) % actions
        plan = incumbent.copy()
        plan[context, [full, other]] = plan[context, [other, full]]
        plans.append(plan)
    return plans
