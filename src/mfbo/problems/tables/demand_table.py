"""The demand table: places with names, features, extra columns and demand shares, and where it all came from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.validation import listed, number_array, unique_names

EXACT_SUM = 1e-9  # shares that sum to 1 this closely are kept to the bit, so that a written table reads back equal


@dataclass(frozen=True, eq=False)
class DemandTable:
    """Where demand is: A places, each with a name, d features and a share of all demand.

    names: (A,) unique; feature_names: (d,); features: (A, d), what a model may know of a place (coordinates);
    demand: (A,), at least 0, scaled to sum to 1; extras: whole-number columns (A,) that describe a place but are no
    features (row, column, docks, pickups): a model that saw the pickups would be told the answer.
    details: source, license, files, period, filter, command and counts, as the JSON sidecar keeps them.
    """

    names: tuple[str, ...]
    feature_names: tuple[str, ...]
    features: FloatArray
    demand: FloatArray
    extras: Mapping[str, IntArray] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = unique_names(self.names, "names")
        given = listed(self.feature_names, "feature_names")
        feature_names = unique_names(given, "feature_names") if given else ()
        features = number_array(self.features, "features", (len(names), len(feature_names)))
        demand = number_array(self.demand, "demand", (len(names),))
        extras = {name: read_only(_whole(values, name, len(names)), np.int64) for name, values in self.extras.items()}
        clash = {"name", "demand", *feature_names} & set(extras) | {"name", "demand"} & set(feature_names)
        if clash:
            raise InvalidInputError(f"the column {sorted(clash)[0]!r} is there twice; rename one of them")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "feature_names", feature_names)
        object.__setattr__(self, "features", read_only(features))
        object.__setattr__(self, "demand", read_only(_shares(demand, names)))
        object.__setattr__(self, "extras", MappingProxyType(extras))
        object.__setattr__(self, "details", checked_details(self.details))

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
