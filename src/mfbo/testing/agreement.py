"""What the contracts on numbers share: comparing with a message that says what differs, and finite differences."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray

STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))  # steps and weights of the first derivative


def assert_agree(found: Any, expected: Any, what: str, tolerance: float = 1e-7) -> None:
    """Compare two arrays relative to the largest expected number, and to 1 where all are smaller."""
    found, expected = np.broadcast_arrays(np.asarray(found, dtype=float), np.asarray(expected, dtype=float))
    assert np.isfinite(found).all(), f"{what}: {found} is not finite"
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    place = np.unravel_index(int(np.argmax(np.abs(found - expected))), found.shape) if found.size else ()
    differ = float(np.abs(found - expected).max(initial=0.0))
    assert differ <= tolerance * scale, f"{what}: {found[place]:.10g} instead of {expected[place]:.10g}" + (
        f" at {tuple(int(index) for index in place)}" if place else ""
    )


def slope_along(
    function: Callable[[FloatArray], float], at: FloatArray, direction: FloatArray, step: float = 2e-6
) -> float:
    """Return the derivative of a scalar function of an array along a direction, by five-point differences."""
    return sum(weight * function(at + multiple * step * direction) for multiple, weight in STENCIL) / step
