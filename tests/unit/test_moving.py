"""A whole study goes into a file and comes back, or is copied as it was on a day; totals and means compare."""

import json

import numpy as np
import pytest

from mfbo import Population, create_study, load_study
from mfbo.errors import InvalidInputError
from mfbo.sheets import export_study, read_past_days
from mfbo.storage import open_storage
from mfbo.study import archived, copy_study, restored

PLACES = {"name": ["Main St", "Harbor", "Old Town"], "x": [0.0, 0.4, 1.0]}


def lived(storage, rounds=9, **options):
    """A study with all that a log can hold: all kinds of feedback, days, changes, corrections, an open plan."""
    study = create_study(Population(PLACES, size=20), seed=3, storage=storage, name="one", **options)
    study.add([[0.2, 0.3, 0.5]], -0.3)
    for number in range(rounds):
        today = {"size": 18, "closed": ["Harbor"]} if number % 7 == 4 else {}
        plan = study.ask("ann", **today)
        value = float(-((plan.realized[0, :3] - [0.2, 0.5, 0.3]) ** 2).sum())
        if number % 5 == 1:
            study.tell(plan, cells={"Harbor": value}, counts={"Harbor": 3})
        elif number % 5 == 2:
            study.tell(plan, value, agents=[("all", "Old Town", value)], worker="bob")
        elif number % 5 == 3:
            study.fail(plan, "rain", placed=plan.allocation)
        else:
            study.tell(plan, value, placed=plan.allocation)
        if number == 5:
            study.change(open={"Park": 0.5}, size=25, by="ann", reason="spring")
        if number == 6:
            study.amend(1, -0.01)
            study.withdraw(2)
    study.ask("ann")
    return study


def same_next_plan(first, second):
    for worker in ("bob", "eve"):
        ours, theirs = first.ask(worker), second.ask(worker)
        np.testing.assert_array_equal(ours.distribution, theirs.distribution)
        np.testing.assert_array_equal(ours.allocation, theirs.allocation)


@pytest.mark.parametrize("rounds", [9, pytest.param(300, marks=pytest.mark.slow)])
def test_export_and_import_are_lossless(tmp_path, rounds):
    study = lived(f"sqlite:///{tmp_path}/a.db", rounds)
    content = archived(study)
    again = restored(content, f"sqlite:///{tmp_path}/b.db")
    assert again.storage.events("one") == study.storage.events("one")
    assert again.storage.description("one") == study.storage.description("one")
    assert archived(again) == content
    same_next_plan(study, again)


def test_an_archive_that_was_changed_is_refused(tmp_path):
    study = lived("memory", 4)
    lines = archived(study).decode().split("\n")
    storage = open_storage(f"sqlite:///{tmp_path}/b.db")
    changed = [*lines[:2], lines[2].replace("ann", "bob"), *lines[3:]]
    assert changed != lines
    for broken in (lines[:-2], [lines[0], *lines[2:]], changed, ["{}"]):
        with pytest.raises(InvalidInputError, match="archive"):
            restored("\n".join(broken).encode(), storage)
    newer = {**json.loads(lines[0]), "format": "mfbo study 2"}
    with pytest.raises(InvalidInputError, match="a newer mfbo wrote it"):
        restored(json.dumps(newer).encode(), storage)
    assert storage.studies() == []


def test_a_copy_goes_on_as_the_study_did_on_that_day():
    study = lived("memory", 5)
    log = study.storage.events("one")
    cut = next(event for event in log if event.number == 4 and event.kind == "asked")
    copy = copy_study("one", "then", study.storage, until=np.nextafter(cut.at, 0.0))
    assert copy.storage.events("then") == log[: cut.sequence]
    plan = copy.ask("ann", **({"size": 18, "closed": ["Harbor"]} if 3 % 7 == 4 else {}))
    np.testing.assert_array_equal(plan.distribution, study.rounds[4].plan.distribution)
    whole = copy_study("one", "two", study.storage)
    same_next_plan(whole, study)
    with pytest.raises(InvalidInputError, match="already exists"):
        copy_study("one", "two", study.storage)


def test_a_stopped_copy_is_taken_up_again():
    study = lived("memory", 3)
    study.storage.create("two", study.storage.description("one"))
    assert len(copy_study("one", "two", study.storage).rounds) == len(study.rounds)


def test_a_study_is_loaded_if_it_exists(tmp_path):
    options = {"storage": f"sqlite:///{tmp_path}/a.db", "name": "one", "load_if_exists": True}
    first = create_study(Population(PLACES, size=20), **options)
    first.tell(first.ask(), 1.0)
    again = create_study(Population(PLACES, size=20), **options)
    assert len(again.rounds) == 1
    with pytest.raises(InvalidInputError, match="strategy 'default'"):
        create_study(Population(PLACES, size=20), "random", **options)


