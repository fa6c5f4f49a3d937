"""Studies on a storage: creation, leases, late tells, parallel runs."""

import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from mfbo import InvalidInputError, Population, create_study, load_study
from mfbo.errors import RoundStateError, StorageError, UnknownNameError
from mfbo.storage import open_storage
from mfbo.storage.memory import MemoryStorage
from mfbo.study import opening, run_round

POPULATION = Population({"name": ["a", "b", "c"], "x": [0.1, 0.5, 0.7]}, size=20)


def value(plan):
    """A payoff that a process pool can send to its workers."""
    return float(-((plan.realized[0] - [0.5, 0.3, 0.2]) ** 2).sum())


def faulty(plan):
    if plan.number % 3 == 1:
        raise OSError("no power")
    return value(plan)


@pytest.fixture
def storage():
    return open_storage("memory")


@pytest.mark.parametrize(
    "options", [{"storage": "memory"}, {"storage": "memory", "name": " "}, {"name": "one"}, {"storage": "mysql://x"}]
)
def test_a_stored_study_needs_a_name_and_a_known_storage(options):
    with pytest.raises(InvalidInputError):
        create_study(
            POPULATION, **{"name": "one", **options} if options.get("storage", "").startswith("my") else options
        )


def test_settings_in_the_strategy_s_name_are_stored_with_it(storage):
    made = create_study(POPULATION, strategy="mf-gp-ucb(multiplier=2.0)", storage=storage, name="one")
    again = load_study("one", storage)
    assert again.strategy == made.strategy
    assert again.strategy.multiplier == 2.0


def test_a_name_is_created_once_and_loaded_by_name(storage):
    create_study(POPULATION, storage=storage, name="one", seed=4, noise=0.5, lease_seconds=60, placed=[20, 0, 0])
    with pytest.raises(InvalidInputError, match="already exists"):
        create_study(POPULATION, storage=storage, name="one")
    with pytest.raises(UnknownNameError, match="one"):
        load_study("on", storage)
    loaded = load_study("one", storage)
    assert (loaded.seed, loaded.history.noise, loaded.lease_seconds, loaded.name) == (4, 0.5, 60, "one")
    assert loaded.placed.tolist() == [[20, 0, 0]]
    assert loaded.population.actions == POPULATION.actions


def test_a_strategy_of_ones_own_must_be_given_again(storage):
    from mfbo.strategies import RandomSearch

    create_study(POPULATION, RandomSearch(name="own"), storage=storage, name="one")
    with pytest.raises(UnknownNameError, match="own"):
        load_study("one", storage)
    assert load_study("one", storage, strategy=RandomSearch(name="own")).ask().number == 0
    with pytest.raises(InvalidInputError, match="'own'"):
        load_study("one", storage, strategy="random")


def test_a_worker_gets_its_own_open_plan_again_and_others_get_others(storage):
    study = create_study(POPULATION, storage=storage, name="one")
    first = study.ask(worker="truck-7")
    assert study.ask(worker="truck-8").number == 1
    assert load_study("one", storage).ask(worker="truck-7").number == first.number
    study.tell(first, 1.0, worker="truck-7")
    assert study.ask(worker="truck-7").number == 2
    assert not study.rounds[0].late


def test_an_expired_plan_is_offered_again_and_a_late_tell_is_kept_and_marked(storage, monkeypatch):
    study = create_study(POPULATION, storage=storage, name="one", lease_seconds=100)
    plan = study.ask(worker="truck-7")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 99)
    assert study.ask(worker="truck-8").number == 1
    monkeypatch.setattr(time, "time", lambda: now + 150)
    taken = load_study("one", storage).ask(worker="truck-9")
    np.testing.assert_array_equal(taken.distribution, plan.distribution)
    assert taken.number == 0
    done = study.tell(plan, 1.0, worker="truck-7")
    assert done.late
    assert (done.lease.worker, done.lease.former) == ("truck-9", ("truck-7",))
    with pytest.raises(RoundStateError):
        load_study("one", storage).tell(0, 2.0, worker="truck-9")
    assert load_study("one", storage).rounds[0].late
    assert load_study("one", storage).rounds[0].payoff == 1.0


