"""A box of the map cut into squares: which square a point lies in, and where the center of a square is."""

from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray, IntArray
from mfbo.errors import InvalidInputError
from mfbo.validation import said, whole_number

MOST_SQUARES = 1_000_000
MOST_DIGITS = 7


@dataclass(frozen=True)
class Box:
    """A piece of the map in degrees; its west and south edges belong to it, its east and north edges do not."""

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        if not (-180 <= self.west < self.east <= 180 and -90 <= self.south < self.north <= 90):
            raise InvalidInputError(
                f"{self} is not a box: west must be below east within ±180 degrees, and south below north within ±90"
            )

    def holds(self, longitude: float, latitude: float) -> bool:
        """Say whether a point lies in the box."""
        return self.west <= longitude < self.east and self.south <= latitude < self.north


@dataclass(frozen=True)
class Grid:
    """A box cut into equal squares; square = row · columns + column, rows from the south, columns from the west."""

    box: Box
    columns: int
    rows: int

    def __post_init__(self) -> None:
        whole_number(self.columns, "columns", 1)
        whole_number(self.rows, "rows", 1)
        if self.columns * self.rows > MOST_SQUARES:
            raise InvalidInputError(f"a grid of {self.columns}x{self.rows} has more than {MOST_SQUARES:,} squares")

    def squares(self, longitude: FloatArray, latitude: FloatArray) -> IntArray:
        """Return the squares (n,) of points inside the box, (n,) each."""
        box = self.box
        column = np.floor((longitude - box.west) / (box.east - box.west) * self.columns).astype(np.int64)
        row = np.floor((latitude - box.south) / (box.north - box.south) * self.rows).astype(np.int64)
        # Rounding can lift a point just west of the east edge onto it.
        return np.asarray(np.minimum(row, self.rows - 1) * self.columns + np.minimum(column, self.columns - 1))

    def centers(self, squares: IntArray) -> FloatArray:
        """Return longitude and latitude of the centers of squares, (n, 2), to 6 decimals (0.1 m)."""
        row, column = np.divmod(squares, self.columns)
        longitude = self.box.west + (column + 0.5) * (self.box.east - self.box.west) / self.columns
        latitude = self.box.south + (row + 0.5) * (self.box.north - self.box.south) / self.rows
        return np.asarray(np.round(np.column_stack([longitude, latitude]), 6))

    def name(self, square: int) -> str:
        """Return the name of a square, 'r05c03'."""
        row, column = divmod(square, self.columns)
        width = max(2, len(str(max(self.rows, self.columns) - 1)))
        return f"r{row:0{width}}c{column:0{width}}"


def parse_grid(text: str) -> tuple[int, int]:
    """Return (columns, rows) of a text like '12x20'."""
    columns, cross, rows = text.lower().partition("x")
    if not (
        cross and all(count.isdecimal() and len(count) <= MOST_DIGITS for count in (columns.strip(), rows.strip()))
    ):
        raise InvalidInputError(f"{said(text)} is not a grid; write columns x rows, for example 12x20")
    return int(columns), int(rows)
