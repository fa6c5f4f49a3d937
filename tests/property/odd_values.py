"""What users hand in by mistake or malice: values that no call takes, each made anew when it is asked for."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd

from mfbo import Feedback

HUGE = 10**400


class FailingIteration:
    def __iter__(self):
        raise RuntimeError("cannot be gone through")


class FailingFloat(float):
    def __float__(self):
        raise RuntimeError("is no number after all")


class FailingText:
    def __str__(self):
        raise RuntimeError("cannot say itself")

    __repr__ = __str__


class FailingEquality:
    def __eq__(self, other):
        raise RuntimeError("cannot be compared")

    __hash__ = object.__hash__


class FailingArray:
    def __array__(self, *arguments, **options):
        raise RuntimeError("is no array after all")


def failing_generator():
    yield 1
    raise RuntimeError("stopped in the middle")


ODD = {
    "true": lambda: True,
    "400 digits": lambda: HUGE,
    "minus 400 digits": lambda: -HUGE,
    "5000 digits": lambda: 10**5000,
    "1.7e308": lambda: 1.7e308,
    "5e-324": lambda: 5e-324,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "text": lambda: "x",
    "empty text": lambda: "",
    "bytes": lambda: b"x",
    "stray byte": lambda: "a\udc80",
    "null byte": lambda: "a\0b",
    "escape": lambda: "\x1b[31m",
    "empty list": list,
    "empty dict": dict,
    "ragged": lambda: [[1, 2], [3]],
    "0-d": lambda: np.array(1.0),
    "0-d text": lambda: np.array("x"),
    "empty array": lambda: np.array([]),
    "array of objects": lambda: np.array([None]),
    "array of 400 digits": lambda: np.array([HUGE], dtype=object),
    "beyond a double": lambda: np.longdouble("1e4000"),
    "pandas NA": lambda: pd.NA,
    "pandas NaT": lambda: pd.NaT,
    "series with NA": lambda: pd.Series([pd.NA, 1, 2]),
    "frame": lambda: pd.DataFrame({"a": [1, 2, 3]}),
    "date": lambda: datetime.date(2020, 1, 1),
    "datetime64": lambda: np.datetime64("2020"),
    "decimal": lambda: decimal.Decimal("1e400"),
    "fraction": lambda: fractions.Fraction(HUGE, 3),
    "complex": lambda: 1j,
    "failing iteration": FailingIteration,
    "failing float": lambda: FailingFloat(1.0),
    "failing text": FailingText,
    "failing equality": FailingEquality,
    "failing array": FailingArray,
    "failing generator": failing_generator,
    "empty generator": lambda: (each for each in ()),
    "class": lambda: type,
    "mapping to 400 digits": lambda: {"a": HUGE},
    "cells to 400 digits": lambda: {("all", "a"): HUGE},
    "mapping of numbers": lambda: {1: 2},
    "mapping of failing text": lambda: {FailingText(): 1},
    "list of failing text": lambda: [FailingText()],
    "huge values": lambda: [1.7e308] * 3,
    "tiny values": lambda: [5e-324] * 3,
    "400 digits thrice": lambda: [HUGE] * 3,
    "agents with 400 digits": lambda: [("a", HUGE)],
    "agents at 400 digits": lambda: [(HUGE, 0, 1.0)],
    "agents nowhere": lambda: [("a", "\udc80")],
    "feedback of 400 digits": lambda: Feedback(payoff=HUGE),
    "feedback of no agents": lambda: Feedback(agents=5),
    "feedback of one cell": lambda: Feedback(cells=[1]),
    "feedback of odd counts": lambda: Feedback(cells=np.ones((1, 3)), counts="x"),
    "too many": lambda: 10**18,
    "negative": lambda: -1,
    "names with a stray byte": lambda: ["a", "b\udc80"],
    "names of bytes": lambda: [b"a", b"b"],
    "the same name": lambda: ["a", "a"],
    "columns of two lengths": lambda: {"name": ["a", "b", "c"], "x": [1, 2]},
    "far features": lambda: {"name": ["a", "b", "c"], "x": [1.7e308, -1.7e308, 0]},
    "features of 400 digits": lambda: {"name": ["a", "b", "c"], "x": [1, 2, HUGE]},
}
