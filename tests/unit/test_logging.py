"""What is logged, under which names, and what is warned of: nothing is said unless a program listens."""

import logging
import re
import warnings
from pathlib import Path

import pytest

import mfbo
from mfbo.cli.output import SpokenNotes
from mfbo.errors import MfboWarning
from mfbo.sheets import read_population

PACKAGE = Path(mfbo.__file__).parent


def test_a_program_that_does_not_listen_hears_nothing():
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("mfbo").handlers)


def test_every_logger_is_that_of_its_package():
    names = {
        found
        for path in PACKAGE.rglob("*.py")
        for found in re.findall(r"_log = logging.getLogger\((.*?)\)", path.read_text(encoding="utf-8"))
    }
    assert names == {"__package__"}


def test_a_study_logs_its_rounds_and_fits(caplog):
    study = mfbo.create_study(mfbo.Population(["a", "b", "c"], size=9))
    with caplog.at_level(logging.INFO, "mfbo"):
        for number in range(5):
            study.tell(study.ask(), float(number))
        study.fail(study.ask(), "no power")
        study.abandon(study.ask())
    heard = [(record.name, record.getMessage()) for record in caplog.records]
    assert heard[:2] == [("mfbo.study", "round 0 asked"), ("mfbo.study", "round 0 done")]
    assert ("mfbo.study", "round 5 failed") in heard
    assert heard[-1] == ("mfbo.study", "round 6 abandoned")
    assert any(name == "mfbo.strategies" and "fitted the kernel 'default' to" in words for name, words in heard)


@pytest.fixture
def foreign(tmp_path):
    path = tmp_path / "stations.csv"
    path.write_bytes("name\nCafé\nHof\n".encode("cp1252"))
    return path


def test_a_warning_names_the_line_that_led_to_it(foreign):
    with pytest.warns(MfboWarning, match="stations.csv is not UTF-8; it is read as Windows-1252") as heard:
        read_population(foreign, size=3)
    assert [warning.filename for warning in heard] == [__file__]


def test_a_command_says_each_warning_once_and_leaves_those_of_others(foreign, capsys):
    others = []
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *more: others.append(str(message))
        warnings.simplefilter("always")
        with SpokenNotes().heard():
            for _ in range(2):
                read_population(foreign, size=3)
            warnings.warn("of another library", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr().err.count("is not UTF-8") == 1
    assert others == ["of another library"]
