"""What both maximizers do with their starts: ties, none at all, and points where the objective breaks."""

import numpy as np
import pytest

from mfbo.errors import InvalidInputError
from mfbo.maximizers import Adam, Lbfgs
from mfbo.maximizers.climbing import Climber

MAXIMIZERS = [Lbfgs(), Adam(steps=5)]


@pytest.mark.parametrize("maximizer", MAXIMIZERS, ids=["lbfgs", "adam"])
def test_the_earlier_start_wins_a_tie(maximizer):
    """On a plateau nobody moves: every start is as good as any other."""
    first, second = np.array([[0.3, 0.7]]), np.array([[0.6, 0.4]])
    for starts in ([first, second], [second, first]):
        found, value = maximizer(lambda xi: (1.0, np.zeros_like(xi)), starts)
        np.testing.assert_allclose(found, starts[0], atol=1e-7)
        assert value == 1.0


@pytest.mark.parametrize("maximizer", MAXIMIZERS, ids=["lbfgs", "adam"])
def test_no_starts_are_refused(maximizer, bowl):
    with pytest.raises(InvalidInputError, match="at least one start"):
        maximizer(bowl(np.array([[0.5, 0.5]])), [])


class Stays(Climber):
    def climbed(self, objective, start):
        return start, objective(start)[0]


def test_every_start_is_climbed_from():
    looked_at = []

    def objective(start):
        looked_at.append(start)
        return float(start[0, 0]), start

    starts = [np.array([[value]]) for value in (0.1, 0.9, 0.4)]
    found, value = Stays()(objective, starts)
    assert [start[0, 0] for start in looked_at] == [0.1, 0.9, 0.4]
    assert (found[0, 0], value) == (0.9, 0.9)


def test_a_start_where_the_objective_is_not_a_number_never_wins():
    values = {0.1: np.nan, 0.9: 1.0}
    _, value = Stays()(lambda start: (values[start[0, 0]], start), [np.array([[0.1]]), np.array([[0.9]])])
    assert value == 1.0


@pytest.mark.parametrize("maximizer", MAXIMIZERS, ids=["lbfgs", "adam"])
def test_equal_calls_give_equal_points(maximizer, bowl):
    objective, start = bowl(np.array([[0.1, 0.2, 0.7]])), np.array([[0.3, 0.3, 0.4]])
    np.testing.assert_array_equal(maximizer(objective, [start])[0], maximizer(objective, [start])[0])
