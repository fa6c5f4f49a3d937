"""Names and positions never meet: whatever stations and types are called, every border finds the right one."""

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mfbo import Feedback, Population, create_study
from mfbo.errors import FaultyFileError, UnknownNameError
from mfbo.problems import demand_problem
from mfbo.problems.tables.user_files import load_demand
from mfbo.sheets import (
    Faults,
    read_agents,
    read_cells,
    read_past_days,
    read_placed,
    read_plan,
    read_population,
)

LOOKALIKES = (
    *map(str, range(8)),
    *("01", "001", "00", "02", "1.0", "1.00", "2.5", "2.50", "2,5", "1e3", "1000", "-1", "+1"),
    *("True", "true", "TRUE", "False", "no", "None", "nan", "NaN", "a", "A"),
)


@st.composite
def populations(draw):
    """Stations and types whose names look like numbers, truth values or each other, in any order."""
    names = draw(st.lists(st.sampled_from(LOOKALIKES), min_size=2, max_size=8, unique=True))
    contexts = draw(st.lists(st.sampled_from(LOOKALIKES), min_size=1, max_size=3, unique=True))
    return names, contexts


def cells_of(names, contexts, seed):
    """Every cell as (context name, station name) with a number of its own, in any order."""
    cells = [(c, a, 10.0 * contexts.index(c) + names.index(a) + 1.0) for c in contexts for a in names]
    return [cells[place] for place in np.random.default_rng(seed).permutation(len(cells))]


def table(names, contexts):
    return np.array([[10.0 * c + a + 1.0 for a in range(len(names))] for c in range(len(contexts))])


def written(folder, name, header, rows):
    path = Path(folder) / name
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


FEW = settings(max_examples=25, deadline=None)
SEEDS = st.integers(0, 1000)
SHUFFLED = (["2", "0", "1"], ["1", "0"])


@given(populations())
@example(SHUFFLED)
def test_a_text_is_a_name_and_a_whole_number_a_position(case):
    names, contexts = case
    population = Population(names, contexts)
    for position, name in enumerate(names):
        assert population.action_index(name) == population.action_index(np.str_(name)) == position
        assert population.action_index(position) == population.action_index(np.int64(position)) == position
        assert population.action_index(float(position)) == position
    for position, name in enumerate(contexts):
        assert population.context_index(name) == population.context_index(position) == position
    for neither in (True, np.True_, 0.5, None):
        with pytest.raises(UnknownNameError):
            population.action_index(neither)


@FEW
@given(populations(), st.booleans(), SEEDS)
@example(SHUFFLED, False, 0)
def test_what_is_told_lands_where_it_was_said(case, by_name, seed):
    names, contexts = case
    population = Population(names, contexts, size=100 * len(contexts))
    said = cells_of(names, contexts, seed)
    if not by_name:
        said = [(contexts.index(c), names.index(a), value) for c, a, value in said]
    wanted = table(names, contexts)
    told = Feedback.read(population, agents=said)
    again = create_study(population)
    read_twice = again.tell(again.ask(), told).feedback
    if not by_name:
        assert told.agents == Feedback.read(population, agents=np.array(said)).agents
    for feedback in (told, read_twice):
        assert all(wanted[c, a] == payoff for c, a, payoff in feedback.agents)
        assert len({(c, a) for c, a, _ in feedback.agents}) == wanted.size
    mapping = {(c, a): value for c, a, value in said}
    study = create_study(population)
    done = study.tell(study.ask(), cells=mapping, counts=mapping)
    np.testing.assert_array_equal(done.feedback.cells, wanted)
    np.testing.assert_array_equal(done.feedback.counts, wanted)


@FEW
@given(populations(), st.booleans())
@example(SHUFFLED, False)
def test_limits_hold_where_they_were_said(case, by_name):
    names, contexts = case
    size = 100 * len(contexts)

    def key(action):
        return action if by_name else names.index(action)

    def cell(context, action):
        return (context, action) if by_name else (contexts.index(context), names.index(action))

    most = {key(a): 1000 + i for i, a in reversed(list(enumerate(names)))}
    least = {key(a): i for i, a in reversed(list(enumerate(names)))}
    population = Population(names, contexts, size=size, capacity=most, minimum=least)
    np.testing.assert_array_equal(population.limits.most, [1000 + i for i in range(len(names))])
    np.testing.assert_array_equal(population.limits.least, range(len(names)))
    labeled = pd.Series(list(most.values()), index=[str(names[i]) for i in reversed(range(len(names)))])
    np.testing.assert_array_equal(Population(names, size=9, capacity=labeled).limits.most, population.limits.most)
    for context in contexts:
        for action in names:
            at = contexts.index(context), names.index(action)
            closed = Population(names, contexts, size=size, forbidden=[cell(context, action)])
            assert np.argwhere(closed.limits.upper == 0).tolist() == [list(at)]
            fixed = Population(names, contexts, size=size, fixed={cell(context, action): 7})
            assert np.argwhere(fixed.limits.lower == 7).tolist() == [list(at)]
    closed = Population(names, contexts, size=size, forbidden=[key(names[0])])
    assert (closed.limits.upper[:, 0] == 0).all()
    assert (closed.limits.upper[:, 1:] > 0).all()
    start = {cell(c, names[-1]): 100 for c in contexts}
    placed = Population(names, contexts, size=size, placed=start).limits.placed
    assert (placed[:, -1] == 100).all()


