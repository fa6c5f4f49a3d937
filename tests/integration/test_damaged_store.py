"""A store that is cut or has flipped bytes is as it was, or says that it is damaged; it never lies and never hangs."""

import random
import signal

import pytest

from mfbo import Population, create_study, load_study
from mfbo.errors import StorageError
from mfbo.storage import open_storage

ACTIONS = {"name": ["Main St", "Harbor", "Old Town", "Park"], "x": [0.1, 0.2, 0.3, 0.9]}


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    """The bytes of a store with two studies, and all it says."""
    file = tmp_path_factory.mktemp("intact") / "studies.db"
    for name, rounds in (("saturdays", 12), ("sundays", 30)):
        study = create_study(
            Population(ACTIONS, size=20), "random", storage=f"sqlite:///{file}", name=name, seed=rounds
        )
        for number in range(rounds):
            study.tell(study.ask(), payoff=number / 3)
        study.storage.close()
    told = said(file)
    open_storage(f"sqlite:///{file}").close()
    assert not file.with_name("studies.db-wal").exists()
    return file.read_bytes(), told


def said(file):
    storage = open_storage(f"sqlite:///{file}", create=False)
    try:
        summaries = storage.studies()
        return summaries, [(storage.description(each.name), storage.events(each.name)) for each in summaries]
    finally:
        storage.close()


def damaged(content, dice):
    kind = dice.choice(["cut", "flip", "flip", "flip", "zeros", "swap"])
    copy = bytearray(content)
    place = dice.randrange(len(copy))
    if kind == "cut":
        return bytes(copy[:place])
    if kind == "flip":
        for at in [place, *(dice.randrange(len(copy)) for _ in range(dice.choice([0, 0, 3])))]:
            copy[at] ^= dice.choice([1 << dice.randrange(8), 0xFF])
    elif kind == "zeros":
        length = min(dice.choice([16, 512, 4096]), len(copy) - place)
        copy[place : place + length] = bytes(length)
    else:  # two pages change places
        pages = len(copy) // 4096
        one, other = (4096 * dice.randrange(pages) for _ in range(2))
        copy[one : one + 4096], copy[other : other + 4096] = copy[other : other + 4096], copy[one : one + 4096]
    return bytes(copy)


def outcome(file, told):
    """Return "reported" or "harmless"; anything else is a failure."""
    try:
        now = said(file)
    except StorageError as error:
        return "reported" if str(file) in str(error) and "doctor" in str(error) else f"unclear: {error}"
    assert now == told, "silently wrong"
    try:
        study = load_study("saturdays", f"sqlite:///{file}")
        study.tell(study.ask(), payoff=1.0)
        study.storage.close()
        again = load_study("saturdays", f"sqlite:///{file}")
        again.storage.close()
    except StorageError:
        return "reported"
    assert [each.payoff for each in again.rounds] == [*(number / 3 for number in range(12)), 1.0]
    return "harmless"


def check_many(tmp_path, intact, seeds):
    content, told = intact
    outcomes = []
    for seed in seeds:
        file = tmp_path / f"damaged-{seed}.db"
        file.write_bytes(damaged(content, random.Random(seed)))
        signal.alarm(60)  # a hang ends the run
        try:
            outcomes.append(outcome(file, told))
        finally:
            signal.alarm(0)
    assert set(outcomes) <= {"reported", "harmless"}
    assert outcomes.count("reported") > len(outcomes) / 5


def test_fifteen_damages(tmp_path, intact):
    check_many(tmp_path, intact, range(15))


@pytest.mark.slow
def test_a_hundred_damages(tmp_path, intact):
    check_many(tmp_path, intact, range(100, 200))


@pytest.mark.slow
def test_every_byte_of_the_header_and_schema(tmp_path, intact):
    content, told = intact
    for place in range(0, 4096, 7):
        file = tmp_path / f"damaged-{place}.db"
        file.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        assert outcome(file, told) in ("reported", "harmless"), place


@pytest.mark.parametrize("content", [b"", b"not a database" * 500])
def test_a_file_that_is_no_store_is_refused(tmp_path, content):
    file = tmp_path / "studies.db"
    file.write_bytes(content)
    with pytest.raises(StorageError, match="doctor"):
        load_study("saturdays", f"sqlite:///{file}")


def test_a_file_that_does_not_exist_is_not_made_by_loading(tmp_path):
    file = tmp_path / "studies.db"
    with pytest.raises(StorageError, match="does not exist"):
        load_study("saturdays", f"sqlite:///{file}")
    assert not file.exists()


def test_a_database_of_another_program_is_left_alone(tmp_path):
    import sqlite3

    file = tmp_path / "other.db"
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE notes (text)")
    other.commit()
    other.close()
    with pytest.raises(StorageError, match="another program"):
        create_study(Population(ACTIONS), storage=f"sqlite:///{file}", name="one")
