"""The table of names: every entry can be made, fits its name, and is loaded only when asked for."""

import re
import subprocess
import sys

import pytest

import mfbo
from mfbo.catalogue import (
    PROBLEMS,
    STRATEGIES,
    known_strategy,
    make_problem,
    make_strategy,
    searches_single_agents,
)
from mfbo.errors import InvalidInputError, MfboError, UnknownNameError
from mfbo.problems import Problem
from mfbo.strategies import MeanFieldGPUCB


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_carries_the_name_it_is_listed_under(name):
    assert make_strategy(name).name == name


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_keeps_the_contract_s_methods(name):
    made = make_strategy(name)
    assert all(callable(getattr(made, method)) for method in ("propose", "recommend", "posterior"))


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_call_makes_a_new_strategy(name):
    assert make_strategy(name) is not make_strategy(name)


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_carries_the_name_it_is_listed_under(name):
    made = make_problem(name)
    assert isinstance(made, Problem)
    assert made.name == name


@pytest.mark.parametrize("entry", [*STRATEGIES.values(), *PROBLEMS.values()], ids=lambda entry: entry.factory)
def test_every_summary_is_one_line(entry):
    assert entry.summary
    assert "\n" not in entry.summary


def test_a_misspelt_strategy_is_refused_with_the_right_spelling():
    with pytest.raises(UnknownNameError, match=r"'defualt'.*'default'"):
        make_strategy("defualt")


def test_a_misspelt_problem_is_refused_with_the_right_spelling():
    with pytest.raises(UnknownNameError, match=r"'swram'.*'swarm'"):
        make_problem("swram")


def test_a_data_file_for_a_problem_that_takes_none_is_refused():
    with pytest.raises(InvalidInputError, match="'swarm' takes no data file"):
        make_problem("swarm", "stations.csv")


def test_an_object_that_proposes_is_a_strategy():
    class Mine:
        name = "mine"
        propose = recommend = posterior = None

    mine = Mine()
    assert make_strategy(mine) is mine


@pytest.mark.parametrize("value", [None, 3, ["default"]])
def test_other_objects_are_refused(value):
    with pytest.raises(InvalidInputError, match="propose"):
        make_strategy(value)


@pytest.mark.parametrize("name", sorted(set(mfbo.__all__)))
def test_every_public_name_can_be_loaded(name):
    assert getattr(mfbo, name) is not None


def test_an_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nosuch"):
        _ = mfbo.nosuch


def test_importing_the_package_alone_loads_no_numeric_library():
    code = (
        "import mfbo, sys; mfbo.__version__; print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'scipy')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_catalogue_names_strategies_without_importing_them():
    heavy = "('mfbo.strategies', 'mfbo.problems')"
    code = f"import mfbo.catalogue, sys; print([m for m in sys.modules if m.startswith({heavy})])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("mf-gp-ucb(multiplier=2)", "mf-gp-ucb(multiplier=2)"),
        ("mf-gp-ucb( multiplier = 2.0 , kernel=joint)", "mf-gp-ucb(kernel=joint,multiplier=2)"),
        ("mf-gp-ucb(multiplier=theorem)", "mf-gp-ucb(multiplier=theorem)"),
        ("mf-gp-ucb(multiplier=-0)", "mf-gp-ucb(multiplier=0)"),
        ("genetic(generation=10)", "genetic(generation=10)"),
        ("default(sparse=false)", "default(sparse=false)"),
        ("annealing(least_chance=1e-7)", "annealing(least_chance=1e-07)"),
    ],
)
def test_settings_in_a_name_have_one_way_to_be_written(written, name):
    assert known_strategy(written) == name
    assert known_strategy(name) == name
    assert make_strategy(name) == make_strategy(written)


def test_settings_in_a_name_reach_the_strategy():
    assert make_strategy("mf-gp-ucb(multiplier=2, kernel=joint)") == MeanFieldGPUCB(
        kernel="joint", multiplier=2.0, name="mf-gp-ucb(kernel=joint,multiplier=2)"
    )
    assert searches_single_agents("genetic(elite=5)")
    assert not searches_single_agents("default(trust=3)")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("mf-gp-ucb(multiplyer=2)", "has no setting 'multiplyer'; it has: sparse, kernel, multiplier, start"),
        ("mf-gp-ucb(name=x)", "no setting 'name'"),
        ("mf-gp-ucb(adam=1)", "no setting 'adam'"),
        ("mf-gp-ucb(multiplier=nan)", "a number from 0"),
        (f"genetic(generation={'9' * 400})", "a whole number from 0"),
        ("mf-gp-ucb(multiplier=-1)", "not '-1'"),
        ("mf-gp-ucb(kernel=rbf)", "'paper' or 'joint'"),
        ("genetic(generation=2.5)", "a whole number"),
        ("mf-gp-ucb()", "must be like"),
        ("mf-gp-ucb(multiplier)", "must be like"),
        ("mf-gp-ucb(multiplier=1,multiplier=2)", "each once"),
        ("mf-gp-ubc(multiplier=1)", "did you mean 'mf-gp-ucb'"),
        ("random(seed=1)", "it has: none"),
        ("genetic(generation=0)", "generation"),
        ("cma-es(step=0)", "step"),
        ("mf-gp-ucb(multiplier=1", "unknown strategy"),
        ("", "unknown strategy ''"),
    ],
)
def test_bad_settings_in_a_name_are_named(written, said):
    with pytest.raises(MfboError, match=re.escape(said)):
        known_strategy(written)
