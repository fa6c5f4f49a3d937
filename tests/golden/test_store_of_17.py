"""Stores from before studies could change are opened, go on with the same plans, and can be corrected."""

import json
import shutil

import pytest
import store_of_17
import traces

from mfbo import load_study


@pytest.fixture
def store(tmp_path):
    return shutil.copy(store_of_17.STORE, tmp_path)


@pytest.mark.parametrize("name", store_of_17.STUDIES)
def test_a_stored_study_goes_on_as_it_would_have(name, store):
    expected = json.loads(store_of_17.NEXT.read_text(encoding="utf-8"))
    if expected["machine"] != traces.machine():
        pytest.skip("recorded on another kind of machine")
    assert store_of_17.continued(name, store) == expected["plans"][name]


def test_the_store_holds_what_it_says(store):
    states = {
        name: [one.state for one in load_study(name, f"sqlite:///{store}").rounds] for name in store_of_17.STUDIES
    }
    assert states["finding"].count("abandoned") == states["finding"].count("open") == 1
    assert states["earning"].count("failed") == 1
    assert {len(of_study) for of_study in states.values()} == {store_of_17.ROUNDS, store_of_17.ROUNDS}
