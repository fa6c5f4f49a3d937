"""Studies with situations: said when asking and telling, stored with the round, judged in the current one."""

import json
import sqlite3
import time

import numpy as np
import pytest

import mfbo
from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.health import health
from mfbo.models import induced
from mfbo.sheets.export import exported
from mfbo.storage.memory import MemoryStorage
from mfbo.strategies import replay_plan
from mfbo.strategies.replay_plan import of_all_times
from mfbo.study import restored

SITUATIONS = {
    "day": ["weekday", "weekend"],
    "rain": "number",
    "requests": {"kind": "number", "known": "after"},
}
BEST = {"weekday": np.array([0.6, 0.2, 0.1, 0.1]), "weekend": np.array([0.1, 0.1, 0.3, 0.5])}


def population():
    return mfbo.Population(["a", "b", "c", "d"], size=40)


def weather(number):
    return {"day": "weekend" if number % 7 >= 5 else "weekday", "rain": round(0.37 * number % 1.0, 3)}


def payoff(plan, day):
    return float(3.0 - 2.0 * np.abs(plan.realized[0] - BEST[day["day"]]).sum() - 1.5 * day["rain"])


def played(study, count):
    for number in range(len(study.rounds), len(study.rounds) + count):
        day = weather(number)
        plan = study.ask(situation=day)
        study.tell(plan, payoff(plan, day), situation={"requests": 800.0 + 53.0 * number % 97.0})
    return study


def plans(study):
    return [asked.plan.distribution.tobytes() for asked in study.rounds]


def test_what_is_said_when_asking_and_telling_is_the_rounds_situation():
    study = mfbo.create_study(population(), situations=SITUATIONS)
    plan = study.ask(situation={"day": "weekend", "rain": 0.3})
    assert study.rounds[0].situation == {"day": "weekend", "rain": 0.3}
    done = study.tell(plan, 2.0, situation={"requests": 812, "rain": 0.5})
    assert done.situation == {"day": "weekend", "rain": 0.5, "requests": 812.0}
    past = study.add([[0.25] * 4], 1.0, situation={"day": "weekday"})
    assert past.situation == {"day": "weekday"}


@pytest.mark.parametrize(
    ("situation", "message"),
    [
        ({"wind": 3}, "wind"),
        ({"day": "holiday"}, "must be one of weekday, weekend"),
        ({"rain": "wet"}, "rain"),
        ({"requests": 812}, "known only after"),
        ("weekend", "must map"),
    ],
)
def test_what_cannot_be_understood_is_refused_and_asks_nothing(situation, message):
    study = mfbo.create_study(population(), situations=SITUATIONS)
    with pytest.raises((InvalidInputError, UnknownNameError), match=message):
        study.ask(situation=situation)
    assert study.rounds == ()


def test_a_study_without_situations_says_how_to_have_them():
    study = mfbo.create_study(population())
    with pytest.raises(InvalidInputError, match="declare them"):
        study.ask(situation={"day": "weekend"})
    study.tell(study.ask(), 1.0)
    with pytest.raises(InvalidInputError, match="declare them"):
        study.recommend({"day": "weekend"})


def test_an_open_plan_for_another_situation_is_given_up():
    study = mfbo.create_study(population(), situations=SITUATIONS)
    first = study.ask("ann", situation={"day": "weekday", "rain": 0.2})
    assert study.ask("ann", situation={"day": "weekday"}) is first
    second = study.ask("ann", situation={"day": "weekend"})
    assert (second.number, study.rounds[0].state) == (1, "abandoned")
    assert "another situation" in study.rounds[0].error
    third = study.ask("ann", situation={"day": "weekend", "rain": 0.2})  # what is said now must not be lost
    assert (third.number, study.rounds[2].situation) == (2, {"day": "weekend", "rain": 0.2})


def test_a_stored_study_resumes_to_the_bit_with_its_situations(tmp_path):
    address = f"sqlite:///{tmp_path / 'days.db'}"
    unbroken = played(mfbo.create_study(population(), situations=SITUATIONS, seed=3), 7)
    played(mfbo.create_study(population(), situations=SITUATIONS, seed=3, storage=address, name="city"), 5)
    resumed = mfbo.load_study("city", address)
    assert [done.situation for done in resumed.rounds] == [done.situation for done in unbroken.rounds[:5]]
    assert resumed.history.situations == unbroken.history.situations
    assert plans(played(resumed, 2)) == plans(unbroken)


def test_without_situations_nothing_new_is_stored(tmp_path):
    path = tmp_path / "plain.db"
    study = mfbo.create_study(population(), storage=f"sqlite:///{path}", name="city")
    study.tell(study.ask(), 1.0)
    with sqlite3.connect(path) as database:
        bodies = [body for (body,) in database.execute("select body from events")]
    described = json.loads(study.storage.description("city"))
    assert described["format"] == 1
    assert "situations" not in described
    assert all("situation" not in json.loads(body) for body in bodies)


