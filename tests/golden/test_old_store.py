"""Studies that an older mfbo stored are opened and go on with the plans that it would have given next."""

import shutil

import old_store
import pytest
import traces

from mfbo import load_study


@pytest.fixture
def store(tmp_path):
    return shutil.copy(old_store.STORE, tmp_path)


@pytest.mark.parametrize("name", old_store.STUDIES)
def test_a_stored_study_goes_on_as_it_would_have(name, store):
    expected = old_store.expected()
    found = old_store.continued(name, store)
    assert traces.moved(found, expected["plans"][name], here=expected["machine"] == traces.machine()) is None
    assert len(found) == len(expected["plans"][name]) == old_store.MORE


def test_the_store_holds_what_it_says(store):
    for name, stored in old_store.STUDIES.items():
        study = load_study(name, f"sqlite:///{store}")
        states = [each.state for each in study.rounds]
        assert len(states) == stored.rounds
        assert states.count("open") == states.count("failed") == int(stored.limited)
        assert study.strategy.name == stored.strategy
        assert isinstance(study.rounds[-1].notes["setting"][0], float)  # a checksum: the store is an old one
        study.storage.close()
