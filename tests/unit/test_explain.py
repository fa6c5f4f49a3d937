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


@pytest.mark.parametrize("size", [None, 200])
def test_gain_is_the_change_of_the_expected_payoff_when_one_agent_moves(size):
    study = explained(arena(8, size))
    here = np.full((2, 8), 1 / 8)
    gain = study.explain(here).gain
    share = 0.01 if size is None else 1.0 / (size * 0.5)
    for cell in [(0, 0), (1, 5)]:
        moved = here.copy()
        moved[cell[0]] *= 1 - share * 1e-3
        moved[cell] += share * 1e-3
        change = (study.predict(moved).mean - study.predict(here).mean) * 1e3
        assert gain[cell] == pytest.approx(change, rel=1e-2, abs=1e-7)


def test_gains_of_a_context_cancel_out_over_where_its_agents_are():
    explanation = explained(arena(8, None)).explain()
    np.testing.assert_allclose((explanation.distribution * explanation.gain).sum(axis=1), 0.0, atol=1e-9)


def test_one_more_agent_helps_where_the_reward_is():
    rows = explained(swarm(12, 60)).explain(np.full(12, 1 / 12)).rows()
    assert len(rows) == 12
    assert rows[0]["gain"] == max(row["gain"] for row in rows)
    assert 1.0 < float(rows[0]["action"]) < 2.3
    assert set(rows[0]) == {"context", "action", "share", "payoff", "payoff_sd", "gain"}


def test_a_strategy_without_a_model_explains_nothing():
    study = mfbo.create_study(mfbo.Population(["a", "b"]), "random")
    study.tell(study.ask(), 1.0)
    with pytest.raises(mfbo.InvalidInputError, match="explain"):
        study.explain()