def test_a_new_category_is_taken_when_it_is_said_to_be_new_and_survives(tmp_path):
    address = f"sqlite:///{tmp_path / 'days.db'}"
    stored = mfbo.create_study(population(), situations=SITUATIONS, storage=address, name="city")
    study = mfbo.create_study(population(), situations=SITUATIONS)
    for either in (stored, study):
        either.tell(played(either, 5).ask(situation={"day": "holiday"}, new_categories=True), 1.0)
    resumed = mfbo.load_study("city", address)
    assert resumed.history.situations.by_name["day"].categories == ("weekday", "weekend", "holiday")
    day = {"day": "holiday", "rain": 0.1}
    np.testing.assert_array_equal(study.ask(situation=day).distribution, resumed.ask(situation=day).distribution)


def test_days_that_differ_in_their_situation_alone_are_different_days():
    study = mfbo.create_study(population(), situations=SITUATIONS)
    flat = [[0.25] * 4]
    days = [(flat, 1.0, {"rain": 0.1}), (flat, 1.0, {"rain": 0.2}), (flat, 1.0, {"rain": 0.1})]
    assert len(study.add_missing(days[:2])) == 2
    assert len(study.add_missing(days)) == 1


def test_each_situation_has_its_own_plan_and_levels_are_taken_out():
    study = played(mfbo.create_study(population(), situations=SITUATIONS, seed=1, noise=0.02), 42)
    for day, best in BEST.items():
        recommended = study.recommend({"day": day}).realized[0]
        other = BEST["weekend" if day == "weekday" else "weekday"]
        assert np.abs(recommended - best).sum() < 0.5 * np.abs(recommended - other).sum()
    dry, wet = (study.predict([[0.25] * 4], {"day": "weekday", "rain": rain}) for rain in (0.1, 0.9))
    assert dry.mean - wet.mean == pytest.approx(1.2, abs=0.3)
    told = [done.payoff for done in study.history.told]
    mean, sd = study.expected()
    assert np.corrcoef(told, mean)[0, 1] > 0.98
    assert (sd > 0).all()
    assert study.best is study.best_expected
    assert study.explain(situation={"day": "weekend"}).mean == pytest.approx(
        study.predict(study.recommend({"day": "weekend"}).realized, {"day": "weekend"}).mean
    )


def test_an_earning_study_guards_the_status_quo_in_the_current_situation():
    study = mfbo.create_study(population(), situations=SITUATIONS, aim="earn", start=[[10, 10, 10, 10]])
    played(study, 8)
    assert {"guard", "step"} <= set(study.rounds[-1].notes)
    np.testing.assert_array_equal(study.rounds[0].plan.allocation, [[10, 10, 10, 10]])


def test_beyond_the_budget_newest_rounds_and_some_spread_over_the_others_stay():
    study = mfbo.create_study(population(), situations=SITUATIONS)
    for number in range(700):
        study.add([[0.25] * 4], float(number), situation={"rain": 0.1})
    left = [done.number for done in of_all_times(study.history.told, 350)]
    assert len(left) == 350
    assert left == sorted(set(left))
    assert left[0] == 0
    assert left[-175:] == list(range(525, 700))


def test_beyond_the_budget_the_sparse_process_takes_over_and_resumes_to_the_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(replay_plan, "ROW_BUDGET", 12)
    monkeypatch.setattr(induced, "INDUCING", 8)
    monkeypatch.setattr(induced, "FEWEST_ROUNDS", 4)
    address = f"sqlite:///{tmp_path / 'studies.db'}"
    unbroken = played(mfbo.create_study(population(), situations=SITUATIONS, seed=3), 17)
    played(mfbo.create_study(population(), situations=SITUATIONS, seed=3, storage=address, name="city"), 16)
    resumed = played(mfbo.load_study("city", address), 1)
    assert resumed.rounds[-1].notes["setting"][1] == "sparse"
    np.testing.assert_array_equal(resumed.rounds[-1].plan.distribution, unbroken.rounds[-1].plan.distribution)
    error = next(check for check in health(resumed) if check.name == "model error")
    assert "predicted from the earlier ones" in error.message


def test_open_plans_and_other_model_strategies_work_in_situations():
    for strategy in ("default", "mf-gp-ucb"):
        study = played(mfbo.create_study(population(), strategy, situations=SITUATIONS, seed=2), 4)
        first = study.ask(situation={"day": "weekend"})
        second = study.ask(situation={"day": "weekend"})
        assert not np.array_equal(first.distribution, second.distribution)


