"""Optimism for agents' payoffs: little while rounds improve, twice as much with every stall.

Measured: without the rule `arena` stays in a local optimum, 0.957 of the gap at 100 rounds instead of 1.000. While
whole agents sit, the first climb begins at the incumbent alone: `swarm`, 50 agents, 57 → 36 ms a round, same values.
"""

import math
from dataclasses import dataclass, replace

from mfbo.arrays import FloatArray
from mfbo.strategies.default.search import Starts, least_multiplier
from mfbo.strategies.default.seen import Seen

WINDOW = 5  # rounds over which the best must have risen
TOLERANCE = 1e-3  # in standard deviations of the told payoffs
PATIENCE = 2.0  # looks further that find nothing, in square roots of the rounds told, before an earning study rests
RESTED = ("rests",)  # what the guard's note says of a round that plays the best plan again


@dataclass(frozen=True)
class Stall:
    """How often the strategy has stalled, and what follows.

    level: stalls in a row since the last gain. sits: whether it stalls now. base: optimism without a stall. highest:
    up to where it doubles. sat_known: whether whole agents were about to sit where they sat before, one round ago.
    everybody: whether all agents looked where nobody was seen after the stall before, see ``lookers``; so it counts too
    when there was none since the last gain.
    """

    level: int
    sits: bool
    base: float
    highest: float
    sat_known: bool = False
    everybody: bool = True

    @staticmethod
    def of(seen: Seen, means: FloatArray, noise_variance: float, base: float, highest: float) -> "Stall":
        """Go on from the noted level; means: of the visited distributions under the current model, (m,)."""
        notes = seen.history.last_notes
        level = level_after(means, int(notes.get("level", (0.0,))[0]))
        least = least_multiplier(base, noise_variance)
        everybody = notes.get("everybody", (1.0,)) == (1.0,)
        return Stall(level, sits(means), least, highest, notes.get("known") == (1.0,), everybody)

    @property
    def multiplier(self) -> float:
        """Optimism of this round, in standard deviations."""
        return min(self.base * 2.0**self.level, self.highest) if self.sits else self.base

    @property
    def raised(self) -> bool:
        """Whether optimism is above its base."""
        return self.multiplier > self.base

    @property
    def sends_everybody(self) -> bool:
        """Whether all agents are to look where nobody was seen: after every second stall."""
        return self.raised and not self.everybody

    @property
    def notes(self) -> dict[str, tuple[float, ...]]:
        """What the next round goes on from."""
        everybody = self.sends_everybody if self.raised else self.everybody or self.level == 0
        return {"level": (float(self.level),), "multiplier": (self.multiplier,), "everybody": (float(everybody),)}

    def rests(self, told: int) -> bool:
        """Tell whether to play the best plan again after so many rounds told: looking has found nothing for long."""
        return self.level > PATIENCE * math.sqrt(told)

    @property
    def rested(self) -> dict[str, tuple[float, ...]]:
        """What the round after a rest goes on from: a rest is not a stall."""
        return {"level": (self.level - 1.0,), "multiplier": (self.base,), "known": (float(self.sat_known),)}

    def chosen(self, starts: Starts) -> list[FloatArray]:
        """Return where to climb from first: every start, or where agents sit while nothing is gained by others."""
        return [starts.incumbent] if self.level > 0 and self.sat_known else starts.every

    def further(self) -> "Stall":
        """Return the next level at once."""
        return replace(self, level=self.level + 1, sits=True)


def sits(means: FloatArray) -> bool:
    """Tell whether the last plan is as good as the best and the best has not risen over the window."""
    if len(means) <= WINDOW:
        return False
    best = means.max()
    return bool(best - means[:-WINDOW].max() <= TOLERANCE and best - means[-1] <= TOLERANCE)


def level_after(means: FloatArray, noted: int) -> int:
    """Return the level after the noted one: one more while the strategy sits, 0 after a gain."""
    if len(means) > 1 and means.max() - means[:-1].max() > TOLERANCE:
        return 0
    return noted + 1 if sits(means) else noted
