"""Pictures of a study mark what has changed: stations that opened or closed, days that were corrected."""

from mfbo import Population, create_study
from mfbo.cli.study_plot import _marks
from mfbo.plotting import save_figure
from mfbo.plotting.placements import payoff_curve, placement_map
from mfbo.plotting.study_marks import opened_later

PLACES = {"name": ["a", "b", "c"], "x": [0.0, 0.5, 1.0], "y": [0.0, 1.0, 0.5]}


def test_what_changed_is_known_by_its_present_name():
    assert opened_later([]) == frozenset()
    assert opened_later([{"close": ["a"]}, {"open": {"a": None}}]) == frozenset()  # it was there from the start
    changes = [{"open": {"d": [1.0]}}, {"rename": {"d": "e"}}, {"close": ["e"]}, {"open": {"e": None, "f": [2.0]}}]
    assert opened_later(changes) == {"e", "f"}


def test_changes_and_corrections_are_drawn(tmp_path):
    study = create_study(Population(PLACES, size=12), "random", storage="memory", name="one")
    for number in range(4):
        study.tell(study.ask(), float(number))
    study.change(open={"d": [0.3, 0.3]}, close=["a"])
    study.amend(1, 5.0)
    study.withdraw(2)
    study.tell(study.ask(), 2.0)
    marks = _marks(study)
    assert marks.changes == [(3, "'d' opens, 'a' closed")]  # one of the four days before it was withdrawn
    assert marks.opened == {"d"}
    assert marks.places(study.population) == {"*": [3], "x": [0]}
    assert marks.labeled(study.population).actions == ("a (closed)", "b", "c", "d (new)")
    plain = save_figure(payoff_curve("one", study.history, None), tmp_path / "plain")
    marked = save_figure(payoff_curve("one", study.history, None, marks=marks), tmp_path / "marked")
    texts = [file.read_text().count('<g id="text') for file in (plain[1], marked[1])]
    assert texts[1] == texts[0] + 1
    files = save_figure(placement_map("one", study.history, study.recommend(), marks), tmp_path / "map")
    assert all(file.stat().st_size > 1000 for file in (*marked, *files))
