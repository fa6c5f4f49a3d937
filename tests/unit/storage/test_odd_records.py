"""Records whose checksum is right and whose content is odd: one of our errors, and the study unchanged."""

import base64
import copy
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mfbo import Population, create_study, load_study
from mfbo.errors import DamageError, InvalidInputError, MfboError
from mfbo.storage import Draft, open_storage

POPULATION = Population({"name": ["a", "b", "c"], "x": [0.1, 0.5, 0.7]}, {"u": 0.5, "v": 0.5}, size=8, capacity=6)

odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(10**18, 10**400),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.one_of(st.integers(), st.none(), st.lists(st.integers(), max_size=2)), max_size=4),
    st.dictionaries(st.sampled_from(["shape", "f8", "i8", "i4", "x"]), st.one_of(st.text(max_size=4), st.integers())),
    st.just({"shape": [10**9, 10**9], "f8": ""}),
    st.sampled_from([[2, 3], [3, 2], [6], [1, 6], [-1, 3]]).flatmap(
        lambda shape: st.sampled_from([np.nan, np.inf, -1.0, 0.0, 0.2, 1 / 3]).map(
            lambda value: {"shape": shape, "f8": base64.b64encode(np.full(6, value).tobytes()).decode()}
        )
    ),
)


@pytest.fixture(scope="module")
def stored():
    """The description and the events of a study with every kind of event."""
    storage = open_storage("memory")
    study = create_study(POPULATION, "default", storage=storage, name="one", lease_seconds=1.0, placed=[[2, 1, 1]] * 2)
    study.add([[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]], 0.5)
    study.tell(study.ask(), 0.1)
    study.tell(study.ask(), agents=[("u", "a", 0.2), ("v", "c", 0.4)])
    study.tell(study.ask(), cells=np.full((2, 3), 0.3), counts=np.full((2, 3), 2.0))
    study.fail(study.ask(), "rain")
    study.abandon(study.ask())
    plan = study.ask(worker="w")
    asked = study.rounds[plan.number]
    assert study._lease(asked, "x", 5.0, None)
    study.tell(asked.number, 0.2)
    return storage.description("one"), storage.events("one")


def places(record, path=()):
    """Return the paths to all values of a record, itself included."""
    found = [path]
    pairs = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    for key, value in pairs:
        found += places(value, (*path, key))
    return found


def changed(text, dice, value, *, drop):
    record = json.loads(text)
    paths = [path for path in places(record) if path[:1] != ("notes",)]  # what a strategy notes is its own
    path = dice.draw(st.sampled_from(paths))
    if not path:
        return json.dumps(value)
    target = copy.deepcopy(record)
    inner = target
    for key in path[:-1]:
        inner = inner[key]
    if drop:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return json.dumps(target)


def storage_with(description, events):
    storage = open_storage("memory")
    storage.create("one", description)
    try:
        storage.extend("one", [Draft(each.kind, each.number, each.body, each.at) for each in events])
    except MfboError:  # against the rules; another program may have written it all the same
        storage._events["one"] = list(events)
    return storage


def use(storage):
    """Load the study and do with it what one does; only our own errors may come, of one line."""
    said = []
    try:
        study = load_study("one", storage)
    except MfboError as error:
        said.append(str(error))
    else:
        for call in (study.ask, lambda: study.best, study.recommend, lambda: study.placed, lambda: study.explain()):
            try:
                call()
            except MfboError as error:
                said.append(str(error))
    assert [len(each.splitlines()) for each in said] == [1] * len(said)


fuzz = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


@fuzz
@given(st.data(), odd_values, st.booleans())
def test_an_odd_event_is_refused_or_harmless(stored, data, value, drop):
    description, events = stored
    index = data.draw(st.integers(0, len(events) - 1))
    event = events[index]
    body = changed(event.body, data, value, drop=drop)
    odd = [*events[:index], type(event)(event.sequence, event.number, event.kind, body, event.at), *events[index + 1 :]]
    use(storage_with(description, odd))


@pytest.mark.parametrize("counts", [np.zeros((2, 3)), np.full((2, 3), np.nan), np.full((2, 3), -1.0)])
def test_counts_that_are_not_those_of_the_cells_are_refused(stored, counts):
    description, events = stored
    index, event = next((i, event) for i, event in enumerate(events) if '"cells":{' in event.body)
    record = json.loads(event.body)
    record["feedback"]["counts"] = {"shape": [2, 3], "f8": base64.b64encode(counts.tobytes()).decode()}
    odd = type(event)(event.sequence, event.number, event.kind, json.dumps(record), event.at)
    with pytest.raises(DamageError, match="counts are not those of the cells told"):
        load_study("one", storage_with(description, [*events[:index], odd, *events[index + 1 :]]))


@fuzz
@given(st.data(), odd_values, st.booleans())
def test_an_odd_description_is_refused_or_harmless(stored, data, value, drop):
    description, events = stored
    plain = description.replace('"strategy":"default"', '"strategy":"random"')  # a fit belongs to its features
    use(storage_with(changed(plain, data, value, drop=drop), events))


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.data(),
    st.sampled_from(["asked", "added", "leased", "told", "failed", "abandoned", "won", ""]),
    st.integers(-2, 9),
)
def test_an_event_of_another_kind_or_round_is_refused_or_harmless(stored, data, kind, number):
    description, events = stored
    index = data.draw(st.integers(0, len(events) - 1))
    event = events[index]
    odd = [*events[:index], type(event)(event.sequence, number, kind, event.body, event.at), *events[index + 1 :]]
    use(storage_with(description, odd))


@pytest.mark.parametrize(
    "body", ["{}", "[]", "null", "1" * 5000, "[" * 100_000, '{"distribution":' * 5000, '{"a":NaN}', "", "\0"]
)
@pytest.mark.parametrize("kind", ["asked", "added"])
def test_a_body_that_is_no_record_is_called_so(kind, body):
    storage = open_storage("memory")
    create_study(POPULATION, storage=storage, name="one")
    storage.extend("one", [Draft(kind, 0, body, 0.0)])
    with pytest.raises(DamageError, match="doctor"):
        load_study("one", storage)


@example("a\0b")
@example("caf\udce9")
@given(st.text(st.characters(categories=["Cs"]), min_size=1))
def test_names_and_workers_with_stray_bytes_are_refused_and_reasons_are_kept(text):
    storage = open_storage("memory")
    with pytest.raises(InvalidInputError, match="stray byte"):
        create_study(POPULATION, storage=storage, name=text)
    with pytest.raises(InvalidInputError, match="stray byte"):
        load_study(text, storage)
    study = create_study(POPULATION, "random", storage=storage, name="one")
    with pytest.raises(InvalidInputError, match="stray byte"):
        study.ask(worker=text)
    assert study.rounds == ()


def test_texts_with_stray_bytes_never_harm_a_database(tmp_path, postgres_database):
    for address in (f"sqlite:///{tmp_path / 'x.db'}", postgres_database()):
        storage = open_storage(address)
        study = create_study(POPULATION, "random", storage=storage, name="one")
        study.fail(study.ask(), "no file caf\udce9 \0 there")
        assert "caf\\udce9" in load_study("one", storage).rounds[0].error
        with pytest.raises(InvalidInputError, match="stray byte"):
            create_study(Population(["a\udce9", "b"]), "random", storage=storage, name="two")
        with pytest.raises(MfboError):
            storage.create("a\0\udce9", "{}")
        assert [each.name for each in storage.studies()] == ["one"]
        assert storage.check() == []
        storage.close()