def test_the_owner_of_an_expired_plan_gets_it_again_with_a_new_lease(storage, monkeypatch):
    study = create_study(POPULATION, storage=storage, name="one", lease_seconds=100)
    study.ask(worker="truck-7")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 150)
    assert study.ask(worker="truck-7").number == 0
    assert study.ask(worker="truck-8").number == 1
    assert not study.tell(0, 1.0, worker="truck-7").late


def test_a_lease_without_end_never_expires(monkeypatch):
    study = create_study(POPULATION, lease_seconds=None)
    study.ask(worker="truck-7")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1e9)
    assert study.ask(worker="truck-8").number == 1
    assert not study.tell(0, 1.0).late


def test_two_loaded_studies_see_each_other(storage):
    one = create_study(POPULATION, storage=storage, name="one")
    other = load_study("one", storage)
    assert [one.ask().number, other.ask().number, one.ask().number] == [0, 1, 2]
    other.tell(2, 0.3)
    one.tell(0, 0.2)
    with pytest.raises(RoundStateError):
        one.tell(2, 0.3)
    one.add([0.2, 0.3, 0.5], 0.1)
    other.refresh()
    assert [(each.state, each.told) for each in other.rounds] == [("done", 1), ("open", None), ("done", 0), ("done", 2)]


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_plans_are_evaluated_in_parallel_on_any_executor(storage, executor):
    study = create_study(POPULATION, storage=storage, name="one")
    if executor is None:
        finished = study.run(value, 9, workers=3)
    else:
        with executor(2) as pool:
            finished = study.run(value, 9, workers=3, executor=pool)
    assert sorted(each.number for each in finished) == list(range(9))
    assert all(each.payoff == value(each.plan) for each in load_study("one", storage).rounds)
    assert len({each.plan.allocation.tobytes() for each in study.rounds[2:]}) > 3


def test_a_failing_payoff_is_recorded_and_the_run_goes_on_or_stops():
    study = create_study(POPULATION)
    study.run(faulty, 7, workers=2)
    assert [each.number for each in study.rounds if each.state == "failed"] == [1, 4]
    assert study.rounds[1].error == "OSError: no power"
    stopped = create_study(POPULATION)
    with pytest.raises(OSError, match="no power"):
        stopped.run(faulty, 7, workers=1, on_error="stop")
    assert [each.state for each in stopped.rounds] == ["done", "failed"]


class FullOnce(MemoryStorage):
    """A storage that refuses the first result, as a full disk does."""

    has_refused = False

    def extend(self, name, drafts, expected=None):
        if drafts[0].kind == "told" and not self.has_refused:
            self.has_refused = True
            raise StorageError("the disk is full")
        return super().extend(name, drafts, expected)


@pytest.mark.parametrize("play", [run_round, lambda study, payoff: study.run(payoff, 1, workers=1)])
def test_a_result_that_cannot_be_stored_leaves_its_plan_open(play):
    study = create_study(POPULATION, "random", storage=FullOnce(), name="one")
    with pytest.raises(StorageError, match="full"):
        play(study, value)
    assert study.rounds[0].state == "open"
    assert study.tell(0, 1.0).payoff == 1.0


def test_days_are_added_to_the_study_as_others_left_it(storage):
    ours = create_study(POPULATION, "random", storage=storage, name="one")
    theirs = load_study("one", storage)
    theirs.change(open={"d": 0.9})
    added = [ours.add({"a": 0.5, "d": 0.5}, payoff=1.0), *ours.add_missing([({"d": 1.0}, 2.0)])]
    assert [past.played.tolist() for past in added] == [[[0.5, 0.0, 0.0, 0.5]], [[0.0, 0.0, 0.0, 1.0]]]
    theirs.change(open={"e": 0.2})
    assert ours.attach({"e": 1.0}).allocation.tolist() == [[0, 0, 0, 0, 20]]


