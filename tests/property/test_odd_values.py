"""Every odd value at every place where users hand something in: one line of our own, or it is taken; no traceback."""

import numpy as np
import pytest
from odd_values import ODD

import mfbo
from mfbo import Population, create_study, load_study
from mfbo.catalogue import make_problem
from mfbo.errors import InvalidInputError, MfboError
from mfbo.problems import demand_problem
from mfbo.problems.tables import DemandTable
from mfbo.validation import said

WHO = tuple(name for name in Population.__init__.__annotations__ if name != "return")
HOW = tuple(name for name in create_study.__annotations__ if name != "return")


def ours_or_none(call):
    """Call; an error of our own is fine if it is one line of some length."""
    try:
        call()
    except MfboError as error:
        length = len(str(error))
    else:
        return
    assert 0 < length < 1000


@pytest.mark.parametrize("odd", ODD)
def test_populations_and_studies_of_odd_values(odd):
    for option in WHO:
        who = {"actions": ["a", "b", "c"], "contexts": ["u", "v"], "size": 12, option: ODD[odd]()}
        ours_or_none(lambda who=who: create_study(Population(**who), "random").ask())
    for option in HOW:
        how = {"population": Population(["a", "b", "c"], size=9), "strategy": "random", option: ODD[odd]()}
        ours_or_none(lambda how=how: create_study(**how).ask())
    ours_or_none(lambda: create_study(Population(["a", "b"]), storage="memory", name=ODD[odd]()).ask())
    ours_or_none(lambda: load_study(ODD[odd](), "memory"))
    ours_or_none(lambda: load_study("x", ODD[odd]()))
    ours_or_none(lambda: make_problem(ODD[odd]()))


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_told_asked_and_predicted_leave_a_study_as_it_was(odd):
    study = create_study(Population(["a", "b", "c"], size=9), storage="memory", name="s")
    study.tell(study.ask(), 1.0)
    value = ODD[odd]
    calls = [
        lambda: study.tell(value(), 1.0),
        lambda: study.tell(1, agents=value()),
        lambda: study.tell(1, 1.0, worker=value()),
        lambda: study.tell(1, value()),
        lambda: study.tell(1, cells=value()),
        lambda: study.tell(1, cells=[1, 2, 3], counts=value()),
        lambda: study.tell(1, 1.0, distribution=value()),
        lambda: study.add(value(), 1.0),
        lambda: study.add([0.2, 0.3, 0.5], value()),
        lambda: study.fail(value(), "rain"),
        lambda: study.fail(1, value()),
        lambda: study.abandon(value()),
        lambda: study.predict(value()),
        lambda: study.explain(value()),
        lambda: study.ask(value()),
    ]
    for call in calls:
        if not study.history.open:
            study.ask()
        before = study.rounds
        try:
            call()
        except MfboError:
            assert study.rounds == before


@pytest.mark.parametrize("odd", ODD)
def test_loops_and_problems_of_odd_values(odd):
    population = Population(["a", "b", "c"], size=9)
    value = ODD[odd]
    if odd != "too many":  # so many rounds are played, if it takes for ever
        ours_or_none(lambda: mfbo.maximize(lambda plan: 1.0, population, value(), strategy="random"))
        ours_or_none(lambda: create_study(population, "random").run(lambda plan: 1.0, value()))
    ours_or_none(lambda: create_study(population, "random").run(lambda plan: 1.0, 1, workers=value()))
    ours_or_none(lambda: create_study(population, "random").run(lambda plan: value(), 1))
    ours_or_none(lambda: mfbo.maximize(lambda plan: value(), population, 1, strategy="random"))
    ours_or_none(lambda: demand_problem(value(), demand=[1, 2], coordinates=[(0, 0), (1, 1)]))
    ours_or_none(lambda: demand_problem(["a", "b"], demand=value(), coordinates=[(0, 0), (1, 1)]))
    ours_or_none(lambda: demand_problem(["a", "b"], demand=[1, 2], coordinates=value()))
    ours_or_none(lambda: DemandTable(value(), ("x",), [[0.0], [1.0]], [1.0, 2.0]))
    ours_or_none(lambda: DemandTable(("a", "b"), value(), [[0.0], [1.0]], [1.0, 2.0]))
    ours_or_none(lambda: DemandTable(("a", "b"), ("x",), value(), value()))
    ours_or_none(lambda: DemandTable(("a", "b"), ("x",), [[0.0], [1.0]], [1.0, 2.0], extras={"docks": value()}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Population({"name": ["a", "b"], "x": [1.7e308, -1.7e308]}), "below 1e.150"),
        (lambda: Population(["a", "b\udc80"]), "stray byte"),
        (lambda: Population([b"a", b"b"]), "bytes"),
        (lambda: Population(["a", "b"], {"u": 1.0, "v": 5e-324}), "above 1e-15"),
        (lambda: Population(["a", "b"], size=10**5000), "size must be between 1 and"),
        (lambda: Population(["a", "b"], size=4, placed=[[1, 2], [3]]), "placed must hold numbers"),
        (lambda: create_study(Population(["a"]), storage="memory", name="a\0b"), "null or stray bytes"),
        (lambda: create_study(Population(["a"])).ask(b"ann"), "worker must be text"),
        (lambda: create_study(Population(["a"])).add([1.0], cells=[1.0], counts=[5e-324]), "counts must be between"),
        (lambda: create_study(Population(["a"])).add([1.0], 10**400), "usual size"),
    ],
)
def test_what_is_refused_says_why(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


def test_a_reason_with_a_stray_byte_is_kept_readable_and_stored(tmp_path):
    address = f"sqlite:///{tmp_path}/s.db"
    study = create_study(Population(["a", "b"]), "random", storage=address, name="s")
    study.fail(study.ask(), "no file caf\udce9.csv")
    assert load_study("s", address).rounds[0].error == r"no file caf\udce9.csv"


def test_a_capacity_of_400_digits_is_as_much_room_as_one_likes():
    assert Population(["a", "b"], size=4, capacity=10**400).limits.most.tolist() == [10**15] * 2
    assert Population(["a", "b"], size=4, capacity=[np.inf, 3]).limits.most.tolist() == [10**15, 3]


def test_values_in_errors_are_short():
    assert said(10**5000) == "a int"
    assert len(said("x" * 10**6)) < 200
