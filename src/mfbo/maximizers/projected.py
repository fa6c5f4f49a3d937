"""Ascent inside a region of allowed placements: spectral projected gradient (Birgin, Martínez and Raydan, 2000)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.interfaces import Objective
from mfbo.maximizers.multistart import best_climb
from mfbo.simplex import Region

MEMORY = 5  # values that an accepted step may fall below the best of
SUFFICIENT = 1e-4
FARTHEST = 100.0  # longest step before projection, in shares: far outside every region
HALVINGS = 20


@dataclass(frozen=True, eq=False)
class ProjectedAscent:
    """Climbs from every start, projected into the region, for at most ``iterations``, and keeps the best."""

    region: Region
    iterations: int = 60

    def __call__(self, objective: Objective, starts: Sequence[FloatArray]) -> tuple[FloatArray, float]:
        """Return the best allowed distribution found, (C, A), and its value."""
        return best_climb(lambda start: self._climbed(objective, start), starts)

    def _climbed(self, objective: Objective, start: FloatArray) -> tuple[FloatArray, float]:
        here = self.region.projected(start)
        value, gradient = objective(here)
        best = here, value
        recent = [value]
        step = 1.0 / _steepness(gradient)
        for _ in range(self.iterations):
            direction = self.region.projected(here + step * gradient) - here
            slope = float((gradient * direction).sum())
            if slope <= 1e-12 * max(abs(value), 1e-12):
                break
            share = 1.0
            for _ in range(HALVINGS):
                there = here + share * direction
                new_value, new_gradient = objective(there)
                if new_value >= min(recent[-MEMORY:]) + SUFFICIENT * share * slope:
                    break
                share *= 0.5
            moved, turned = there - here, gradient - new_gradient
            curvature = float((moved * turned).sum())
            length = float((moved * moved).sum())
            here, value, gradient = there, new_value, new_gradient
            longest = FARTHEST / _steepness(gradient)
            step = min(length / curvature, longest) if curvature > 0 else longest
            recent.append(value)
            if value > best[1]:
                best = here, value
        return best


def _steepness(gradient: FloatArray) -> float:
    return max(float(np.abs(gradient).max()), 1e-12)