@FEW
@given(populations(), SEEDS)
@example(SHUFFLED, 0)
def test_everything_in_a_file_is_a_name(case, seed):
    names, contexts = case
    said = cells_of(names, contexts, seed)
    wanted = table(names, contexts)
    with TemporaryDirectory() as folder:
        stations = written(folder, "stations.csv", ["name", "x"], [(name, i) for i, name in enumerate(names)])
        types = written(folder, "types.csv", ["name", "weight"], [(name, 1) for name in contexts])
        population = read_population(stations, types, 100, features=None, capacity=None, move_budget=None)
        assert (population.actions, population.contexts) == (tuple(names), tuple(contexts))
        faults = Faults()
        header = ["context", "station", "agents"]
        placed = written(folder, "placed.csv", header, [(c, a, int(value)) for c, a, value in said])
        np.testing.assert_array_equal(read_placed(placed, population, faults), wanted)
        day = written(folder, "day.csv", [*header, "payoff"], [(c, a, 1, value) for c, a, value in said])
        assert read_cells(day, population, None, faults).payoffs == dict(np.ndenumerate(wanted))
        trips = written(folder, "trips.csv", ["context", "station", "payoff"], said)
        seen = read_agents(trips, population, faults)
        assert all(wanted[c, a] == payoff for c, a, payoff in seen)
        told = Feedback.read(population, agents=seen).agents
        assert all(wanted[c, a] == payoff for c, a, payoff in told)
        past = written(
            folder, "past.csv", ["day", "payoff", *header], [("d1", 3, c, a, int(value)) for c, a, value in said]
        )
        (found,) = read_past_days(past, population, faults)
        np.testing.assert_allclose(found.distribution, wanted / wanted.sum(axis=1, keepdims=True))
        faults.report()


@FEW
@given(populations(), SEEDS)
@example(SHUFFLED, 0)
def test_tables_and_plans_of_problems_keep_their_names(case, seed):
    names, _ = case
    order = np.random.default_rng(seed).permutation(names).tolist()
    with TemporaryDirectory() as folder:
        rows = [(name, i + 1, i) for i, name in enumerate(names)]
        loaded = load_demand(written(folder, "table.csv", ["name", "demand", "x"], rows))
        assert loaded.names == tuple(names)
        problem = demand_problem(loaded.names, loaded.demand, coordinates=None)
        plan = written(folder, "plan.csv", ["action", "agents"], [(name, names.index(name) + 1) for name in order])
        shares = np.arange(1.0, len(names) + 1.0)
        np.testing.assert_allclose(read_plan(plan, problem.population)[0], shares / shares.sum())


@pytest.mark.parametrize("names", [["a", " a"], ["1", "1 ", "2"]])
def test_names_that_a_file_cannot_tell_apart_are_refused(names, tmp_path):
    rows = [(name, 1) for name in names]
    faults = Faults()
    read_placed(written(tmp_path, "placed.csv", ["station", "agents"], rows), Population(names, size=9), faults)
    with pytest.raises(FaultyFileError, match="may be"):
        faults.report()


def test_a_cell_in_another_case_is_found_only_if_it_can_mean_one_name(tmp_path):
    placed = written(tmp_path, "placed.csv", ["station", "agents"], [("PARK", 1), ("pier", 2)])
    faults = Faults()
    found = read_placed(placed, Population(["Pier", "Park"], size=3), faults)
    np.testing.assert_array_equal(found, [[2, 1]])
    read_placed(placed, Population(["Pier", "Park", "park"], size=3), faults)
    with pytest.raises(FaultyFileError, match="'PARK' may be 'Park' or 'park'"):
        faults.report()


def test_one_place_said_twice_is_refused():
    population = Population(["b", "a"], size=10)
    study = create_study(population)
    with pytest.raises(ValueError, match="'a' and 1 are the same place"):
        study.tell(study.ask(), cells={"a": 1.0, 1: 2.0})
    with pytest.raises(ValueError, match="the same place"):
        Population(["b", "a"], size=10, capacity={"a": 10, 1: 9})
