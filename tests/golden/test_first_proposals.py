"""The first proposals stay as recorded; if a change is meant, run ``python tests/golden/record.py`` and say why."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

spec = importlib.util.spec_from_file_location("golden_record", Path(__file__).with_name("record.py"))
record = importlib.util.module_from_spec(spec)
spec.loader.exec_module(record)


@pytest.mark.parametrize(("strategy", "problem"), record.CASES)
def test_first_proposals_are_those_recorded(strategy, problem):
    expected = np.array(record.stored()[record.key_of(strategy, problem)])
    hint = "if the change is meant: python tests/golden/record.py"
    np.testing.assert_allclose(record.first_proposals(strategy, problem), expected, rtol=0, atol=1e-4, err_msg=hint)


def test_recorded_proposals_are_distributions():
    for proposals in record.stored().values():
        np.testing.assert_allclose(np.sum(proposals, axis=-1), 1.0, atol=1e-4)


def test_recorded_proposals_are_those_of_the_cases():
    assert list(record.stored()) == [record.key_of(*case) for case in record.CASES]
