"""What all agents share in a round: declarations, values, and how the model reads them."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from mfbo.errors import InvalidInputError, MfboError, UnknownNameError
from mfbo.situations import Situations

DECLARED = {
    "day": ["weekday", "weekend"],
    "rain": "number",
    "date": "time",
    "requests": {"kind": "number", "known": "after"},
}


@pytest.fixture
def situations():
    return Situations.read(DECLARED)


def test_a_declaration_survives_its_records(situations):
    records = [variable.to_record() for variable in situations.variables]
    assert Situations.from_records(records) == situations


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        (["day"], "must map names to kinds"),
        ({"day": []}, "must not be empty"),
        ({"day": ["weekday"]}, "at least two categories"),
        ({"day": ["a", "a"]}, "appears twice"),
        ({"rain": "numbr"}, "did you mean 'number'"),
        ({"rain": 3}, "must be 'number', 'time' or a list"),
        ({"rain": {"known": "after"}}, "must have a kind"),
        ({"rain": {"kind": "number", "know": "after"}}, "must have a kind"),
        ({"rain": {"kind": "number", "known": "later"}}, "unknown situation 'rain': known 'later'"),
        ({}, "must not be empty"),
    ],
)
def test_an_odd_declaration_is_refused(declared, reason):
    with pytest.raises(MfboError, match=reason):
        Situations.read(declared)


def test_missing_values_are_unknown(situations):
    values = situations.values({"day": "weekend", "rain": None, "date": float("nan")}, when="before")
    assert values == {"day": "weekend"}
    row = situations.encoded(values)
    assert row[0] == 1.0
    assert np.isnan(row[1:]).all()
    assert np.isnan(situations.encoded({})).all()


@pytest.mark.parametrize(
    ("stated", "error", "reason"),
    [
        ({"wind": 3}, UnknownNameError, "unknown situation 'wind'"),
        ({"day": "holiday"}, UnknownNameError, "must be one of weekday, weekend, not 'holiday'; new_categories=True"),
        ({"day": 1}, UnknownNameError, "must be one of"),
        ({"rain": "much"}, InvalidInputError, "must be a number, not 'much'"),
        ({"rain": 1e200}, InvalidInputError, "below 1e"),
        ({"date": "3 May"}, InvalidInputError, "must be a date like"),
        ({"date": [1]}, InvalidInputError, "must be a date like"),
        ({"requests": 812}, InvalidInputError, "known only after a round"),
        ("weekend", InvalidInputError, "must map names to values"),
    ],
)
def test_an_odd_value_is_refused(situations, stated, error, reason):
    with pytest.raises(error, match=reason):
        situations.values(stated, when="before")


def test_afterwards_everything_may_be_said(situations):
    assert situations.values({"requests": 812, "rain": 0.3}, when="after") == {"requests": 812.0, "rain": 0.3}


@pytest.mark.parametrize(
    "value",
    [
        "2026-05-03",
        date(2026, 5, 3),
        datetime(2026, 5, 3, tzinfo=UTC),
        datetime(2026, 5, 3, 2, tzinfo=timezone(timedelta(hours=2))),
        np.datetime64("2026-05-03"),
        20576,
    ],
)
def test_times_in_every_form_are_the_same_day(situations, value):
    assert situations.values({"date": value}, when="before") == {"date": 20576.0}


@pytest.mark.parametrize("text", ["2026-05-03", "2026-05-03T07:30:00"])
def test_shown_values_read_back(situations, text):
    variable = situations.by_name["date"]
    value = variable.read(text)
    assert variable.shown(value) == text
    assert variable.read(variable.shown(value)) == value


def test_new_categories_keep_the_old_ones_places(situations):
    grown = situations.with_categories({"day": ["holiday"]})
    assert grown.by_name["day"].categories == ("weekday", "weekend", "holiday")
    assert grown.encoded({"day": "weekend"})[0] == situations.encoded({"day": "weekend"})[0]
    with pytest.raises(InvalidInputError, match="appears twice"):
        situations.with_categories({"day": ["weekend"]})
    with pytest.raises(InvalidInputError, match="has no categories"):
        situations.with_categories({"rain": ["wet"]})
