"""Tables as data frames of whichever library is there; mfbo itself needs none."""

from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from mfbo.errors import InvalidInputError, MissingExtraError

LIBRARIES = ("pandas", "polars", "pyarrow")  # the first one that is installed


def data_frame(columns: Mapping[str, Sequence[Any]], library: str | None = None, texts: Collection[str] = ()) -> Any:
    """Return columns as a data frame; None in a column: nothing is known there.

    library: "pandas", "polars" or "pyarrow"; None: the first of these that is installed. texts: columns of texts, for
    those that hold nothing yet.
    """
    import narwhals as nw

    backend: Any = _installed(library)
    kinds: dict[type, Any] = {bool: nw.Boolean(), int: nw.Int64(), float: nw.Float64(), str: nw.String()}
    schema = {}
    for name, values in columns.items():
        kind = str if name in texts else _kind(values)
        if kind is int and backend == "pandas" and any(value is None for value in values):
            kind = float  # pandas' whole numbers cannot be missing
        schema[name] = kinds[kind]
    return nw.from_dict({name: list(values) for name, values in columns.items()}, schema, backend=backend).to_native()


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return records with the same keys as columns."""
    return {key: [row[key] for row in rows] for key in (rows[0] if rows else ())}


def _kind(values: Sequence[Any]) -> type:
    found = {type(value) for value in values if value is not None}
    if len(found) == 1:
        return found.pop()
    return str if str in found else float


def _installed(library: str | None) -> str:
    if library is None:
        found = next((name for name in LIBRARIES if find_spec(name) is not None), None)
        if found is None:
            raise MissingExtraError("a data frame needs pandas or polars: pip install pandas")
        return found
    if library not in LIBRARIES:
        raise InvalidInputError(f"a data frame is made by {', '.join(LIBRARIES)}, not by {library!r}")
    if find_spec(library) is None:
        raise MissingExtraError(f"{library} is not installed: pip install {library}")
    return library
