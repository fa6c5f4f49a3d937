"""A study whose record of a change is damaged keeps the rounds after it; what was lost is said, nothing is guessed."""

import gc
import sqlite3

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.storage.repair import repair

FEATURES = {"name": ["a", "b", "c"], "x": [0.0, 1.0, 5.0]}


def lived(file, features=True):
    """A study that opens d, plays, opens e and f, plays, and grows; return what was played in every round."""
    population = Population(FEATURES if features else FEATURES["name"], size=12)
    study = create_study(population, "random", storage=f"sqlite:///{file}", name="one", seed=5)

    def play(count):
        for _ in range(count):
            study.tell(study.ask(), 1.5 + len(study.rounds))

    def opened(*names):
        return dict.fromkeys(names, 2.0) if features else list(names)

    play(2)
    study.change(open=opened("d"))
    play(2)
    study.change(open=opened("e", "f"), rename={"d": "D"}, capacity={"d": 11})
    play(2)
    study.change(size=15)
    play(1)
    played = [done.played for done in study.rounds]
    study.storage.close()
    gc.collect()
    return played


def damage(file, *sequences):
    connection = sqlite3.connect(file)
    for sequence in sequences:
        connection.execute("UPDATE events SET body = '{}' WHERE sequence = ?", (sequence,))
    connection.commit()
    connection.close()


def changes(file):
    connection = sqlite3.connect(file)
    found = [row[0] for row in connection.execute("SELECT sequence FROM events WHERE kind = 'changed' ORDER BY 1")]
    connection.close()
    return found


def repaired(file):
    outcome = repair(file)
    return load_study("one", f"sqlite:///{file}"), " / ".join(outcome.lost)


@pytest.mark.parametrize("features", [True, False])
def test_rounds_after_a_lost_opening_stay_at_their_stations(tmp_path, features):
    file = tmp_path / "studies.db"
    played = lived(file, features)
    damage(file, changes(file)[0])
    study, lost = repaired(file)
    assert study.population.actions == ("a", "b", "c", "lost station 1", "e", "f")
    assert study.population.closed == ("lost station 1",)
    for before, after in zip(played, study.rounds, strict=True):
        assert np.array_equal(before, after.played)
        assert after.payoff is not None
    assert "lost station 1" in lost
    assert "a change could in part be kept" in lost  # the second one speaks of d, which nobody knows any more
    plan = study.ask()
    assert plan.allocation.sum() == 15
    assert plan.allocation[0, 3] == 0
    study.tell(plan, 1.0)
    assert load_study("one", f"sqlite:///{file}").rounds[-1].payoff == 1.0


def test_two_lost_openings_in_a_row_stand_in_their_order(tmp_path):
    file = tmp_path / "studies.db"
    played = lived(file)
    damage(file, *changes(file)[:2])
    study, lost = repaired(file)
    assert study.population.shape[1] == 6
    assert [done.payoff for done in study.rounds] == [2.5 + number for number in range(7)]
    assert all(np.array_equal(one, done.played) for one, done in zip(played, study.rounds, strict=True))
    assert lost.count("a change was lost") == 2


def test_a_lost_plan_beside_a_lost_change_is_told_in_the_new_shape(tmp_path):
    file = tmp_path / "studies.db"
    lived(file)
    first = changes(file)[0]
    damage(file, first, first + 1)  # the change, and the plan after it
    study, lost = repaired(file)
    assert [done.payoff for done in study.rounds] == [2.5 + number for number in range(7)]
    assert "plan 2 was lost, its result is kept" in lost


def test_a_lost_change_of_the_fleet_is_said(tmp_path):
    file = tmp_path / "studies.db"
    lived(file)
    study = load_study("one", f"sqlite:///{file}")
    study.change(size=20)
    study.storage.close()
    gc.collect()
    damage(file, changes(file)[2])
    study, lost = repaired(file)
    assert "a change of fleet, limits or names was lost" in lost
    assert len(study.rounds) == 7


def test_openings_whose_order_nobody_knows_are_not_guessed(tmp_path):
    file = tmp_path / "studies.db"
    study = create_study(Population(["a", "b"], size=6), "random", storage=f"sqlite:///{file}", name="one")
    study.tell(study.ask(), 1.0)
    for name in ("c", "d", "e"):
        study.change(open=[name])
    study.tell(study.ask(), 2.0)
    study.storage.close()
    gc.collect()
    first, _, last = changes(file)
    damage(file, first, last)
    study, lost = repaired(file)
    assert "in an order that is not known" in lost
    assert [(done.state, done.payoff) for done in study.rounds] == [("done", 1.0), ("failed", None)]
    assert study.population.actions == ("a", "b", "d")
