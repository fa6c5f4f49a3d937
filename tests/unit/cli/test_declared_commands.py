"""Every command is declared once, as a record; what it runs exists and takes that record."""

import inspect
from dataclasses import FrozenInstanceError
from importlib import import_module
from pkgutil import iter_modules

import pytest

import mfbo.cli
from mfbo.cli import commands, data_commands, study_commands

RECORDS = [
    record
    for module in (commands, study_commands, data_commands)
    for record in vars(module).values()
    if inspect.isclass(record) and record.__module__ == module.__name__ and not record.__name__.startswith("_")
]


def implementations():
    """Return the functions of the package that take a record of options alone, by that record."""
    helpers = {"__main__", "data_build", "data_options"}  # parts of `data build` take its record too
    names = {module.name for module in iter_modules(mfbo.cli.__path__)} - helpers
    found = {}
    for name in names:
        module = import_module(f"mfbo.cli.{name}")
        for function in vars(module).values():
            if inspect.isfunction(function) and function.__module__ == module.__name__:
                parameters = [*inspect.signature(function).parameters.values()]
                if len(parameters) == 1 and not function.__name__.startswith("_"):
                    found.setdefault(parameters[0].annotation, []).append(function)
    return found


def test_every_command_has_one_function_that_takes_its_record():
    found = implementations()
    declared = [group.registered_commands for group in (commands.app, study_commands.app, data_commands.app)]
    assert sum(map(len, declared)) == len(RECORDS) > 20
    for record in RECORDS:
        assert len(found[record]) == 1, record


def test_a_record_of_options_cannot_be_changed():
    ask = study_commands.Ask("saturdays")
    assert (ask.worker, ask.storage, ask.json) == ("operator", "sqlite:///mfbo.db", False)
    with pytest.raises(FrozenInstanceError):
        ask.name = "sundays"
