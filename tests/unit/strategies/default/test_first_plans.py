"""The plans before the model: uniform, again uniform, random; fewer when agents are sampled or days were brought."""

import numpy as np
import pytest

from mfbo import Feedback, History, Plan, Population, Round
from mfbo.simplex import uniform
from mfbo.strategies.default.first_plans import first_plan
from mfbo.strategies.default.seen import Seen, data_kind

POPULATION = Population(["a", "b", "c"])
SYSTEM, AGENT = Feedback(1.0), Feedback(agents=((0, 1, 0.5),))


def history(rounds: int, feedback: Feedback | None, **settings) -> History:
    asked = [Round(Plan(i, uniform(1, 3))) for i in range(rounds)]
    told = [each if feedback is None else each.done(feedback, uniform(1, 3), each.number) for each in asked]
    return History(POPULATION, tuple(told), **settings)


def plan_after(history: History) -> str:
    plan = first_plan(Seen.of(history, data_kind(history.told, history.noise)), np.random.default_rng(0))
    if plan is None:
        return "model"
    return "uniform" if np.array_equal(plan, uniform(1, 3)) else "random"


@pytest.mark.parametrize(
    ("feedback", "settings", "plans"),
    [
        (SYSTEM, {}, ["uniform", "uniform", "random", "model"]),
        (SYSTEM, {"noise": 0.1}, ["uniform", "uniform", "random", "model"]),
        (SYSTEM, {"steers": "planned"}, ["uniform", "random", "model", "model"]),
        (AGENT, {}, ["uniform", "random", "random", "random", "random", "model"]),
        (None, {}, ["uniform", "random", "random", "random", "random", "random", "random"]),
    ],
)
def test_first_plans_follow_from_what_is_told(feedback, settings, plans):
    assert [plan_after(history(number, feedback, **settings)) for number in range(len(plans))] == plans


def test_days_brought_along_replace_them():
    past = Round(Plan(0, uniform(1, 3)), added=True).done(SYSTEM, uniform(1, 3), 0)
    assert plan_after(History(POPULATION, (past,))) == "model"


def test_first_plans_keep_the_limits():
    limited = Population(["a", "b", "c"], size=9, capacity={"a": 1})
    plan = first_plan(Seen.of(History(limited), "exact"), np.random.default_rng(0))
    assert plan[0, 0] <= 1 / 9 + 1e-9