def test_totals_of_fleets_of_different_size_compare():
    means = create_study(Population(PLACES, size=20), seed=3, storage="memory", name="one")
    totals = create_study(Population(PLACES, size=20), seed=3, payoff_is="total", storage="memory", name="one")
    for number in range(6):
        today = {"size": 16} if number == 3 else {}
        plan, other = means.ask(**today), totals.ask(**today)
        np.testing.assert_array_equal(plan.distribution, other.distribution)
        payoff = float(-((plan.realized[0] - [0.25, 0.5, 0.25]) ** 2).sum())
        means.tell(plan, payoff * 16 / 16)
        totals.tell(other, payoff * (16 if number == 3 else 20))
    np.testing.assert_allclose([done.payoff for done in totals.rounds], [done.payoff for done in means.rounds])
    told = totals.rounds[3]
    assert told.as_told == told.feedback.total == pytest.approx(16 * told.payoff)
    amended = totals.amend(0, 10.0)
    assert (amended.payoff, amended.as_told) == (0.5, 10.0)
    recounted = totals.amend(0, placed=[4, 4, 2], allow_misfit=True)
    assert (recounted.payoff, recounted.as_told) == (1.0, 10.0)
    again = load_study("one", totals.storage)
    assert [done.feedback.total for done in again.rounds] == [done.feedback.total for done in totals.rounds]
    assert again.payoff_is == "total"
    with pytest.raises(InvalidInputError, match="give the population a size"):
        create_study(Population(["a", "b"]), payoff_is="total")


def test_a_few_payoffs_that_are_alike_say_what_is_far_outside():
    study = create_study(Population(PLACES, size=20), payoff_is="total")
    for payoff in (-812.0, -790.0):
        assert study.doubtful(study.ask("ann"), -8120.0) == ""
        study.tell(study.ask("ann"), payoff)
    plan = study.ask("ann")
    for far in (-8120.0, -81.2, 812.0):
        assert "far outside what was told so far (-812 to -790)" in study.doubtful(plan, far)
    for near in (-3000.0, -200.0):
        assert study.doubtful(plan, near) == ""
    study.tell(plan, -200.0)
    assert study.doubtful(study.ask("ann"), -8120.0) == ""  # payoffs that differ so much say nothing of others yet


def test_equal_payoffs_say_what_is_far_outside():
    study = create_study(Population(PLACES, size=20))
    for _ in range(6):
        study.tell(study.ask("ann"), 40.0)
    assert study.doubtful(study.ask("ann"), 400.0)
    assert not study.doubtful(study.ask("ann"), 41.0)


def test_a_payoff_far_outside_is_doubtful():
    study = create_study(Population(PLACES, size=20), payoff_is="total")
    for payoff in (812.0, 790.0, 831.0, 805.0, 822.0):
        study.tell(study.ask("ann"), payoff)
    plan = study.ask("ann")
    for far in (8120.0, 81.2, -812.0):
        assert "far outside what was told so far (790 to 831)" in study.doubtful(plan, far)
    for near in (790.0, 900.0, 720.0):
        assert study.doubtful(plan, near) == ""


def test_a_total_of_a_past_day_is_divided_by_the_agents_of_that_day(tmp_path):
    def past():
        return [
            (day.distribution, day.payoff, day.situation, day.size) for day in read_past_days(days, study.population)
        ]

    days = tmp_path / "days.csv"
    rows = ["Main St,10,60", "Harbor,6,", "Old Town,4,", "Main St,5,50", "Harbor,3,", "Old Town,2,"]
    labels = ["mon"] * 3 + ["tue"] * 3
    days.write_text("day,station,agents,payoff\n" + "\n".join(map(",".join, zip(labels, rows, strict=True))))
    study = create_study(Population(PLACES, size=20), "random", payoff_is="total", storage="memory", name="one")
    assert [day.payoff for day in study.add_missing(past())] == [3.0, 5.0]
    study.change(size=30)
    assert study.add_missing(past()) == []  # they are there, though the fleet has changed since
    again = load_study("one", study.storage)
    assert [(day.payoff, day.size) for day in again.rounds] == [(3.0, 20), (5.0, 10)]
    assert study.amend(1, 40.0).payoff == 4.0
    export_study(study, tmp_path / "all.csv")
    other = create_study(Population(PLACES, size=25), "random", payoff_is="total")
    days = tmp_path / "all.csv"
    assert [day.payoff for day in other.add_missing(past())] == [3.0, 4.0]
    assert other.add([0.5, 0.5, 0.0], 100.0, size=50).payoff == 2.0
