"""Pickups counted per day and place, the demand shares made of them, and the rows counted by reason."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError

Method = Literal["pooled", "daily"]
_PLACES = 1 << 32  # a key is day · 2³² + place


@dataclass
class Tally:
    """How many rows were read, how many were kept, and why the others were not.

    A row is counted under the first reason that holds, in the order of ``reasons``.
    """

    reasons: tuple[str, ...]
    rows: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def kept(self) -> int:
        """The rows that no reason took away."""
        return self.rows - self.skipped.total()

    def as_details(self) -> dict[str, object]:
        """Return the counts for a table's details."""
        return {
            "rows": self.rows,
            "kept": self.kept,
            "skipped": {reason: self.skipped[reason] for reason in self.reasons},
        }

    def refusal(self, files: str, way_out: str) -> InvalidInputError:
        """Return the error for files of which nothing is left."""
        why = ", ".join(f"{self.skipped[reason]:,} {reason}" for reason in self.reasons if self.skipped[reason])
        return InvalidInputError(f"no pickups left of {self.rows:,} rows in {files} ({why or 'no rows'}); {way_out}")


class DailyCounts:
    """Pickups per (day, place); only pairs that occur take memory, so a long file costs no more than a short one."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, days: Sequence[int] | IntArray, places: Sequence[int] | IntArray) -> None:
        """Count one pickup for each (day, place); both of the same length, places below 2³²."""
        keys, counts = np.unique(
            np.asarray(days, np.int64) * _PLACES + np.asarray(places, np.int64), return_counts=True
        )
        self._counts.update(dict(zip(keys.tolist(), counts.tolist(), strict=True)))

    def merge(self, other: "DailyCounts") -> None:
        """Add the pickups that another has counted."""
        self._counts.update(other._counts)

    @property
    def days(self) -> list[int]:
        """All days with a pickup, sorted."""
        return sorted({key // _PLACES for key in self._counts})

    @property
    def total(self) -> int:
        """All pickups counted."""
        return self._counts.total()

    def of_days(self, wanted: Sequence[int]) -> tuple[IntArray, IntArray, IntArray]:
        """Return (days, places, counts), sorted by day and place, of the wanted days only."""
        chosen = set(wanted)
        keys = np.array(sorted(key for key in self._counts if key // _PLACES in chosen), dtype=np.int64)
        counts = np.array([self._counts[key] for key in keys.tolist()], dtype=np.int64)
        return keys // _PLACES, keys % _PLACES, counts


def check_method(method: Method) -> Method:
    """Return ``method`` if it is one of the two ways to make shares of counts."""
    if method not in ("pooled", "daily"):
        raise InvalidInputError(f"method must be 'pooled' or 'daily', not {method!r}")
    return method


def demand_shares(
    days: IntArray, places: IntArray, counts: IntArray, method: Method
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return (places with demand (A,), their pickups (A,), their demand shares (A,)).

    "pooled": the share of all pickups. "daily": each day normalized, then the mean over the days that have
    pickups, as the paper does: every day then weighs the same, however busy it was.
    """
    found, index = np.unique(places, return_inverse=True)
    pickups = np.bincount(index, weights=counts, minlength=len(found))
    if method == "pooled":
        shares = pickups / pickups.sum()
    else:
        _, day = np.unique(days, return_inverse=True)
        totals = np.bincount(day, weights=counts)
        shares = np.bincount(index, weights=counts / totals[day], minlength=len(found)) / len(totals)
    return found, pickups.astype(np.int64), np.asarray(shares)
