"""The table of names: every entry can be made, fits its name, and is loaded only when asked for."""

import subprocess
import sys

import pytest

import mfbo
from mfbo.catalogue import PROBLEMS, STRATEGIES, make_problem, make_strategy
from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.problems import Problem


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
