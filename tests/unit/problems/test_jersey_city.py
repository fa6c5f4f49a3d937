"""`jersey-city`: drawn days agree with the counts they are drawn from, and the best known placement is what it says."""

import numpy as np
import pytest

from mfbo.catalogue import make_problem
from mfbo.problems import RULES, FeedbackKind, Observer, forecast_plan
from mfbo.problems.tables import Trips
from mfbo.problems.trip_counts import QUANTILES, TripCounts, counted_trips, drawn_trips
from mfbo.records import Plan


@pytest.fixture(scope="module")
def problem():
    return make_problem("jersey-city")


def test_the_best_known_placement_has_its_value_and_is_said_to_be_a_lower_bound(problem):
    best = problem.optimum
    counts = np.rint(100 * best.distribution).astype(int)
    assert counts.sum() == 100
    assert problem.value(Plan(0, best.distribution, counts)) == pytest.approx(best.value, abs=1e-12)
    assert not best.proven
    assert "lower bound" in problem.note


def test_the_best_known_placement_beats_the_rules_and_single_moves(problem):
    payoff, best = problem.payoff, problem.optimum.value
    for rule in RULES:
        assert payoff.daily(forecast_plan(payoff.trips, 100, rule)).mean() < best
    rng = np.random.default_rng(0)
    counts = np.rint(100 * problem.optimum.distribution[0]).astype(int)
    for _ in range(40):
        moved = counts.copy()
        moved[rng.choice(np.flatnonzero(moved))] -= 1
        moved[rng.integers(len(moved))] += 1
        assert payoff.daily(moved).mean() <= best + 1e-12


def test_it_gives_system_feedback_and_says_where_it_comes_from(problem):
    distribution = np.full((1, 51), 1 / 51)
    seen = Observer(problem, FeedbackKind.parse("system"))(Plan(0, distribution))
    assert 0 < seen.payoff < 1
    assert problem.feedback == ("system",)
    assert "Citi Bike" in problem.source
    assert "drawn anew" in problem.license


def test_drawn_days_agree_with_the_counts(problem):
    trips = problem.payoff.trips
    counts = counted_trips(trips)
    embedded = _embedded()
    assert counts.totals.sum() == pytest.approx(embedded.totals.sum(), rel=0.03)
    assert np.corrcoef(counts.totals, embedded.totals)[0, 1] > 0.98
    assert np.corrcoef(counts.starts.ravel(), embedded.starts.ravel())[0, 1] > 0.95
    assert np.corrcoef(counts.flows.ravel(), embedded.flows.ravel())[0, 1] > 0.85


def test_a_draw_depends_on_its_seed_alone_and_never_changes():
    counts = _embedded()
    one, again, other = drawn_trips(counts, 3), drawn_trips(counts, 3), drawn_trips(counts, 4)
    np.testing.assert_array_equal(one.starts, again.starts)
    assert len(one) != len(other) or (one.starts != other.starts).any()


def test_counts_survive_their_record():
    counts = _embedded()
    again = TripCounts.from_record(counts.to_record())
    for name in ("days", "totals", "starts", "flows"):
        np.testing.assert_array_equal(getattr(again, name), getattr(counts, name))
    assert again.stations == counts.stations


def test_counting_sums_what_is_there():
    day = 737_730  # a Sunday
    trips = Trips(
        ("a", "b", "c"),
        [[-74.0, 40.7], [-74.0, 40.71], [-74.0, 40.74]],
        [day, day, day + 1, day + 1],
        [7 * 3600.0, 7.5 * 3600, 12 * 3600, 23 * 3600],
        [0, 0, 1, 0],
        [7 * 3600.0 + 600, 8 * 3600, 12 * 3600 + 1200, np.nan],
        [1, 0, 2, -1],
    )
    counts = counted_trips(trips)
    assert counts.totals.tolist() == [2, 2]
    assert counts.starts[1, 7].tolist() == [2, 0, 0]
    assert counts.starts[0, 12].tolist() == [0, 1, 0]
    assert counts.flows[1, 0].tolist() == [1, 1, 0, 0]
    assert counts.flows[3, 0].tolist() == [0, 0, 0, 1]
    east = np.hypot(0, 0.01) * 111.195
    assert counts.pace[0] + counts.pace[1] * east == pytest.approx(10.0)
    assert counts.pace[0] + counts.pace[1] * 3 * east == pytest.approx(20.0)
    assert counts.stretch.shape == (2, len(QUANTILES))


def _embedded() -> TripCounts:
    import json
    from importlib import resources

    text = resources.files("mfbo.problems").joinpath("data/jersey-city.json").read_text(encoding="utf-8")
    return TripCounts.from_record(json.loads(text)["counts"])
