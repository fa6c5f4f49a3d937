"""Schema versions: recorded from the first on, migrated after a backup, never guessed. And stores that are long."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from mfbo import Feedback, Plan, Population, create_study, load_study
from mfbo.catalogue import make_problem
from mfbo.errors import InvalidInputError, StorageError
from mfbo.records import Lease, Round
from mfbo.storage import codec, open_storage, schema, sql


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "studies.db"
    study = create_study(Population(["a", "b"], size=5), storage=f"sqlite:///{path}", name="one")
    study.tell(study.ask(), 0.5)
    study.storage.close()
    return path


OLD_TABLES = {  # as alembic made them in the first stores: column → type, and whether it may be empty
    "alembic_version": ["version_num VARCHAR(32) 1"],
    "studies": ["id INTEGER 1", "uid TEXT 1", "name TEXT 1", "created DOUBLE 1", "description TEXT 1",
                "events INTEGER 1", "rounds INTEGER 1", "ended INTEGER 1", "checksum TEXT 1"],
    "events": ["study INTEGER 1", "sequence INTEGER 1", "number INTEGER 1", "step INTEGER 1", "kind TEXT 1",
               "body TEXT 1", "at DOUBLE 1", "checksum TEXT 1"],
}  # fmt: skip


def test_the_version_is_recorded_and_the_tables_are_as_they_always_were(file):
    connection = sqlite3.connect(file)
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(schema.SCHEMA,)]
    for table, columns in OLD_TABLES.items():
        found = connection.execute(f"PRAGMA table_info({table})").fetchall()
        assert [f"{name} {kind.split(' ')[0]} {full}" for _, name, kind, full, *_ in found] == columns
    connection.close()


def test_an_older_store_is_upgraded_after_a_backup(file, monkeypatch):
    """A program with one more migration meets a store without it."""
    monkeypatch.setitem(schema.MIGRATIONS, "0002", ("ALTER TABLE studies ADD COLUMN owner TEXT",))
    for module in (schema, sql):
        monkeypatch.setattr(module, "SCHEMA", "0002")
    address = f"sqlite:///{file}"
    with pytest.raises(StorageError, match="mfbo study upgrade"):
        load_study("one", address)
    storage = open_storage(address, create=False)
    backup = storage.upgrade()
    assert backup.exists()
    assert load_study("one", storage).rounds[0].payoff == 0.5
    assert storage.upgrade() is None
    storage.close()
    old, new = sqlite3.connect(backup), sqlite3.connect(file)
    assert "owner" not in str(old.execute("SELECT sql FROM sqlite_master").fetchall())
    assert "owner" in str(new.execute("SELECT sql FROM sqlite_master").fetchall())
    old.close()
    new.close()


@pytest.mark.parametrize("version", ["9999", "x", ""])
def test_a_newer_or_damaged_version_is_refused(file, version):
    connection = sqlite3.connect(file)
    connection.execute("UPDATE alembic_version SET version_num = ?", [version])
    connection.commit()
    connection.close()
    with pytest.raises(StorageError, match="schema version"):
        load_study("one", f"sqlite:///{file}")


@pytest.mark.parametrize(
    "address", ["sqlite://", "sqlite:///:memory:", "sqlite:////nosuch/folder/x.db", "x.db", "mysql://x/y"]
)
def test_addresses_that_name_no_store_are_refused(address):
    with pytest.raises(InvalidInputError):
        open_storage(address)


def test_a_server_that_does_not_answer_is_named_without_its_password():
    with pytest.raises(StorageError) as raised:
        open_storage("postgresql+psycopg://mfbo:secret@127.0.0.1:1/studies")
    assert "127.0.0.1" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_no_pickle_anywhere():
    for path in (Path(schema.__file__).parents[1]).rglob("*.py"):
        assert "import pickle" not in path.read_text(encoding="utf-8"), path
        assert "allow_pickle=True" not in path.read_text(encoding="utf-8"), path


@pytest.mark.slow
def test_two_thousand_rounds_open_show_and_ask(tmp_path):
    from mfbo.cli.study_show import gathered

    problem = make_problem("bay-area-bike")
    address = f"sqlite:///{tmp_path / 'long.db'}"
    storage = create_study(problem.population, storage=address, name="long").storage
    rng = np.random.default_rng(0)
    for number, shares in enumerate(rng.dirichlet(np.ones(35), size=(2000, 1))):
        asked = Round(Plan(number, shares, rng.multinomial(300, shares[0])[None, :]))
        done = asked.done(Feedback(problem.value(asked.plan)), asked.plan.realized, number)
        storage.append("long", "asked", number, codec.to_text(codec.plan_record(asked.plan, {}, Lease())), 0.0)
        storage.append("long", "told", number, codec.to_text(codec.result_record(done)), 0.0)
    storage.close()
    study = load_study("long", address)
    gathered(study, 10)
    study.ask()
    assert len(study.rounds) == 2001
