"""What pages say of a study: the same numbers as the library, for studies of every kind, changing nothing."""

import numpy as np
import pytest

import mfbo
from mfbo.serve.pages.views import listing, model, progress, tell, today
from mfbo.serve.pages.views.fleet import events_seen
from mfbo.serve.pages.wording import number

HOSTILE = "<img src=x onerror=alert(1)>"


def _study(name="s", rounds=6, **options):
    population = options.pop("population", None) or mfbo.Population(
        {"name": ["Harbor", "Market", HOSTILE], "x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 0.5]},
        size=30,
        placed=[10, 10, 10],
    )
    study = mfbo.create_study(population, storage="memory", name=name, **options)
    for _ in range(rounds):
        plan = study.ask()
        study.tell(plan, payoff=float(np.sqrt(plan.realized).sum()))
    return study


@pytest.fixture(scope="module")
def study():
    return _study()


def test_today_says_what_the_library_says(study):
    plan = study.ask(worker="van")
    shown = today.today(study)["plan"]
    said = study.predict(plan.realized)
    assert shown["number"] == plan.number
    assert shown["worker"] == "van"
    assert shown["why"]["expected"] == said.mean
    assert shown["why"]["half"] == 2 * said.sd
    moves = study.moves(plan)
    assert shown["moved"] == moves.moved
    assert sum(visit["change"] for visit in shown["visits"] if visit["change"] > 0) == moves.moved
    assert {stop[0]: stop[1] for stop in shown["map"].rows} == dict(
        zip(study.population.actions, plan.allocation[0].tolist(), strict=True)
    )
    study.abandon(plan)


def test_the_gain_of_a_plan_is_against_the_first_plan_if_no_status_quo_is_named(study):
    plan = study.ask()
    shown = today.today(study)["plan"]["why"]
    first = study.rounds[0].played
    assert shown["gain"] == pytest.approx(study.predict(plan.realized).mean - study.predict(first).mean)
    assert 0 <= shown["worse"] <= 1
    study.abandon(plan)


def test_without_an_open_plan_today_asks_for_one(study):
    shown = today.today(study)
    assert shown["plan"] is None
    assert [station["name"] for station in shown["stations"]] == list(study.population.actions)


def test_progress_has_every_told_payoff_and_its_expectation(study):
    shown = progress.progress(study, optimum=2.0)
    chart, gains, regret = shown["charts"]
    mean, sd = study.expected()
    rows = np.array([row[1:3] for row in chart.rows], dtype=float)
    np.testing.assert_allclose(rows[:, 0], mean)
    np.testing.assert_allclose(rows[:, 1], 2 * sd)
    assert [row[-1] for row in chart.rows] == [done.payoff for done in study.history.told]
    assert regret.rows[0][-1] == pytest.approx(2.0 - study.history.told[0].payoff)
    assert gains.rows[-1][2] == pytest.approx(shown["figures"]["total"])


def test_the_model_page_shows_the_librarys_explanation(study):
    shown = model.model(study, station="Market")
    rows = {row["action"]: row for row in study.explain().rows()}
    assert {row[0]: row[1] for row in shown["value"].rows} == {
        name: row["gain"] for name, row in rows.items() if row["gain"] is not None
    }
    assert shown["slices"][0].title == "Market"
    assert next(what for what, _ in shown["believed"]) == "Luck of one round"
    kernel, fit = study.strategy.belief(study.history).process.kernel, study.strategy.belief(study.history).note.fit
    place = [term.name for term in kernel.terms].index("hellinger")
    length = kernel.terms[place].radial.norm ** 0.5 * kernel.values(fit.theta).lengths[place]
    assert f"(length {number(length)};" in dict(shown["believed"])["Reach"]


def test_a_slice_is_the_payoff_of_plans_with_that_share(study):
    chart = model.model(study, station="Harbor")["slices"][0]
    plan = study.explain().distribution
    for agents, payoff, _ in chart.rows:
        changed = plan.copy()
        changed[0, 1:] *= (1 - agents / 30) / changed[0, 1:].sum()
        changed[0, 0] = agents / 30
        assert payoff == pytest.approx(study.predict(changed).mean, abs=1e-9)


KINDS = {
    "contexts": {
        "population": mfbo.Population(["a", "b", HOSTILE], contexts={"calm": 0.5, HOSTILE: 0.5}, size=40),
        "rounds": 3,
    },
    "shares": {"population": mfbo.Population(["a", "b"]), "rounds": 3},
    "no model": {"strategy": "random", "rounds": 3},
    "nothing told": {"rounds": 0},
    "totals": {"payoff_is": "total", "rounds": 3},
    "earning": {"aim": "earn", "start": [12, 9, 9], "rounds": 3},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_shows_every_kind_of_study(kind):
    study = _study(**KINDS[kind])
    plan = study.ask(worker=HOSTILE)
    before = len(study.log())
    for shown in (today.today(study), tell.tell(study), tell.tell(study, 0), progress.progress(study)):
        assert shown["study"]["name"] == "s"
    assert model.model(study)["known"] == (kind not in ("no model", "nothing told"))
    assert progress.comparison([progress.compared(study)]) is not None
    assert listing.card(study)["waiting"] == [{"number": plan.number, "worker": HOSTILE, "expired": False}]
    assert listing.pulse(study)["state"] == "too early to say"
    assert today.plan_csv(study, plan.number).startswith("station,context,")
    assert len(study.log()) == before


def test_totals_are_shown_as_totals():
    study = _study(payoff_is="total", rounds=4)
    plan = study.ask()
    assert today.today(study)["plan"]["why"]["expected"] == pytest.approx(30 * study.predict(plan.realized).mean)
    study.tell(plan, cells=[[2.0, 2.0, 2.0]])  # of each agent
    assert listing.card(study)["latest"]["payoff"] == 60.0
    assert tell.tell(study)["rounds"][0]["payoff"] == 60.0


def test_situations_are_asked_for_and_limit_the_chart():
    study = _study(rounds=0, situations={"day": ["weekday", "weekend"], "riders": {"kind": "number", "known": "after"}})
    for day in ("weekday", "weekend", "weekday"):
        study.tell(study.ask(situation={"day": day}), payoff=1.0, situation={"riders": 7})
    assert [field["name"] for field in today.today(study)["situation"]] == ["day"]
    assert [field["value"] for field in tell.tell(study, 1)["plan"]["situation"]] == ["weekend", "7"]
    chart = progress.progress(study, situation="day=weekend")["charts"][0]
    assert [row[-1] for row in chart.rows] == [None, 1.0, None]


def test_pages_know_how_many_events_the_log_has():
    study = _study(rounds=2)
    study.add([[0.5, 0.25, 0.25]], payoff=1.0)
    study.amend(0, payoff=3.0)
    study.withdraw(1)
    study.change(size=33)
    study.fail(study.ask(), "rain")
    study.abandon(study.ask())
    study.ask()
    assert events_seen(study) == len(study.log())


def test_corrections_are_offered_where_they_are_possible():
    study = _study(rounds=2)
    study.withdraw(0, by="ann", reason="wrong day")
    rows = {row["number"]: row for row in tell.tell(study)["rounds"]}
    assert rows[0]["can"] == ["reinstate"]
    assert "wrong day" in rows[0]["note"]
    assert rows[1]["can"] == ["amend", "withdraw"]
