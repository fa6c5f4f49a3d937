"""What an operator asks of a model: what to expect, and where one more agent helps."""

import numpy as np
import pytest

import mfbo
from mfbo.problems import FeedbackKind, Observer, arena, swarm


def explained(problem, kind="cells", rounds=8):
    study = mfbo.create_study(problem.population, seed=0)
    look = Observer(problem, FeedbackKind.parse(kind), seed=0)
    for _ in range(rounds):
        plan = study.ask()
        study.tell(plan, look(plan))
    return study


def test_in_the_mean_field_limit_a_hundredth_of_the_agents_moves():
    study = explained(arena(8, None))
    here = np.full((2, 8), 1 / 8)
    explanation = study.explain(here)
    for cell in [(0, 0), (1, 5)]:
        moved = here.copy()
        moved[cell[0]] *= 0.99
        moved[cell] += 0.01
        change = study.predict(moved).mean - study.predict(here).mean
        assert explanation.gain[cell] == pytest.approx(change, rel=1e-6, abs=1e-9)
    assert (explanation.source == -1).all()
    assert explanation.unit == "payoff per hundredth of a context's agents moved"


def test_a_gain_is_that_of_one_agent_that_leaves_a_place_where_it_stands():
    study = explained(arena(8, 200))
    explanation = study.explain(np.full((2, 8), 1 / 8))
    counts = np.rint(explanation.distribution * 100).astype(int)
    assert explanation.unit == "payoff per agent moved"
    for row in explanation.rows():
        context = study.population.context_index(row["context"])
        there, source = (study.population.action_index(row[key]) for key in ("action", "source"))
        moved = counts.copy()
        moved[context, source] -= 1
        moved[context, there] += 1
        change = study.predict(moved / 100).mean - study.predict(counts / 100).mean
        assert row["gain"] == pytest.approx(change, rel=1e-6, abs=1e-9)


def test_no_other_place_is_left_with_a_much_higher_gain():
    """The source is chosen once per context, by where an agent is missed least; all pairs agree but for curvature."""
    study = explained(arena(8, 200))
    posterior = study.strategy.posterior(study.history)
    explanation = study.explain()
    start, one = explanation.distribution, 1 / 100
    for context in range(2):
        for action in range(8):
            pairs = []
            for source in np.flatnonzero(start[context] > 0):
                if source != action:
                    moved = start.copy()
                    moved[context, source] -= one
                    moved[context, action] += one
                    pairs.append(np.maximum(moved, 0.0))
            best = posterior.changes(start, np.stack(pairs))[0].max()
            assert explanation.gain[context, action] == pytest.approx(best, rel=0.05, abs=2e-3 * explanation.sd + 1e-6)


def test_the_uncertainty_of_a_gain_is_that_of_the_change_alone():
    """Smaller than that of the payoff itself, and in step with the share of one agent."""
    here = np.array([1, 3, 9, 10, 8, 7, 6, 5, 4, 3, 2, 2]) / 60
    small, large = (explained(swarm(12, size)).explain(here) for size in (60, 600))
    assert (small.gain_sd > 0).all()
    assert (small.gain_sd < small.sd).all()
    ratio = small.gain_sd / large.gain_sd
    assert (ratio > 4).all()
    assert (ratio < 25).all()


LIMITED = {
    "size": 20,
    "capacity": {"full": 4, "closed": 0},
    "forbidden": ["shut"],
    "fixed": {"fixed": 3},
    "minimum": {"least": 5},
}
PLACES = ["full", "closed", "shut", "fixed", "least", "open", "empty"]


def test_gains_respect_what_one_agent_can_do():
    """No agent goes where there is no room, none leaves where it must stay or nobody stands."""
    study = mfbo.create_study(mfbo.Population(PLACES, **LIMITED))
    for number in range(8):
        plan = study.ask()
        study.tell(plan, float(plan.realized[0] @ [9, 50, 40, 30, 1, 2, 3]) + 0.01 * number)
    shares = np.array([4, 0, 0, 3, 5, 8, 0]) / 20
    rows = {row["action"]: row for row in study.explain(shares).rows()}
    assert {name for name, row in rows.items() if row["gain"] is None} == {"full", "closed", "shut", "fixed"}
    assert {name for name, row in rows.items() if row["source"] is None} == {"full", "closed", "shut", "fixed"}
    assert rows["least"]["source"] == "open"
    assert rows["empty"]["source"] == "open"
    assert rows["open"]["source"] == "full"
    assert [row["gain"] is None for row in study.explain(shares).rows()] == [False] * 3 + [True] * 4


def test_where_nobody_may_move_no_gain_is_shown():
    study = mfbo.create_study(mfbo.Population(["a", "b"], size=4, fixed={"a": 1, "b": 3}))
    study.tell(study.ask(), 1.0)
    assert all(row["gain"] is None for row in study.explain().rows())


def test_one_more_agent_helps_where_the_reward_is():
    rows = explained(swarm(12, 60)).explain(np.full(12, 1 / 12)).rows()
    assert len(rows) == 12
    assert rows[0]["gain"] == max(row["gain"] for row in rows)
    assert 1.0 < float(rows[0]["action"]) < 2.3
    assert set(rows[0]) == {"context", "action", "share", "payoff", "payoff_sd", "gain", "gain_sd", "source"}


def test_what_is_expected_of_the_rounds_is_what_is_predicted_of_them():
    study = explained(arena(8, 200))
    mean, sd = study.expected()
    for index, each in enumerate(study.history.told):
        said = study.predict(each.played)
        assert (mean[index], sd[index]) == (said.mean, said.sd)
    assert study.best_expected is study.history.told[int(np.argmax(mean))]


def test_a_lucky_day_is_the_best_told_but_not_the_best_expected():
    study = mfbo.create_study(mfbo.Population(["a", "b", "c"], size=30), noise=1.0)
    for number in range(12):
        plan = study.ask()
        study.tell(plan, 3.0 if number == 3 else float(plan.realized[0, 0]))
    assert study.best.number == 3
    assert study.expected()[0].max() < 2.0


def test_a_strategy_without_a_model_explains_nothing():
    study = mfbo.create_study(mfbo.Population(["a", "b"]), "random")
    study.tell(study.ask(), 1.0)
    with pytest.raises(mfbo.InvalidInputError, match="explain"):
        study.explain()
