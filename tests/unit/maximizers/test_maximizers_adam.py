"""Adam on logits against the textbook update, written out here."""

import numpy as np
import pytest

from mfbo.maximizers import Adam
from mfbo.simplex import uniform

TARGET = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
START = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])


def softmax(logits):
    weights = np.exp(logits)
    return weights / weights.sum(axis=1, keepdims=True)


def textbook_adam(objective, start, steps, rate, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """Return every distribution on the way, as Kingma and Ba (2015) and torch.optim.Adam(maximize=True) step."""
    theta = np.log(start)
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    path = [softmax(theta)]
    for t in range(1, steps + 1):
        xi = softmax(theta)
        _, gradient = objective(xi)
        jacobians = [np.diag(row) - np.outer(row, row) for row in xi]
        g = np.stack([jacobian @ slope for jacobian, slope in zip(jacobians, gradient, strict=True)])
        first = beta1 * first + (1 - beta1) * g
        second = beta2 * second + (1 - beta2) * g**2
        theta = theta + rate * (first / (1 - beta1**t)) / (np.sqrt(second / (1 - beta2**t)) + epsilon)
        path.append(softmax(theta))
    return path


@pytest.mark.parametrize("steps", [1, 2, 7, 40])
@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_every_step_is_the_textbook_step(bowl, steps, rate):
    found, value = Adam(rate=rate, steps=steps)(bowl(TARGET), [START])
    path = textbook_adam(bowl(TARGET), START, steps, rate)
    np.testing.assert_allclose(found, path[-1], atol=1e-12)
    assert value == pytest.approx(bowl(TARGET)(path[-1])[0], abs=1e-12)
    assert value > bowl(TARGET)(START)[0], "a climb that never rises tests nothing"


def test_other_decays_and_epsilon_are_used(bowl):
    found, _ = Adam(rate=0.02, steps=6, decay=0.5, square_decay=0.9, epsilon=1e-2)(bowl(TARGET), [START])
    path = textbook_adam(bowl(TARGET), START, 6, 0.02, beta1=0.5, beta2=0.9, epsilon=1e-2)
    np.testing.assert_allclose(found, path[-1], atol=1e-12)


def test_the_first_step_moves_every_logit_by_the_rate():
    slope = np.array([[1.0, 0.0, -2.0]])
    found, _ = Adam(rate=0.1, steps=1)(lambda xi: (float((slope * xi).sum()), slope), [uniform(1, 3)])
    np.testing.assert_allclose(np.log(found / uniform(1, 3)) - np.log(found[0, 2] * 3), [[0.2, 0.2, 0.0]], atol=1e-6)


def test_it_ends_where_its_steps_end_even_if_it_was_higher_on_the_way(bowl):
    """As torch.optim.Adam does: the rate is so large that the last point is not the best."""
    objective = bowl(TARGET)
    path = textbook_adam(objective, START, 30, rate=1.0)
    assert objective(path[-1])[0] < max(objective(xi)[0] for xi in path)
    found, _ = Adam(rate=1.0, steps=30)(objective, [START])
    np.testing.assert_allclose(found, path[-1], atol=1e-12)


def test_without_steps_the_start_is_returned(bowl):
    found, value = Adam(steps=0)(bowl(TARGET), [START])
    np.testing.assert_allclose(found, START, atol=1e-12)
    assert value == pytest.approx(bowl(TARGET)(START)[0])


def test_a_maximizer_inside_is_found(bowl):
    found, _ = Adam(rate=0.05, steps=500)(bowl(TARGET), [uniform(2, 3)])
    np.testing.assert_allclose(found, TARGET, atol=1e-3)


def test_a_start_on_a_face_has_finite_logits(bowl):
    found, value = Adam(steps=5)(bowl(TARGET), [np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])])
    assert np.isfinite(value)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def test_the_best_of_several_starts_is_kept(two_peaks):
    near_the_low_peak, near_the_high_peak = np.array([[0.95, 0.05]]), np.array([[0.3, 0.7]])
    for starts in ([near_the_low_peak, near_the_high_peak], [near_the_high_peak, near_the_low_peak]):
        found, _ = Adam(rate=0.1, steps=100)(two_peaks, starts)
        assert found[0, 1] > 0.95


def test_no_step_is_left_out_even_if_nothing_is_gained():
    asked = []

    def plateau(distribution):
        asked.append(distribution)
        return 1.0, np.zeros_like(distribution)

    Adam(steps=200)(plateau, [START])
    assert len(asked) == 1 + 200
