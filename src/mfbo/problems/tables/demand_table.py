"""The demand table: places with names, features, extra columns and demand shares, and where it all came from."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.validation import listed, number_array, unique_names

EXACT_SUM = 1e-9  # shares that sum to 1 this closely are kept to the bit, so that a written table reads back equal


@dataclass(frozen=True, eq=False)
class _CheckedDemand:
    """The fields of a demand table once they have been checked."""

    names: tuple[str, ...]
    feature_names: tuple[str, ...]
    features: FloatArray
    demand: FloatArray
    extras: Mapping[str, IntArray]
    details: Mapping[str, Any]


class DemandTable(_CheckedDemand):
    """Where demand is: A places, each with a name, d features and a share of all demand.

    names: (A,) unique; feature_names: (d,); features: (A, d), what a model may know of a place (coordinates);
    demand: (A,), at least 0, scaled to sum to 1; extras: whole-number columns (A,) that describe a place but are not
    features (row, column, docks, pickups): a model that saw the pickups would be told the answer.
    details: source, license, files, period, filter, command and counts, as the JSON sidecar keeps them.
    """

    def __init__(
        self,
        names: Sequence[str],
        feature_names: Sequence[str],
        features: Any,
        demand: Any,
        extras: Mapping[str, Any] = MappingProxyType({}),
        details: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Check it all."""
        places = unique_names(names, "names")
        labels = listed(feature_names, "feature_names")
        columns = unique_names(labels, "feature_names") if labels else ()
        whole = {name: read_only(_whole(values, name, len(places)), np.int64) for name, values in extras.items()}
        clash = {"name", "demand", *columns} & set(whole) | {"name", "demand"} & set(columns)
        if clash:
            raise InvalidInputError(f"the column {sorted(clash)[0]!r} is there twice; rename one of them")
        super().__init__(
            names=places,
            feature_names=columns,
            features=read_only(number_array(features, "features", (len(places), len(columns)))),
            demand=read_only(_shares(number_array(demand, "demand", (len(places),)), places)),
            extras=MappingProxyType(whole),
            details=checked_details(details),
        )

    def __len__(self) -> int:
        """Return A, the number of places."""
        return len(self.names)

    @property
    def coordinates(self) -> FloatArray | None:
        """The places on a map, (A, 2): longitude and latitude, or x and y; None if the table has neither."""
        for pair in (("longitude", "latitude"), ("x", "y")):
            if all(name in self.feature_names for name in pair):
                return np.asarray(self.features[:, [self.feature_names.index(name) for name in pair]])
        return None


def _shares(demand: FloatArray, names: tuple[str, ...]) -> FloatArray:
    if (demand < 0).any():
        place = int(np.argmin(demand))
        raise InvalidInputError(f"demand must be at least 0, but {names[place]!r} has {demand[place]:.6g}")
    with np.errstate(over="ignore"):  # an overflow is refused below
        total = demand.sum()
    if total <= 0:
        raise InvalidInputError(f"demand is 0 at all {len(names)} places; at least one must have some")
    if not np.isfinite(total):
        raise InvalidInputError("demand sums to infinity; give shares or counts of a usual size")
    return demand if abs(total - 1) <= EXACT_SUM else np.asarray(demand / total)


def _whole(values: Any, name: str, count: int) -> FloatArray:
    array = number_array(values, name, (count,))
    if (array != np.floor(array)).any():
        wrong = array[array != np.floor(array)][0]
        raise InvalidInputError(f"the column {name!r} must hold whole numbers, not {wrong}")
    return array


def checked_details(details: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a private copy of details that JSON can hold."""
    try:
        return MappingProxyType(json.loads(json.dumps(dict(details), allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"details must be what JSON can hold: {error}") from error
