"""Days and hours: every spelling of a time stamp, of weekdays and of hours, and the choice of weeks."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbo.errors import InvalidInputError
from mfbo.problems.tables.days import Clock, hour_numbers, iso, weekday_numbers, weeks_of


@given(st.datetimes())
def test_every_moment_is_read_in_every_spelling(moment):
    clock = Clock()
    wanted = (moment.date().toordinal(), moment.weekday(), moment.hour)
    day = f"{moment.year:04}-{moment.month:02}-{moment.day:02}"
    time = f"{moment.hour:02}:{moment.minute:02}"
    spellings = [f"{day} {time}", f"{day}T{time}:07.123", f" {day.replace('-', '/')} {time}:00+00\n"]
    if moment.year >= 1000:
        spellings.append(f"{moment.month}/{moment.day}/{moment.year} {moment.hour}:{moment.minute:02}")
        half = "PM" if moment.hour >= 12 else "AM"
        spellings.append(
            f"{moment.month}/{moment.day}/{moment.year} {moment.hour % 12 or 12}:{moment.minute:02} {half}"
        )
    for text in spellings * 2:  # the second time from memory
        assert clock.read(text) == wanted, text
    assert clock.first_day == clock.last_day == wanted[0]


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2015-02-31 10:00", "2015-01-01 24:00", "2015-01-01", "31/12/2015 10:00", "0000-01-01 10:00"],
)
def test_unreadable_moments_are_none_and_do_not_widen_the_seen_days(text):
    clock = Clock()
    assert clock.read(text) is None
    assert clock.first_day is None


def test_two_digit_years_are_of_this_century():
    assert Clock().read("5/3/14 9:15") == (date(2014, 5, 3).toordinal(), 5, 9)


@pytest.mark.parametrize(
    ("given_days", "numbers"),
    [
        ("mon-fri", (0, 1, 2, 3, 4)),
        ("Saturday", (5,)),
        (5, (5,)),
        ("sat-mon", (0, 5, 6)),
        ("mon, wed", (0, 2)),
        (["fri", 6], (4, 6)),
    ],
)
def test_weekdays(given_days, numbers):
    assert weekday_numbers(given_days) == numbers


@pytest.mark.parametrize("wrong", ["holiday", "t", 7, -1, True, [], "mon-"])
def test_wrong_weekdays_are_refused(wrong):
    with pytest.raises(InvalidInputError, match="weekday"):
        weekday_numbers(wrong)


@pytest.mark.parametrize(
    ("given_hours", "numbers"),
    [
        ("15-18", (15, 16, 17)),
        ("22-2", (0, 1, 22, 23)),
        ("7", (7,)),
        (7, (7,)),
        ([3, 1], (1, 3)),
        ("0-24", tuple(range(24))),
    ],
)
def test_hours(given_hours, numbers):
    assert hour_numbers(given_hours) == numbers


@pytest.mark.parametrize("wrong", ["noon", "25", "5-5", "3-25", 24, [], [1.5], [True]])
def test_wrong_hours_are_refused(wrong):
    with pytest.raises(InvalidInputError, match="hours"):
        hour_numbers(wrong)


def _clock(first: str, last: str) -> Clock:
    clock = Clock()
    clock.read(f"{first} 10:00")
    clock.read(f"{last} 10:00")
    return clock


def test_weeks_start_on_the_first_pickup_or_the_first_day():
    clock = _clock("2014-05-01", "2014-05-31")
    pickups = [date(2014, 5, 10).toordinal(), date(2014, 5, 24).toordinal()]
    assert [iso(day) for day in weeks_of("sat", None, 2).days(pickups, clock)] == ["2014-05-10", "2014-05-17"]
    assert [iso(day) for day in weeks_of("sat", "2014-05-01", 1).days(pickups, clock)] == ["2014-05-03"]
    assert [iso(day) for day in weeks_of("sat", None, None).days(pickups, clock)] == [
        "2014-05-10",
        "2014-05-17",
        "2014-05-24",
    ]
    assert weeks_of("sat", None, 2).days([], clock) == ()


def test_weeks_that_the_files_do_not_cover_are_refused_with_what_they_cover():
    clock = _clock("2014-05-03", "2014-05-24")
    pickups = [date(2014, 5, 3).toordinal() + 7 * week for week in range(4)]
    assert len(weeks_of("sat", "2014-05-03", 4).days(pickups, clock)) == 4
    with pytest.raises(InvalidInputError, match="2014-05-03 to 2014-05-24: 4 of 5 days"):
        weeks_of("sat", "2014-05-03", 5).days(pickups, clock)
    with pytest.raises(InvalidInputError, match="3 of 4 days"):
        weeks_of("sat", date(2014, 5, 3) - timedelta(days=7), 4).days(pickups, clock)


@pytest.mark.parametrize(("first_day", "weeks"), [("3 May", 2), (20140503, 2), ("2014-05-03", 0), ("2014-05-03", 2.5)])
def test_wrong_weeks_are_refused(first_day, weeks):
    with pytest.raises(InvalidInputError, match=r"first_day|weeks"):
        weeks_of("sat", first_day, weeks)
