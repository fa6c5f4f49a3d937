"""What every storage must do; a subclass gives ``storage`` as a fixture that makes an empty one."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mfbo.errors import ConflictError, InvalidInputError, MfboError, RoundStateError, UnknownNameError
from mfbo.population import Population
from mfbo.storage import Draft, EventKind, Storage
from mfbo.study import Study, create_study, load_study

BODY = '{"text":"ä\\u0000 — \\" 🚲","number":0.1}'


ENDS: tuple[EventKind, ...] = ("told", "failed", "abandoned")
LEASED: EventKind = "leased"
CORRECTIONS: tuple[EventKind, ...] = ("amended", "withdrawn", "reinstated")


class StorageContract:
    """Inherit, add a fixture ``storage`` that returns an empty ``Storage``, and let pytest collect the class."""

    def test_a_new_storage_is_empty(self, storage: Storage) -> None:
        """It lists nothing and finds nothing wrong."""
        assert storage.studies() == []
        assert storage.check() == []

    def test_description_and_events_come_back_as_they_were(self, storage: Storage) -> None:
        """Texts of any characters and times of any digits."""
        storage.create("läden 🚲", BODY)
        assert storage.append("läden 🚲", "asked", 0, BODY, 0.1 + 0.2) == 0
        assert storage.append("läden 🚲", "told", 0, "{}", 1e9 / 3) == 1
        assert storage.description("läden 🚲") == BODY
        first, second = storage.events("läden 🚲")
        assert (first.sequence, first.number, first.kind, first.body, first.at) == (0, 0, "asked", BODY, 0.1 + 0.2)
        assert (second.sequence, second.kind, second.at) == (1, "told", 1e9 / 3)
        assert storage.events("läden 🚲", 1) == [second]
        assert storage.events("läden 🚲", 2) == []

    def test_a_name_is_given_once(self, storage: Storage) -> None:
        """The first study stays as it is."""
        storage.create("one", "{}")
        refuses(InvalidInputError, lambda: storage.create("one", '{"other":1}'))
        assert storage.description("one") == "{}"

    def test_unknown_studies_are_refused_by_name(self, storage: Storage) -> None:
        """Everywhere, and with a hint."""
        storage.create("saturdays", "{}")
        for call in (storage.description, storage.events, storage.delete):
            assert "saturdays" in refuses(UnknownNameError, partial(call, "saturday"))
        refuses(UnknownNameError, lambda: storage.append("sundays", "asked", 0, "{}", 0.0))

    def test_rounds_are_numbered_without_gaps_or_doubles(self, storage: Storage) -> None:
        """Whoever comes second with a number is told so, and nothing is written."""
        storage.create("one", "{}")
        storage.append("one", "asked", 0, "{}", 0.0)
        refuses(ConflictError, lambda: storage.append("one", "asked", 0, "{}", 0.0))
        refuses(ConflictError, lambda: storage.append("one", "added", 2, "{}", 0.0))
        assert storage.append("one", "added", 1, "{}", 0.0) == 1
        assert len(storage.events("one")) == 2

    def test_several_events_come_in_all_or_none(self, storage: Storage) -> None:
        """In their order, under the same rules, and only for those who know all if they say so."""
        storage.create("one", "{}")
        good = [Draft("asked", 0, BODY, 0.5), Draft("told", 0, "{}", 1.0), Draft("added", 1, "{}", 1.5)]
        assert storage.extend("one", good, 0) == 0
        assert [(event.sequence, event.number, event.kind) for event in storage.events("one")] == [
            (0, 0, "asked"),
            (1, 0, "told"),
            (2, 1, "added"),
        ]
        refuses(ConflictError, lambda: storage.extend("one", [Draft("asked", 2, "{}", 0.0)], 2))
        refuses(RoundStateError, lambda: storage.extend("one", [Draft("asked", 2, "{}", 0.0), *good[1:2]]))
        refuses(ConflictError, lambda: storage.extend("one", [Draft("asked", 2, "{}", 0.0)] * 2))
        assert len(storage.events("one")) == 3
        assert [(study.rounds, study.ended) for study in storage.studies()] == [(2, 2)]

    def test_a_round_ends_once(self, storage: Storage) -> None:
        """A doubled tell is refused, and so is a tell of what was never asked."""
        storage.create("one", "{}")
        for number, end in enumerate(ENDS):
            storage.append("one", "asked", number, "{}", 0.0)
            storage.append("one", end, number, "{}", 0.0)
            for again in (*ENDS, LEASED):
                refuses(RoundStateError, partial(storage.append, "one", again, number, "{}", 0.0))
        storage.append("one", "added", 3, "{}", 0.0)
        refuses(RoundStateError, lambda: storage.append("one", "told", 3, "{}", 0.0))
        refuses(UnknownNameError, lambda: storage.append("one", "told", 4, "{}", 0.0))
        assert len(storage.events("one")) == 7

    def test_only_what_was_told_is_corrected(self, storage: Storage) -> None:
        """Amended, withdrawn and reinstated as often as wished, each only where it makes sense."""
        storage.create("one", "{}")
        for number, end in enumerate(ENDS):
            storage.append("one", "asked", number, "{}", 0.0)
            for kind in CORRECTIONS:
                refuses(RoundStateError, partial(storage.append, "one", kind, number, "{}", 0.0))
            storage.append("one", end, number, "{}", 0.0)
        storage.append("one", "added", 3, "{}", 0.0)
        for number in (0, 3):
            for kind in ("amended", "amended", "withdrawn"):
                storage.append("one", kind, number, "{}", 0.0)
            for kind in (*ENDS, LEASED, "amended", "withdrawn"):
                refuses(RoundStateError, partial(storage.append, "one", kind, number, "{}", 0.0))
            for kind in ("reinstated", "amended"):
                storage.append("one", kind, number, "{}", 0.0)
            refuses(RoundStateError, partial(storage.append, "one", "reinstated", number, "{}", 0.0))
        refuses(RoundStateError, lambda: storage.append("one", "amended", 1, "{}", 0.0))
        storage.append("one", "withdrawn", 1, "{}", 0.0)
        refuses(RoundStateError, lambda: storage.append("one", "withdrawn", 2, "{}", 0.0))
        assert [(study.rounds, study.ended) for study in storage.studies()] == [(4, 4)]
        assert storage.check() == []

    def test_changes_concern_no_round(self, storage: Storage) -> None:
        """They have the number −1, count as no round, and nothing else has that number."""
        storage.create("one", "{}")
        assert storage.append("one", "changed", -1, BODY, 0.5) == 0
        assert storage.append("one", "asked", 0, "{}", 0.0) == 1
        assert storage.append("one", "changed", -1, "{}", 0.0) == 2
        refuses(UnknownNameError, lambda: storage.append("one", "changed", 0, "{}", 0.0))
        refuses(MfboError, lambda: storage.append("one", "told", -1, "{}", 0.0))
        refuses(MfboError, lambda: storage.append("one", "asked", -1, "{}", 0.0))
        assert [(study.rounds, study.ended) for study in storage.studies()] == [(1, 0)]
        assert [(event.number, event.kind) for event in storage.events("one")] == [
            (-1, "changed"),
            (0, "asked"),
            (-1, "changed"),
        ]

    def test_who_does_not_know_a_change_is_refused(self, storage: Storage) -> None:
        """Where it matters to the writer; tells and leases of others do not matter."""
        storage.create("one", "{}")
        storage.extend("one", [Draft("asked", 0, "{}", 0.0, known=0)])
        storage.append("one", "told", 0, "{}", 0.0)
        storage.extend("one", [Draft("asked", 1, "{}", 0.0, known=1)])
        unsettling: tuple[tuple[int, EventKind], ...] = ((-1, "changed"), *((0, kind) for kind in CORRECTIONS))
        for number, kind in unsettling:
            asked = Draft("asked", 2, "{}", 0.0, known=len(storage.events("one")))
            storage.append("one", kind, number, "{}", 0.0)
            refuses(ConflictError, partial(storage.extend, "one", [asked]))
        storage.extend("one", [Draft("asked", 2, "{}", 0.0, known=len(storage.events("one")))])

    def test_leases_change_hands_only_for_those_who_know_all(self, storage: Storage) -> None:
        """Of two who take over a plan at once, one succeeds."""
        storage.create("one", "{}")
        storage.append("one", "asked", 0, "{}", 0.0)
        assert storage.append("one", "leased", 0, "{}", 1.0, 1) == 1
        refuses(ConflictError, lambda: storage.append("one", "leased", 0, "{}", 1.0, 1))
        assert storage.append("one", "leased", 0, "{}", 1.0, 2) == 2
        assert storage.append("one", "told", 0, "{}", 2.0) == 3

    def test_studies_are_listed_and_deleted_apart(self, storage: Storage) -> None:
        """Deleting one leaves the others, and its name free."""
        for name in ("b", "a"):
            storage.create(name, f'"{name}"')
            storage.append(name, "asked", 0, "{}", 0.0)
        storage.append("a", "told", 0, "{}", 0.0)
        assert [(study.name, study.rounds, study.ended) for study in storage.studies()] == [("a", 1, 1), ("b", 1, 0)]
        storage.delete("a")
        assert [study.name for study in storage.studies()] == ["b"]
        storage.create("a", "{}")
        assert storage.events("a") == []
        assert storage.check() == []

    def test_threads_lose_and_double_nothing(self, storage: Storage) -> None:
        """Four threads write forty rounds."""
        storage.create("one", "{}")
        threads = [threading.Thread(target=_ask_and_tell, args=(storage, 10)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        kinds = [(event.number, event.kind) for event in storage.events("one")]
        assert sorted(kinds) == sorted((number, kind) for number in range(40) for kind in ("asked", "told"))
        assert storage.check() == []

    def test_it_works_again_after_close(self, storage: Storage) -> None:
        """Closing lets go of connections, not of studies."""
        storage.create("one", "{}")
        storage.close()
        assert storage.append("one", "asked", 0, "{}", 0.0) == 0

    def test_a_study_kept_here_gives_the_plans_of_one_that_is_not(self, storage: Storage) -> None:
        """Restarted before every ask and before every tell, with all kinds of feedback."""
        population = Population({"name": ["a", "b", "c"], "x": [0.1, 0.5, 0.7]}, {"u": 0.3, "v": 0.7}, size=20)
        unbroken = create_study(population, seed=3)
        create_study(population, seed=3, storage=storage, name="one")
        for _ in range(7):
            plan = load_study("one", storage).ask(worker="w")
            _answer(load_study("one", storage), plan.number)
            _answer(unbroken, unbroken.ask().number)
        restored = load_study("one", storage)
        for ours, theirs in zip(restored.rounds, unbroken.rounds, strict=True):
            np.testing.assert_array_equal(ours.plan.distribution, theirs.plan.distribution)
            np.testing.assert_array_equal(ours.plan.allocation, theirs.plan.allocation)
            assert dict(ours.notes) == dict(theirs.notes)
            assert (ours.state, ours.told, ours.payoff, ours.error) == (
                theirs.state,
                theirs.told,
                theirs.payoff,
                theirs.error,
            )
        np.testing.assert_array_equal(restored.recommend().distribution, unbroken.recommend().distribution)


def refuses(error: type[Exception], call: Callable[[], Any]) -> str:
    """Return the message of the error that a call must raise."""
    try:
        call()
    except error as raised:
        return str(raised)
    raise AssertionError(f"{error.__name__} was not raised")


def _ask_and_tell(storage: Storage, rounds: int) -> None:
    done = 0
    while done < rounds:
        number = 1 + max((event.number for event in storage.events("one")), default=-1)
        try:
            storage.append("one", "asked", number, "{}", 0.0)
        except ConflictError:
            continue
        storage.append("one", "told", number, "{}", 0.0)
        done += 1


def _answer(study: Study, number: int) -> None:
    plan = study.rounds[number].plan
    value = float(-((plan.realized[:, 0] - 0.6) ** 2).sum())
    if number == 2:
        study.fail(plan, "no power")
    elif number == 4:
        study.tell(plan, agents=[("u", "a", value), ("v", 2, 0.1 + value)])
    elif number == 5:
        study.tell(plan, cells={("u", "b"): value}, distribution=[[0.2, 0.3, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    else:
        study.tell(plan, value)
