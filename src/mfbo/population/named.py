"""Reads names and features out of what people have: lists, mappings, arrays, pandas or polars frames."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError
from mfbo.validation import as_numbers, feature_array, listed, said, unique_names

NAME_COLUMN = "name"


@dataclass(frozen=True)
class Named:
    """Names with optional features: ``features`` is (count, d) or None, one feature name per column."""

    names: tuple[str, ...]
    feature_names: tuple[str, ...] = ()
    features: FloatArray | None = None

    def without(self, feature_name: str) -> tuple["Named", FloatArray | None]:
        """Split one column off: the rest, and the column (or None when there is no such column)."""
        if self.features is None or feature_name not in self.feature_names:
            return self, None
        at = self.feature_names.index(feature_name)
        rest = np.delete(self.features, at, axis=1)
        names = self.feature_names[:at] + self.feature_names[at + 1 :]
        return Named(self.names, names, rest if names else None), self.features[:, at]

    def with_features(self, values: Any, what: str) -> "Named":
        """Return the same names with these features, (count,) or (count, d)."""
        count = len(self.names)
        shape = np.shape(as_numbers(values, what))
        columns = shape[1] if len(shape) == 2 else 1
        shape = (count,) if len(shape) == 1 else (count, columns)
        table = feature_array(values, what, shape).reshape(count, columns)
        return Named(self.names, tuple(f"x{j}" for j in range(columns)), table)


def read_named(values: Any, what: str) -> Named:
    """Read actions or contexts from any accepted form; ``what`` names them in errors.

    - a list of names;
    - an array (count, d) or (count,): features, named by their position;
    - a mapping of columns with a column "name" (other columns are numeric features);
    - a mapping name → feature or features;
    - a pandas, polars or any other data frame known to narwhals, with a text column for the names.
    """
    if isinstance(values, str | bytes):
        raise InvalidInputError(f"{what} must be a list of names, not the single text {said(values)}")
    if isinstance(values, np.ndarray):
        return _from_array(values, what)
    if isinstance(values, Mapping):
        if NAME_COLUMN in values:
            return _from_columns(_listed(values, what), NAME_COLUMN, what)
        return _from_features_by_name(values, what)
    if hasattr(values, "to_list"):  # one column of a data frame
        return Named(unique_names(values, what))
    if hasattr(values, "columns") or hasattr(values, "__arrow_c_stream__"):
        return _from_frame(values, what)
    if isinstance(values, set | frozenset):
        raise InvalidInputError(f"{what} must have an order, which a set has not: give a list")
    if isinstance(values, Iterable):
        return _from_list(listed(values, what), what)
    raise InvalidInputError(f"{what} must be names, a mapping, an array or a data frame, not a {type(values).__name__}")


def _from_list(values: list[Any], what: str) -> Named:
    """Read a list of names, of (name, feature, …) or of feature rows."""
    rows = [value for value in values if isinstance(value, list | tuple | np.ndarray)]
    if not rows:
        return Named(unique_names(values, what))
    if len(rows) != len(values):
        raise InvalidInputError(f"{what}: names and rows of features are mixed; give (name, feature, …) throughout")
    if all(len(row) > 1 and isinstance(row[0], str) for row in rows):
        names = unique_names([row[0] for row in rows], what)
        return _from_features_by_name({name: row[1:] for name, row in zip(names, rows, strict=True)}, what)
    return _from_array(as_numbers(values, what), what)


def _listed(columns: Mapping[Any, Any], what: str) -> dict[str, list[Any]]:
    for key, column in columns.items():
        if isinstance(column, str) or not isinstance(column, Iterable):
            raise InvalidInputError(
                f"{what}: {NAME_COLUMN!r} makes this a table of columns, so {said(key)} must be a list, "
                f"not {said(column)}"
            )
    return {str(key): listed(column, f"{what} column {key!r}") for key, column in columns.items()}


def _from_array(values: np.ndarray[Any, Any], what: str) -> Named:
    if values.dtype.kind in "USO" and values.ndim == 1:
        return _from_list(values.tolist(), what)
    if values.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{what} as an array must hold numbers, or be one column of names; give a table with names as a data frame"
        )
    if values.ndim not in (1, 2) or values.size == 0:
        raise InvalidInputError(f"{what} as an array must have shape (count, d) and rows, not {values.shape}")
    table = values.reshape(len(values), -1)
    features = feature_array(table, f"{what} features", table.shape)
    return Named(
        tuple(str(i) for i in range(len(features))), tuple(f"x{j}" for j in range(features.shape[1])), features
    )


def _from_features_by_name(values: Mapping[Any, Any], what: str) -> Named:
    names = unique_names(values.keys(), what)
    try:
        with np.errstate(over="ignore"):
            table = np.array([np.atleast_1d(features) for features in values.values()], dtype=np.float64)
    except Exception as error:  # text, ragged rows, integers of 400 digits, whatever a user's own class raises
        raise InvalidInputError(
            f"{what} as a mapping must map each name to its feature(s), all of one length, "
            f"or have a column {NAME_COLUMN!r}: {error}"
        ) from error
    if table.shape[1] == 0:
        raise InvalidInputError(f"{what} as a mapping must give each name at least one feature; for none, give a list")
    features = feature_array(table, f"{what} features", (len(names), table.shape[1]))
    return Named(names, tuple(f"x{j}" for j in range(features.shape[1])), features)


def _from_columns(columns: Mapping[str, Sequence[Any]], name_column: str, what: str) -> Named:
    names = unique_names(columns[name_column], what)
    feature_names = tuple(key for key in columns if key != name_column)
    if not feature_names:
        return Named(names)
    stacked = []
    for key in feature_names:
        if len(columns[key]) != len(names):
            raise InvalidInputError(f"{what}: column {key!r} has {len(columns[key])} entries for {len(names)} names")
        stacked.append(feature_array(columns[key], f"{what} column {key!r}", (len(names),)))
    return Named(names, feature_names, np.stack(stacked, axis=1))


def _from_frame(frame: Any, what: str) -> Named:
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise InvalidInputError(f"{what}: a {type(frame).__name__} is not a data frame that narwhals knows") from error
    columns = {str(name): table[name].to_list() for name in table.columns}
    texts = [name for name in table.columns if not table[name].dtype.is_numeric()]
    name_column = NAME_COLUMN if NAME_COLUMN in columns else next(iter(texts), None)
    if name_column is None:
        raise InvalidInputError(
            f"{what}: the frame needs a column {NAME_COLUMN!r} or a text column with the names; "
            f"it has {', '.join(columns) or 'no columns'}"
        )
    return _from_columns(columns, name_column, what)
