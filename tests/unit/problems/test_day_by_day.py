"""Problems whose rounds differ: each day has its own situation and optimum, and values are counted from that."""

import numpy as np
import pytest

from mfbo.catalogue import make_problem
from mfbo.experiments import RunSettings, run
from mfbo.problems import FeedbackKind, Observer
from mfbo.records import Plan

NAMES = ("city-days", "city-drift", "bay-area-week")


@pytest.mark.parametrize("name", NAMES)
def test_every_day_has_a_situation_and_an_optimum_of_its_own(name):
    problem = make_problem(name)
    days = [problem.days.at(number) for number in range(30)]
    assert {day.before["day"] for day in days} >= {"weekday", "weekend"}
    for number, day in enumerate(days):
        assert problem.days.situations.values(day.before, when="before") == day.before
        best = Plan(number, day.optimum.distribution)
        assert problem.value(best) == pytest.approx(0.0, abs=1e-12)
        flat = Plan(number, np.full_like(day.optimum.distribution, 1.0 / day.optimum.distribution.size))
        assert problem.value(flat) < -0.01
        wanted = day.optimum.distribution > 0
        assert day.payoff.gradient(day.optimum.distribution)[wanted] == pytest.approx(0.0, abs=1e-9)


def test_rain_moves_what_is_told_and_not_what_counts():
    problem = make_problem("city-days")
    wet, dry = sorted(range(5), key=lambda number: -problem.situation(number)["rain"])[::4]
    flat = np.full((1, len(problem.population.actions)), 1.0 / len(problem.population.actions))
    told = [Observer(problem, FeedbackKind("system"))(Plan(number, flat)).payoff for number in (wet, dry)]
    assert told[0] < told[1] - 0.005
    assert problem.value(Plan(wet, flat)) == pytest.approx(problem.value(Plan(dry, flat)), abs=1e-12)


def test_the_demand_of_a_real_day_is_that_of_its_trips():
    problem = make_problem("bay-area-week")
    assert problem.situation(0) == {"day": "weekday", "date": 16_071.0}  # Wednesday, 2014-01-01
    assert problem.situation(364)["date"] == 16_435.0  # 2014-12-31
    demands = np.stack([problem.days.at(number).optimum.distribution[0] for number in range(365)])
    np.testing.assert_allclose(demands.sum(axis=1), 1.0)
    np.testing.assert_allclose(demands.mean(axis=0), problem.demand, atol=1e-9)  # the mean of the normalized days


def test_a_run_is_judged_by_each_rounds_own_optimum():
    result = run(RunSettings("city-days", rounds=4, noise=0.002))
    assert result.optimum == 0.0
    assert result.cumulative_regret == pytest.approx(-sum(result.values))
    assert max(result.values) < 0.0
