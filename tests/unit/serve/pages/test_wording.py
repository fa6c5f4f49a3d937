"""Numbers as pages write them."""

import math

import pytest

from mfbo.serve.pages.wording import banded, number, percent, signed


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (3, "3"),
        (-3.0, "−3"),
        (12345, "12 345"),
        (0.123456, "0.1235"),
        (123456.7, "123 457"),
        (1e-7, "1e−07"),
        (0.0, "0"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "–"),
    ],
)
def test_numbers(value, written):
    assert number(value) == written


def test_signs_shares_and_bands():
    assert signed(2) == "+2"
    assert signed(-2) == "−2"
    assert signed(0) == "0"
    assert percent(0.256) == "26 %"
    assert percent(0.0213) == "2.1 %"
    assert banded(313.32, 53.7) == "313 ± 54"
    assert banded(7.46, 18.74, sign=True) == "+7 ± 19"
    assert banded(-0.0004, 0.003, sign=True) == "−0.0004 ± 0.0030"
    assert banded(0.2, 0.0) == "0.2 ± 0"
    assert banded(-0.2, 8.0) == "−0.2 ± 8.0"
