"""Contexts join a study that is under way: earlier rounds had none of them, and the model goes on from there."""

import json

import numpy as np
import pytest

from mfbo import InvalidInputError, Population, create_study, load_study
from mfbo.cli import main
from mfbo.storage import open_storage

PLACES = {"name": ["a", "b", "c"], "x": [0.0, 0.5, 1.0]}


def begun(strategy="default", contexts=None, **options):
    population = Population(PLACES, contexts, 30, **options)
    study = create_study(population, strategy, storage="memory", name="one", lease_seconds=None)
    for _ in range(3):
        plan = study.ask()
        study.tell(plan, float(-((plan.realized[0] - [0.2, 0.5, 0.3]) ** 2).sum()))
    return study


def loaded(study):
    copy = open_storage("memory")
    copy.create("one", study.storage.description("one"))
    for event in study.storage.events("one"):
        copy.append("one", event.kind, event.number, event.body, event.at)
    return load_study("one", copy)


@pytest.mark.parametrize("contexts", [None, ["u", "v"]])
@pytest.mark.parametrize("limits", [{}, {"capacity": {"a": 20}, "move_budget": 12}])
def test_a_context_joins(contexts, limits):
    study = begun(contexts=contexts, **limits)
    old = len(study.population.contexts)
    before = [(done.played.copy(), done.joint_shares(done.played, study.population)) for done in study.rounds]
    waiting = study.ask()
    weights = dict.fromkeys(study.population.contexts, 0.8 / old)
    study.change(contexts=["w"], weights={**weights, "w": 0.2}, open={"d": 0.7})
    for (played, shares), done in zip(before, study.rounds, strict=False):
        assert np.array_equal(done.played[:old, :3], played)
        assert np.allclose(done.played.sum(axis=1), 1)
        joint = done.joint_shares(done.played, study.population)
        assert np.array_equal(joint[:old, :3], shares)
        assert not joint[old:].any()
        assert not joint[:, 3].any()
    assert study.tell(waiting, cells={(0, "a"): 0.5}).feedback.cells.shape == (old + 1, 4)
    for _ in range(2):
        plan = study.ask()
        assert plan.allocation.sum(axis=1).tolist() == [24 // old] * old + [6]
        study.tell(plan, agents=[("w", "d", 1.0)])
    again = loaded(study)
    assert again.population.contexts == study.population.contexts
    assert again.ask().distribution.tobytes() == study.ask().distribution.tobytes()


def test_a_context_that_joins_needs_weights_and_a_name_of_its_own():
    study = begun("random", ["u", "v"])
    for change, words in (
        ({"contexts": ["w"]}, "need weights"),
        ({"contexts": ["u"], "weights": [0.5, 0.5]}, "there is a context 'u' already"),
        ({"contexts": ["w"], "weights": {"u": 0.5, "v": 0.5}}, "must name every context once \\(u, v, w\\)"),
        ({"contexts": ["w"], "weights": [0.5, 0.25, 0.5]}, "must sum to 1"),
        ({"contexts": {"w": 3.0}, "weights": [0.5, 0.25, 0.25]}, "contexts have no features here"),
        ({"contexts": 7, "weights": [1.0]}, "must sum to 1|shape|contexts"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            study.change(**change)
    assert study.population.contexts == ("u", "v")


def test_a_context_joins_with_its_features():
    study = begun("random", {"name": ["u", "v"], "weight": [0.5, 0.5], "age": [20.0, 40.0]})
    with pytest.raises(InvalidInputError, match="1 features each"):
        study.change(contexts=["w"], weights=[0.5, 0.3, 0.2])
    study.change(contexts={"w": [60.0]}, weights=[0.5, 0.3, 0.2])
    assert study.population.context_features[:, 0].tolist() == [20.0, 40.0, 60.0]
    assert loaded(study).population.context_features[:, 0].tolist() == [20.0, 40.0, 60.0]


def test_a_context_joins_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stations.csv").write_text("name,x\na,0\nb,1\n")

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["study", *map(str, arguments)])
        said = capsys.readouterr()
        assert end.value.code == 0, said.err
        return said.out

    run("create", "bikes", "--actions", "stations.csv", "--agents", 10)
    out = run("edit", "bikes", "--add-context", "cargo", "--weights", "all=0.7", "--weights", "cargo=0,3")
    assert "context 'cargo' joins, contexts weigh 0.7, 0.3" in out
    rows = json.loads(run("ask", "bikes", "--json"))["rows"]
    assert sum(row["agents"] for row in rows if row["context"] == "cargo") == 3