def weather_study(rounds=30, **options):
    """Payoffs that are mostly rain: -10 a unit; what plans decide is a hundredth of that."""
    study = mfbo.create_study(mfbo.Population(["a", "b", "c"]), situations={"rain": "number"}, seed=1, **options)
    rng = np.random.default_rng(3)
    for _ in range(rounds):
        rain, shares = float(rng.random()), rng.dirichlet(np.ones(3))
        study.add([shares], float(0.1 * shares[0] - 10.0 * rain), situation={"rain": rain})
    return study


def test_levels_of_days_are_taken_out_of_payoffs():
    study = weather_study()
    payoffs = np.array([done.payoff for done in study.history.told])
    rain = np.array([done.situation["rain"] for done in study.history.told])
    levels = study.day_levels()
    np.testing.assert_allclose(levels - levels.mean(), -10.0 * (rain - rain.mean()), atol=0.05)
    assert np.std(payoffs - levels) < 0.05 * np.std(payoffs)
    assert mfbo.create_study(mfbo.Population(["a", "b"])).day_levels() is None


def test_what_is_unknown_of_a_day_makes_no_plan_more_uncertain():
    """A level that is known only afterwards is averaged over when planning: its variance is not that of one day."""
    variables = {"requests": {"kind": "number", "known": "after"}}
    study = mfbo.create_study(mfbo.Population(["a", "b", "c"]), situations=variables, seed=1)
    rng = np.random.default_rng(3)
    for _ in range(40):
        requests, shares = float(rng.standard_normal()), rng.dirichlet(np.ones(3))
        study.add([shares], float(0.1 * shares[0] + 10.0 * requests), situation={"requests": requests})
    assert study.predict([[1 / 3, 1 / 3, 1 / 3]]).sd < 2.0


@pytest.mark.parametrize("told", ["cells", "agents"])
def test_payoffs_of_agents_are_learned_by_situation_as_well(told):
    study = mfbo.create_study(mfbo.Population(["a", "b", "c", "d"], size=40), situations=SITUATIONS, seed=0)
    for number in range(14):
        day = "weekend" if number % 2 else "weekday"
        plan = study.ask(situation={"day": day})
        payoffs = np.minimum(1.0, BEST[day] / np.maximum(plan.realized[0], 1e-9)) + (0.5 if day == "weekend" else 0.0)
        if told == "cells":
            study.tell(plan, cells=payoffs[None])
        else:
            seen = [(0, action, payoff) for action, payoff in enumerate(payoffs.tolist()) if plan.allocation[0, action]]
            study.tell(plan, agents=seen)
    for day, best in BEST.items():
        found = study.recommend({"day": day}).realized[0]
        assert np.abs(found - best).sum() < np.abs(found - BEST["weekend" if day == "weekday" else "weekday"]).sum()


def test_what_was_said_of_a_day_can_become_unknown_again(tmp_path):
    address = f"sqlite:///{tmp_path / 'days.db'}"
    for storage in ({}, {"storage": address, "name": "city"}):
        study = mfbo.create_study(population(), situations=SITUATIONS, **storage)
        study.tell(study.ask(situation={"day": "weekday", "rain": 0.4}), 1.0, situation={"requests": 800})
        study.amend(0, situation={"day": None, "requests": 790})
        assert study.rounds[0].situation == {"rain": 0.4, "requests": 790.0}
    assert study.log()[-1].said == {"situation": {"requests": 790.0}, "unknown": ["day"]}
    assert mfbo.load_study("city", address).rounds[0].situation == study.rounds[0].situation
    with pytest.raises(UnknownNameError, match="wind"):
        study.amend(0, situation={"wind": None})


def test_a_plan_for_a_day_to_come_is_held_until_that_day_and_the_usual_time_after_it():
    now = time.time()
    study = mfbo.create_study(population(), situations={"date": "time"}, lease_seconds=3600.0)
    for days in (-30.0, 6.0, 1e9):
        study.ask(situation={"date": now / 86_400.0 + days})
    expires = [asked.lease.expires - now - 3600.0 for asked in study.rounds]
    assert expires == pytest.approx([0.0, 6 * 86_400.0, 366 * 86_400.0], abs=60.0)


def test_an_archive_of_many_days_holds_their_situations_to_the_bit():
    study = mfbo.create_study(population(), situations=SITUATIONS, storage=MemoryStorage(), name="city", seed=2)
    rng = np.random.default_rng(1)
    for number in range(120):
        day = {**weather(number), "requests": float(rng.normal(800.0, 90.0))}
        study.add([rng.dirichlet(np.ones(4))], float(rng.normal()), situation=day if number % 9 else {})
    copied = restored(exported(study, ".mfbo"), MemoryStorage(), "copy")
    assert [done.situation for done in copied.rounds] == [done.situation for done in study.rounds]
    day = {"day": "weekend", "rain": 0.3}
    np.testing.assert_array_equal(copied.ask(situation=day).distribution, study.ask(situation=day).distribution)
