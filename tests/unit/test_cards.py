"""What objects say of themselves in a terminal and in a notebook: short, cheap, and harmless."""

import html.parser
import json

import numpy as np
import pytest

import mfbo
from mfbo.cards import amount, bar_list, payoff_points

HOSTILE = '<script>alert("x")</script>\x1b[31m'
STATIONS = {"name": ["Market", HOSTILE, "A & B"], "x": [0.0, 2.0, 1.0], "y": [0.0, 0.5, 2.0]}


class NoModel:
    """A strategy whose model must not be asked."""

    name = "no-model <b>"

    def propose(self, history, rng):
        return mfbo.Proposal(rng.dirichlet(np.ones(history.population.shape[1]), history.population.shape[0]))

    def recommend(self, history):
        raise AssertionError("a card asks no strategy")

    def posterior(self, history):
        raise AssertionError("a card asks no model")


class Tags(html.parser.HTMLParser):
    """The tags, and what they would load."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.loaded, self.said = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "href") or name.startswith("on")]

    def handle_data(self, data):
        self.said.append(data)


@pytest.fixture(scope="module")
def objects():
    population = mfbo.Population(STATIONS, size=30, move_budget=9)
    study = mfbo.create_study(population, seed=0, strategy="random")
    for payoff in (1.0, 3.0, 2.0):
        study.tell(study.ask(), payoff=payoff)
    modeled = mfbo.create_study(mfbo.Population([HOSTILE, "b"], {HOSTILE: 0.5, "t": 0.5}), seed=0)
    modeled.add({(HOSTILE, "b"): 1.0, ("t", "b"): 1.0}, 1.0)
    result = mfbo.maximize(lambda plan: 1.0, population, rounds=2, strategy="random")
    found = [population, study, study.ask(), study.rounds[0], study.rounds[0].feedback, study.history, result]
    return [*found, modeled.explain(), modeled.predict(modeled.rounds[0].plan), mfbo.make_problem("louvelo")]


def test_names_of_others_are_harmless(objects):
    for shown in objects:
        page = Tags(shown._repr_html_())
        drawn = {"svg", "circle", "rect", "text", "title", "polyline", "line"}
        assert page.tags <= {"div", "strong", "table", "tr", "th", "td"} | drawn
        assert page.loaded == []
        assert "\x1b" not in repr(shown) + shown._repr_html_()
        assert "\n" not in repr(shown)


def test_a_line_says_the_main_thing(objects):
    lines = [repr(shown) for shown in objects]
    assert lines[0] == "<Population: 30 agents at 3 actions; features x, y; limits room for 90, 9 moves a round>"
    assert "3 told" in lines[1]
    assert "highest told 3 in round 1" in lines[1]
    assert lines[2].startswith("<Plan 3: 30 agents at 3 actions: ")
    assert lines[3].startswith("<Round 0: done; payoff 1; ")
    assert lines[4] == "<Feedback; payoff 1>"
    assert lines[6].startswith("<Result of 2 rounds; best 1 in round 0; recommended 30 agents")
    assert lines[7].startswith("<Explanation: payoff 1")


def test_a_large_study_is_shown_shortly_and_asks_no_model():
    population = mfbo.Population({f"station {place}": (place, place % 70) for place in range(5000)}, size=10_000)
    study = mfbo.create_study(population, NoModel(), seed=0)
    for payoff in range(30):
        study.tell(study.ask(), payoff=float(payoff))
    assert len(repr(study)) < 250
    assert len(repr(study.ask())) < 250
    assert len(study._repr_html_()) < 20_000
    assert len(study.ask()._repr_html_()) < 90_000
    assert len(payoff_points(np.random.default_rng(0).standard_normal(100_000))) < 30_000
    assert "… and 22 more" in study._repr_html_()


def test_what_cannot_be_drawn_is_left_out():
    assert payoff_points(np.array([1.0])) == ""
    assert bar_list([], np.array([])) == ""


def test_a_plan_goes_through_json_to_the_bit():
    two = mfbo.Population(STATIONS, {"day": 0.3, "night": 0.7}, size=30)
    for population, strategy in ((two, "random"), (two.with_size(None), "random"), (two, "annealing")):
        plan = mfbo.create_study(population, strategy, seed=1).ask()
        record = json.loads(json.dumps(plan.to_dict()))
        again = mfbo.Plan.from_dict(record)
        assert again.to_dict() == record
        assert again.distribution.tobytes() == plan.distribution.tobytes()
        assert again.labels.weights.tobytes() == plan.labels.weights.tobytes()
        assert repr(again) == repr(plan)
        assert again._repr_html_() == plan._repr_html_()
        assert (again.assignment is None) == (plan.assignment is None)
        if plan.assignment is not None:
            assert again.assignment.dtype == plan.assignment.dtype


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"number": 0, "distribution": [[0.5, 0.4]]},
        {"number": -1, "distribution": [[1.0]]},
        {"number": 0, "distribution": [1.0]},
        {"number": 0, "distribution": "half"},
        {"number": 0, "distribution": [[1.0]], "allocation": [[0.5]]},
        {"number": 0, "distribution": [[1.0]], "allocation": [[1, 2]]},
        {"number": 0, "distribution": [[1.0]], "actions": ["a", "b"], "contexts": ["all"], "weights": [1.0]},
        {"number": 0, "distribution": [[1.0]], "actions": ["a"], "contexts": ["all"], "weights": [1], "places": [1]},
        None,
    ],
)
def test_what_is_not_a_plan_is_refused(wrong):
    with pytest.raises(mfbo.InvalidInputError, match="not a plan as to_dict writes it"):
        mfbo.Plan.from_dict(wrong)


def test_names_follow_a_fleet_that_lives():
    study = mfbo.create_study(mfbo.Population(["a", "b"], size=4), strategy="random", storage="memory", name="s")
    study.tell(study.ask(), payoff=1.0)
    study.change(rename={"a": "Harbor"}, open=["c"])
    assert study.rounds[0].plan.labels.actions == ("Harbor", "b", "c")
    assert mfbo.load_study("s", study.storage).rounds[0].plan.labels.actions == ("Harbor", "b", "c")
    assert "Harbor" in study.rounds[0]._repr_html_()


def test_nothing_has_no_sign():
    assert amount(-0.0) == "0"
