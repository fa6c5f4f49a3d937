"""Demand where agents merely stand: the terms against their formula, their gradients, and what the map tells."""

from dataclasses import replace

import numpy as np
import pytest

from mfbo import Population
from mfbo.models import Fit, GaussianProcess, SparseProcess, demand_terms
from mfbo.models.fitting import MarginalLikelihood
from mfbo.models.street_demand import COMMON, OWN, STANDING, _means_of_nearest

GRID = [(float(x), float(y)) for x in range(6) for y in range(6)]


@pytest.fixture
def standing(make_case):
    """Return a case whose kernel is demand around a plan where agents stand, and that plan."""
    case = make_case("default", 1)
    plan = case.distribution()
    terms = (*demand_terms(case.population, plan), case.kernel.terms[-1])
    kernel = replace(case.kernel, terms=terms)
    theta = kernel.start.copy()
    theta[-1] = np.log(1e-2)
    return replace(case, kernel=kernel, theta=theta), plan


def variance_of_evening_out(placed, features=GRID):
    """Return the prior variance of what half the way to an even plan brings, by name of the term."""
    people = Population({f"s{i}": place for i, place in enumerate(features)}) if features else Population([*"abcd"])
    start = (placed / placed.sum())[None]
    plan = 0.5 * start + 0.5 / len(placed)
    found = {}
    for term in demand_terms(people, start):
        rows = term.feature.of_rows(plan[None], plan[None])
        found[term.name] = term.weight.median * term.pairs({term.feature: rows}, 0, 1)[0, 0, 0]
    return found


def test_a_place_is_worth_the_root_of_its_share_in_units_of_the_status_quo():
    placed = np.array([4.0, 1.0, 1.0, 2.0])
    start = placed / placed.sum()
    found = variance_of_evening_out(placed, None)
    changes = (np.sqrt(0.5 * start + 0.125) - np.sqrt(start)) / np.sqrt(start).sum()
    slopes = np.sqrt(start) / np.sqrt(start).mean() - 1.0
    assert found["demand/own"] == pytest.approx(OWN.median * (changes**2).sum(), rel=0.01)  # up to the offset
    assert found["demand/standing"] == pytest.approx(STANDING.median * (changes @ slopes) ** 2, rel=0.01)
    assert found["demand/common"] == pytest.approx(COMMON.median * (changes @ slopes) ** 2, rel=0.01)  # no neighbors


def test_agents_that_stand_alike_among_neighbors_may_stand_where_they_are_wanted():
    along = np.array([1.0 + x for x, _ in GRID])
    by_chance = np.random.default_rng(3).permutation(along)
    smooth, rough = variance_of_evening_out(along), variance_of_evening_out(by_chance)
    assert smooth["demand/own"] == pytest.approx(rough["demand/own"])
    assert smooth["demand/common"] > 3.0 * rough["demand/common"]


def test_an_even_placement_tells_nothing_of_where_agents_are_wanted():
    assert list(variance_of_evening_out(np.ones(36))) == ["demand/own", "demand/near"]


def test_their_gradients(standing, finite_differences):
    case, _ = standing
    posterior = case.process(case.rounds("system")).posterior()
    at = case.distribution()

    def scalar(distribution):
        moments = posterior.population(distribution)
        return 1.3 * moments.mean - 0.7 * moments.variance

    numerical = finite_differences(scalar, at)
    np.testing.assert_allclose(posterior.population(at).pullback(1.3, -0.7), numerical, rtol=1e-5, atol=1e-6)


def test_their_weights_are_learned(standing, finite_differences):
    case, _ = standing
    design = case.process(case.rounds("system", count=3)).design
    objective = MarginalLikelihood(design, design.values, None)
    numerical = finite_differences(lambda theta: objective(theta)[0], case.theta, step=1e-3)
    np.testing.assert_allclose(objective(case.theta)[1], numerical, rtol=1e-5, atol=1e-6)


def test_many_rows_are_read_alike(standing):
    case, plan = standing
    exact, sparse = GaussianProcess(case.kernel), SparseProcess(case.kernel)
    for rows in case.rounds("system", 12):
        exact.append(rows)
        sparse.append(rows)
    for process in (exact, sparse):
        process.adopt(Fit(case.theta, 0.0, 1.0))
    ours, theirs = exact.posterior().population(plan), sparse.posterior().population(plan)
    assert theirs.mean == pytest.approx(ours.mean, rel=1e-4)
    assert theirs.variance == pytest.approx(ours.variance, rel=1e-3)


def test_neighbors_on_a_map_too_large_for_all_of_them_are_the_nearest():
    rng = np.random.default_rng(4)
    values = rng.normal(size=400)
    for places in (rng.uniform(size=(400, 2)), np.linspace(0.0, 1.0, 400)[:, None]):
        length = 400 ** (-1.0 / places.shape[1]) / places.shape[1] ** 0.5
        squared = ((places[:, None] - places) ** 2).mean(axis=2)
        weights = np.exp(-0.5 * squared / length**2)
        exact = weights @ values / weights.sum(axis=1)
        np.testing.assert_allclose(_means_of_nearest(values, places, length), exact, atol=1e-3)
    line = Population(np.linspace(0.0, 1.0, 2000)[:, None], size=4000)
    terms = demand_terms(line, rng.dirichlet(np.ones(2000), size=1))
    shares = rng.dirichlet(np.ones(2000), size=(3, 1))
    for term in terms:
        columns = {source: source.of_rows(shares, shares) for source in term.sources}
        assert np.isfinite(term.pairs(columns, 0, 3)).all(), term.name
