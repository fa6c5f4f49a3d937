"""What every problem of the catalogue keeps, whatever its payoff."""

import numpy as np
import pytest

from mfbo.catalogue import PROBLEMS, make_problem
from mfbo.problems import FeedbackKind, Observer, Problem
from mfbo.records import Plan
from mfbo.simplex import allocate, uniform

# A replay counts whole bikes and has no mean-field limit; tests/unit/problems/test_jersey_city.py is its contract.
LIMITLESS = ("jersey-city",)


@pytest.fixture(scope="module", params=[name for name in PROBLEMS if name not in LIMITLESS])
def problem(request) -> Problem:
    return make_problem(request.param).on_day(3)  # where rounds differ, any of them must keep this


@pytest.fixture
def distribution(problem) -> np.ndarray:
    contexts, actions = problem.population.shape
    return np.random.default_rng(5).dirichlet(np.ones(actions), size=contexts)


def deployed(problem: Problem, distribution: np.ndarray, size: int) -> float:
    resized = problem.with_size(size)
    counts = allocate(distribution, problem.population.weights, size, np.random.default_rng(0))
    return resized.value(Plan(0, distribution, counts))


def test_gradient_equals_finite_differences_along_random_directions(problem, distribution):
    rng = np.random.default_rng(6)
    gradient = problem.gradient(distribution)
    for _ in range(10):
        direction = rng.normal(size=distribution.shape) * distribution
        step = 1e-5
        ahead = problem.mean_field_value(distribution + step * direction)
        behind = problem.mean_field_value(distribution - step * direction)
        expected = float((gradient * direction).sum())
        assert (ahead - behind) / (2 * step) == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_population_payoff_is_the_mean_of_the_agents_payoffs(problem, distribution):
    shares = problem.population.joint_shares(distribution)
    mean = float((shares * problem.payoff.cells(shares)).sum())
    assert problem.mean_field_value(distribution) == pytest.approx(mean, rel=1e-12, abs=1e-12)


def test_population_payoff_of_whole_agents_is_the_mean_of_their_payoffs(problem, distribution):
    counts = allocate(distribution, problem.population.weights, 60, np.random.default_rng(0))
    mean = float((counts / 60 * problem.payoff.cells(counts / 60, 60)).sum())
    assert problem.with_size(60).value(Plan(0, distribution, counts)) == pytest.approx(mean, rel=1e-12, abs=1e-12)


def test_optimum_is_a_distribution(problem):
    best = problem.optimum.distribution
    assert best.shape == problem.population.shape
    assert (best >= 0).all()
    np.testing.assert_allclose(best.sum(axis=1), 1.0, atol=1e-9)


def test_optimum_value_is_that_of_its_distribution(problem):
    found = problem.mean_field_value(problem.optimum.distribution)
    assert found == pytest.approx(problem.optimum.value, rel=1e-9, abs=1e-9)


def test_no_random_distribution_beats_the_optimum(problem):
    contexts, actions = problem.population.shape
    rng = np.random.default_rng(7)
    for spread in (0.05, 0.3, 1.0, 10.0):
        for draw in rng.dirichlet(np.full(actions, spread), size=(50, contexts)):
            assert problem.mean_field_value(draw) <= problem.optimum.value + 1e-9


def test_no_small_change_of_the_optimum_beats_it(problem):
    contexts, actions = problem.population.shape
    rng = np.random.default_rng(8)
    for draw in rng.dirichlet(np.full(actions, 0.1), size=(200, contexts)):
        moved = 0.999 * problem.optimum.distribution + 0.001 * draw
        assert problem.mean_field_value(moved) <= problem.optimum.value + 1e-9


def test_payoff_of_many_agents_converges_to_the_mean_field_value(problem, distribution):
    limit = problem.mean_field_value(distribution)
    errors = [abs(deployed(problem, distribution, size) - limit) for size in (10**4, 10**6, 10**8)]
    assert errors[2] < 1e-5 * max(1.0, abs(limit))
    assert errors[2] < errors[0]


def test_whole_agents_are_worth_the_same_whoever_is_who(problem):
    """Counts are all that matters: the value is a function of the allocation, not of the plan behind it."""
    shape = problem.population.shape
    counts = allocate(uniform(*shape), problem.population.weights, 60, np.random.default_rng(0))
    resized = problem.with_size(60)
    skewed = np.eye(shape[1])[[0] * shape[0]]
    assert resized.value(Plan(0, uniform(*shape), counts)) == resized.value(Plan(1, skewed, counts))


def test_every_offered_kind_of_feedback_is_given(problem, distribution):
    texts = {"system": "system", "agents": "agents:2", "cells": "cells"}
    for kind in problem.feedback:
        seen = Observer(problem.with_size(None), FeedbackKind.parse(texts[kind]))(Plan(0, distribution))
        assert (seen.payoff is not None, bool(seen.agents), seen.cells is not None) == (
            kind == "system",
            kind == "agents",
            kind == "cells",
        )


def test_source_and_license_are_said(problem):
    assert problem.source
    assert problem.license
