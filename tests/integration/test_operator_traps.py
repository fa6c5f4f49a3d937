"""What a reviewer who played the operator fell into: each of these was answered wrongly, or not at all."""

import json
import os

import numpy as np
import pytest

from mfbo import InvalidInputError, Population, create_study, load_study
from mfbo.storage import sharing
from mfbo.storage.addresses import showable

STATIONS = "name,x,docks\n1,0,40\n2,1,40\n3,2,40\n"


@pytest.fixture
def command(mfbo_command, tmp_path):
    (tmp_path / "stations.csv").write_text(STATIONS)
    options = ("--agents", 60, "--capacity", "docks", "--move-budget", 5)
    code, _, err = mfbo_command("study", "create", "a", "--actions", "stations.csv", *options)
    assert code == 0, err
    return mfbo_command


def counts(tmp_path, name, *agents):
    rows = "".join(f"{station},{number}\n" for station, number in zip("123", agents, strict=True))
    (tmp_path / name).write_text(f"station,agents\n{rows}")
    return name


def test_a_store_is_never_written_over(command):
    code, _, err = command("study", "ask", "a", "--out", "mfbo.db")
    assert code == 2
    assert "is a store of studies" in err
    assert command("study", "list")[0] == 0


def test_the_best_told_payoff_is_told(command):
    study = load_study("a", "sqlite:///mfbo.db")
    for payoff in (9.0, 1.0, 4.0):
        study.tell(study.ask(), payoff)
    study.tell(study.ask(), agents=[("3", 4.0)])
    assert study.best.payoff == 9.0
    assert "best told payoff: plan 0, 9" in command("study", "show", "a")[1]


def test_a_column_of_states_is_no_export(command, tmp_path):
    rows = "".join(f"monday,{station},20,3.5,KY\n" for station in "123")
    (tmp_path / "past.csv").write_text(f"day,station,agents,payoff,state\n{rows}")
    assert "1 past day added" in command("study", "import", "a", "past.csv")[1]


def test_an_export_comes_back_though_some_rounds_were_told_by_agents(command):
    study = load_study("a", "sqlite:///mfbo.db")
    study.tell(study.ask(), 2.0)
    study.tell(study.ask(), agents=[("3", 4.0)])
    assert command("study", "export", "a", "--out", "all.csv")[0] == 0
    code, out, err = command("study", "import", "a", "all.csv")
    assert code == 0, err
    assert "1 past day added" in out


def test_a_plan_given_up_and_missing_agents_are_said_wherever_the_sheet_goes(command, tmp_path):
    assert command("study", "ask", "a")[0] == 0
    night = counts(tmp_path, "night.csv", 40, 14, 0)
    code, out, err = command("study", "ask", "a", "--placed", night, "--yes", "--out", "-")
    assert code == 0
    assert "plan 0 is abandoned" in err
    assert "6 of 60 agents are missing" in err
    assert out.startswith("station,")
    code, _, err = command("study", "ask", "a", "--placed", night, "--yes", "--out", "sheet.csv", "--quiet")
    assert "6 of 60 agents are missing" in err


def test_moves_beyond_the_budget_are_explained(command, tmp_path):
    assert command("study", "ask", "a")[0] == 0
    over = counts(tmp_path, "over.csv", 60, 0, 0)
    assert command("study", "tell", "a", "--plan", 0, "--payoff", 1, "--placed", over, "--yes")[0] == 0
    out = command("study", "ask", "a")[1]
    assert "20 agents are to move, more than the move budget of 5" in out
    assert json.loads(command("study", "ask", "a", "--json")[1])["moved"] == 20


@pytest.mark.parametrize("placed", [[1e308, 1, 1], [10**16, 1, 1], [0.5, 1, 1]])
def test_counts_are_never_clipped(placed):
    study = create_study(Population(["a", "b", "c"], size=3))
    with pytest.raises(InvalidInputError):
        study.ask(placed=placed, allow_misfit=True)
    assert study.placed is None


def test_a_password_is_hidden_in_an_address_that_is_none():
    assert "s3cret" not in showable("sqlite://u:s3cret@h/x")
    assert showable("sqlite:////home/me:you@there/x.db") == "sqlite:////home/me:you@there/x.db"


def test_a_folder_without_locks_costs_no_descriptors(tmp_path, monkeypatch):
    """A file system that has no such locks says so by an error; it must not cost a descriptor each time."""
    import errno
    import fcntl

    def refuse(*_):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    study = create_study(Population(["a", "b"], size=2), "random", storage=f"sqlite:///{tmp_path}/x.db", name="x")
    study.refresh()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        study.refresh()
    assert len(os.listdir("/proc/self/fd")) == before
    with pytest.raises(sharing.StorageError, match="has no locks"), sharing.alone(tmp_path / "x.db", 0.1):
        pass
    assert np.isfinite(study.ask().distribution).all()