class ChangedMeanwhile(MemoryStorage):
    """A storage in which another process opens a station just before the first day is added."""

    def extend(self, name, drafts, expected=None):
        if drafts[0].kind == "added" and not any(event.kind == "changed" for event in self.events(name)):
            load_study(name, self).change(open={"d": 0.9})
        return super().extend(name, drafts, expected)


def test_a_day_has_the_shape_of_a_study_that_changed_while_it_was_added():
    study = create_study(POPULATION, "random", storage=ChangedMeanwhile(), name="one")
    assert study.add([0.2, 0.3, 0.5], payoff=1.0).played.tolist() == [[0.2, 0.3, 0.5, 0.0]]
    np.testing.assert_array_equal(load_study("one", study.storage).rounds[0].played, study.rounds[0].played)


def test_one_worker_gives_the_plans_of_the_plain_loop():
    run, plain = create_study(POPULATION, seed=2), create_study(POPULATION, seed=2)
    run.run(value, 6, workers=1)
    for _ in range(6):
        plan = plain.ask()
        plain.tell(plan, value(plan))
    for ours, theirs in zip(run.rounds, plain.rounds, strict=True):
        np.testing.assert_array_equal(ours.plan.distribution, theirs.plan.distribution)


def test_the_current_placement_is_what_was_played_last():
    study = create_study(POPULATION, placed=[10, 5, 5])
    assert study.placed.tolist() == [[10, 5, 5]]
    plan = study.ask()
    study.tell(plan, 1.0)
    np.testing.assert_array_equal(study.placed, plan.allocation)
    study.tell(study.ask(), 1.0, distribution=[0.25, 0.25, 0.5])
    assert study.placed.tolist() == [[5, 5, 10]]


@pytest.mark.parametrize("placed", [[1, 2], [1.5, 2, 3], [-1, 2, 3]])
def test_a_wrong_placement_is_refused(placed):
    with pytest.raises(InvalidInputError, match="placed"):
        create_study(POPULATION, placed=placed)


def test_objects_of_one_study_share_what_they_know_of_its_log():
    storage = open_storage("memory")
    one = create_study(Population(["a", "b"], size=4), "random", storage=storage, name="town")
    other, before = load_study("town", storage), one.known()
    one.tell(one.ask(), 1.0)
    other.take(one.known())
    assert [done.state for done in other.rounds] == ["done"]
    other.take(before)  # knows less
    assert len(other.rounds) == 1
    assert other.ask().number == 1


def test_what_was_known_of_a_deleted_study_is_noticed_in_the_one_of_its_name():
    storage = open_storage("memory")
    old = create_study(Population(["a", "b"], size=4), "random", storage=storage, name="town")
    old.tell(old.ask(), 1.0)
    storage.delete("town")
    new = create_study(Population(["a", "b"], size=4), "random", storage=storage, name="town")
    new.take(old.known())
    with pytest.raises(StorageError, match="load it again"):
        new.refresh(ahead=True)


def test_who_loses_the_race_to_create_a_study_loads_it(tmp_path, monkeypatch):
    place = f"sqlite:///{tmp_path / 'studies.db'}"
    population = Population(["a", "b"])
    winner = create_study(population, seed=1, storage=place, name="race")
    winner.tell(winner.ask(), 0.5)
    looks = iter([False, True])  # it was not there when first looked for
    monkeypatch.setattr(opening, "_is_there", lambda name, storage: next(looks))
    loser = create_study(population, seed=1, storage=place, name="race", load_if_exists=True)
    assert len(loser.rounds) == 1
    with pytest.raises(InvalidInputError, match="exists"):
        create_study(population, storage=place, name="race")
