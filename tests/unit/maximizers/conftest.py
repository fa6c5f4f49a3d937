"""Concave functions on the simplex whose maximizers are known."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from mfbo.arrays import one_blas_thread

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]


def make_bowl(target: np.ndarray) -> Objective:
    """Return −|ξ − target|²: its maximizer is the projection of the target onto the simplex."""

    def objective(distribution: np.ndarray) -> tuple[float, np.ndarray]:
        apart = distribution - target
        return -float((apart**2).sum()), -2 * apart

    return objective


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Hold BLAS to one thread, as the study does: the vectors here are small."""
    with one_blas_thread():
        yield


@pytest.fixture
def bowl() -> Callable[[np.ndarray], Objective]:
    """Build a bowl round any target, inside the simplex or outside."""
    return make_bowl


@pytest.fixture
def two_peaks() -> Objective:
    """A hill of height 1 at the first action and one of height 2 at the second (one context, two actions)."""

    def objective(distribution: np.ndarray) -> tuple[float, np.ndarray]:
        first, second = distribution[0]
        return float(first**2 + 2 * second**2), np.array([[2 * first, 4 * second]])

    return objective
