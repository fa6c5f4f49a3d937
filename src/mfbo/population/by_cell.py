"""Tables over cells as users write them: mappings from names, labeled columns, data frames; arrays go their own way."""

from collections.abc import Mapping, Sequence
from typing import Any

from mfbo.errors import InvalidInputError
from mfbo.validation import by_label, is_missing, place_of, said

ACTION_COLUMNS = ("action", "name", "station")
CONTEXT_COLUMN = "context"

Cell = tuple[int, int]


def cells_by_name(
    values: Any, contexts: Sequence[str], actions: Sequence[str], what: str, columns: Sequence[str]
) -> dict[Cell, Any] | None:
    """Return what is said of each cell (context position, action position); None if ``values`` names no cells.

    values: {action: value} if there is one context, {(context, action): value} or {context: {action: value}}; a column
    of a data frame labeled so; or a data frame with a column "action", a column "context" if there are several, and
    one of ``columns``. what: its name in errors.
    """
    if hasattr(values, "columns"):
        pairs = _frame_pairs(values, what, columns)
    else:
        table = by_label(values)
        if not isinstance(table, Mapping):
            return None
        pairs = _mapping_pairs(table)
    cells: dict[Cell, Any] = {}
    said_as: dict[Cell, Any] = {}
    for key, value in pairs:
        cell = _cell(key, contexts, actions, what)
        if cell in cells:
            raise InvalidInputError(f"{what}: {said(said_as[cell])} and {said(key)} are the same place")
        cells[cell], said_as[cell] = value, key
    return cells


def _mapping_pairs(table: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Return key and value of each cell; {context: {action: value}} has pairs as keys."""
    pairs = []
    for key, value in table.items():
        inner = by_label(value)
        if isinstance(inner, Mapping):
            pairs += [((key, action), of_cell) for action, of_cell in inner.items()]
        else:
            pairs.append((key, value))
    return pairs


def _cell(key: Any, contexts: Sequence[str], actions: Sequence[str], what: str) -> Cell:
    pair = (0, key) if not isinstance(key, tuple) and len(contexts) == 1 else key
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise InvalidInputError(f"{what}: {said(key)} must be (context, action)")
    return place_of(pair[0], "context", contexts), place_of(pair[1], "action", actions)


def _frame_pairs(frame: Any, what: str, columns: Sequence[str]) -> list[tuple[Any, Any]]:
    """Return key and value of each row of a data frame; a row without a value says nothing."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise InvalidInputError(f"{what}: a {type(frame).__name__} is not a data frame that narwhals knows") from error
    names = [str(name) for name in table.columns]
    action = next((name for name in ACTION_COLUMNS if name in names), None)
    value = next((name for name in columns if name in names), None)
    if action is None or value is None:
        wanted = " or ".join(repr(column) for column in columns)
        found = ", ".join(names) or "no columns"
        raise InvalidInputError(f"{what}: the frame needs a column 'action' and a column {wanted}; it has {found}")
    keys: list[Any] = table[action].to_list()
    if CONTEXT_COLUMN in names:
        keys = list(zip(table[CONTEXT_COLUMN].to_list(), keys, strict=True))
    rows = zip(keys, table[value].to_list(), strict=True)
    return [(key, number) for key, number in rows if not is_missing(number)]
