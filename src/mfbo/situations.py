"""Situations: what all agents share in a round (weekday, weather, date), declared once and said round by round.

Contexts split the fleet, situations do not. Some of a situation is known when a plan is made, some only afterwards.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError, UnknownNameError
from mfbo.validation import finite_number, is_missing, known_name, plain_text, said, unique_names

SituationKind = Literal["category", "number", "time"]
Known = Literal["before", "after"]
SituationValue = str | float
Situation = Mapping[str, SituationValue]
"""What is known of one round: names of variables → a category, a number, or a time in days since 1970-01-01."""

KINDS = ("number", "time")
SECONDS_A_DAY = 86_400.0
DAYS_A_MONTH = 365.25 / 12
LARGEST_NUMBER = 1e150
TIME_FORMS = "a date like 2026-05-03 or 03.05.2026, with a time of day like 2026-05-03T07:30, or days since 1970-01-01"
POINTED_DATE = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})(?=$|[T ])")  # between points the day comes first


@dataclass(frozen=True)
class SituationVariable:
    """One thing that differs from round to round.

    categories: its possible values, for a category. known: whether it is known when a plan is made, or only afterwards.
    """

    name: str
    kind: SituationKind
    categories: tuple[str, ...] = ()
    known: Known = "before"

    def read(self, value: Any) -> SituationValue:
        """Check a value that a user gives."""
        name = f"situation {self.name!r}"
        if self.kind == "category":
            if not isinstance(value, str) or value not in self.categories:
                listed = ", ".join(self.categories)
                raise UnknownNameError(
                    f"{name} must be one of {listed}, not {said(value)};"
                    " new_categories=True (--new-category) takes a new one"
                )
            return value
        number = _days(value, name) if self.kind == "time" else finite_number(value, name)
        if abs(number) > LARGEST_NUMBER:
            raise InvalidInputError(f"{name} must be below {LARGEST_NUMBER:g} in size, not {number:g}")
        return number

    def encoded(self, value: SituationValue) -> float:
        """Return a value as the model reads it: the position of a category, a number as it is, a time in months."""
        if self.kind == "category":
            return float(self.categories.index(str(value)))
        return float(value) / DAYS_A_MONTH if self.kind == "time" else float(value)

    def shown(self, value: SituationValue) -> str:
        """Return a value as people write it, so that it reads back as the same."""
        if self.kind != "time":
            return str(value).removesuffix(".0") if self.kind == "number" else str(value)
        moment = datetime.fromtimestamp(float(value) * SECONDS_A_DAY, UTC)
        return moment.date().isoformat() if float(value).is_integer() else moment.replace(tzinfo=None).isoformat()

    def to_record(self) -> dict[str, Any]:
        """Return plain values."""
        return {"name": self.name, "kind": self.kind, "categories": list(self.categories), "known": self.known}


@dataclass(frozen=True)
class Situations:
    """The variables that a study knows, in the order in which they were declared."""

    variables: tuple[SituationVariable, ...]

    @staticmethod
    def read(declared: Any) -> "Situations":
        """Check a declaration: {name: list of categories, "number", "time", or {"kind": …, "known": "after"}}."""
        if isinstance(declared, Situations):
            return declared
        if not isinstance(declared, Mapping):
            raise InvalidInputError(f"situations must map names to kinds, not {said(declared)}")
        names = unique_names(declared, "situations")
        found = zip(names, declared.values(), strict=True)
        return Situations(tuple(_variable(name, kind) for name, kind in found))

    @staticmethod
    def from_records(records: Iterable[Mapping[str, Any]]) -> "Situations":
        """Read what ``SituationVariable.to_record`` wrote."""
        return Situations.read(
            {
                record["name"]: {
                    "kind": list(record["categories"]) if record["kind"] == "category" else record["kind"],
                    "known": record["known"],
                }
                for record in records
            }
        )

    @cached_property
    def by_name(self) -> dict[str, SituationVariable]:
        """The variables by their names."""
        return {variable.name: variable for variable in self.variables}

    def values(self, stated: Any, *, when: Known, new_categories: bool = False) -> dict[str, SituationValue]:
        """Check what a user says of a round; what is missing is unknown.

        when: before the round only what is known then may be said; afterwards anything. new_categories: whether a
        category may be new.
        """
        if stated is None:
            return {}
        if not isinstance(stated, Mapping):
            raise InvalidInputError(f"situation must map names to values, not {said(stated)}")
        found: dict[str, SituationValue] = {}
        for name, value in stated.items():
            variable = self.by_name[known_name(name, "situation", tuple(self.by_name))]
            if is_missing(value):
                continue
            if when == "before" and variable.known == "after":
                raise InvalidInputError(
                    f"situation {name!r} was declared as known only after a round: say it when telling the result"
                )
            if new_categories and variable.kind == "category" and isinstance(value, str):
                found[variable.name] = unique_names([value], f"situation {name!r}")[0]
            else:
                found[variable.name] = variable.read(value)
        return found

    def moment(self, situation: Situation) -> float | None:
        """Return the latest time that is said of a round, in seconds since 1970; None if none is."""
        names = [variable.name for variable in self.variables if variable.kind == "time"]
        times = [float(situation[name]) for name in names if name in situation]
        return SECONDS_A_DAY * max(times) if times else None

    def unsaid(self, stated: Any) -> tuple[str, ...]:
        """Return the variables that are named without a value, as unknown; ``stated``: checked by ``values``."""
        return tuple(name for name, value in (stated or {}).items() if is_missing(value))

    def holding(self, situation: Situation) -> "Situations":
        """Return the variables with the categories of a round among theirs; themselves if they have them already."""
        added = {}
        for name, value in situation.items():
            variable = self.by_name[name]
            if variable.kind == "category" and value not in variable.categories:
                added[name] = [value]
        return self.with_categories(added) if added else self

    def encoded(self, situation: Situation) -> FloatArray:
        """Return a situation as numbers (V,), NaN where it is unknown."""
        row = np.full(len(self.variables), np.nan)
        for position, variable in enumerate(self.variables):
            if variable.name in situation:
                row[position] = variable.encoded(situation[variable.name])
        return row

    def in_words(self, situation: Mapping[str, Any]) -> dict[str, str]:
        """Return a situation as people write it, in the order of the variables."""
        return {
            variable.name: "unknown" if situation[variable.name] is None else variable.shown(situation[variable.name])
            for variable in self.variables
            if variable.name in situation
        }

    def with_categories(self, added: Any) -> "Situations":
        """Return the variables with more categories, {name: new ones}; rounds so far keep their meaning."""
        if not isinstance(added, Mapping):
            raise InvalidInputError(f"categories must map a situation's name to new categories, not {said(added)}")
        grown = dict(self.by_name)
        for name, values in added.items():
            variable = grown[known_name(name, "situation", tuple(grown))]
            if variable.kind != "category":
                raise InvalidInputError(f"situation {name!r} is a {variable.kind}: it has no categories to add to")
            new = [values] if isinstance(values, str) else values
            grown[variable.name] = replace(
                variable, categories=unique_names([*variable.categories, *new], f"situation {name!r}")
            )
        return Situations(tuple(grown.values()))


def _variable(name: str, declared: Any) -> SituationVariable:
    what = f"situation {plain_text(name, 'a situation')!r}"
    known: Known = "before"
    if isinstance(declared, Mapping):
        odd = sorted(set(map(str, declared)) - {"kind", "known"})
        if odd or "kind" not in declared:
            raise InvalidInputError(f"{what} must have a kind, and may say when it is known; not {said(declared)}")
        known = (
            "after"
            if known_name(declared.get("known", known), f"{what}: known", ("before", "after")) == "after"
            else known
        )
        declared = declared["kind"]
    if isinstance(declared, str):
        kind = known_name(declared, f"{what}: kind", KINDS)
        return SituationVariable(name, "time" if kind == "time" else "number", known=known)
    if not isinstance(declared, Iterable):
        raise InvalidInputError(f"{what} must be 'number', 'time' or a list of categories, not {said(declared)}")
    categories = unique_names(declared, what)
    if len(categories) < 2:
        raise InvalidInputError(f"{what} must have at least two categories, not {said(list(categories))}")
    return SituationVariable(name, "category", categories, known)


def _with_the_year_first(found: re.Match[str]) -> str:
    day, month, year = found.groups()
    return f"{year}-{month:0>2}-{day:0>2}"


def _days(value: Any, name: str) -> float:
    """Return a time as days since 1970-01-01; a time without a zone is taken as it stands."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(POINTED_DATE.sub(_with_the_year_first, value.strip(), count=1))
        except ValueError:
            raise InvalidInputError(f"{name} must be {TIME_FORMS}, not {said(value)}") from None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return aware.timestamp() / SECONDS_A_DAY
    if isinstance(value, date):
        return float(value.toordinal() - date(1970, 1, 1).toordinal())
    try:
        return finite_number(value, name)
    except InvalidInputError:
        raise InvalidInputError(f"{name} must be {TIME_FORMS}, not {said(value)}") from None
