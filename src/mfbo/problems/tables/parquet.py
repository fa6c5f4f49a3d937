"""A parquet file as a stream of rows, through pyarrow, which is imported only here and only when needed."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.given_files import most_unpacked, too_large
from mfbo.problems.tables.columns import Rows, plain

BATCH_ROWS = 50_000
MOST_ROWS_PER_BYTE = 50  # equal values take almost no room: a small file could keep us reading for days


@dataclass
class ParquetSource:
    """The columns of a parquet file; times come as text, so that one clock reads every layout."""

    label: str
    columns: tuple[str, ...]
    names: dict[str, str]
    file: Any
    advance: Callable[[float], None]

    def chunks(self, wanted: Sequence[str]) -> Iterator[tuple[Rows, int]]:
        """Yield chunks of rows, see ``columns.Source``; a parquet row is never too short."""
        arrow = importlib.import_module("pyarrow")
        total = max(self.file.metadata.num_rows, 1)
        done = 0
        batches = self.file.iter_batches(batch_size=BATCH_ROWS, columns=[self.names[name] for name in wanted])
        while True:
            try:
                batch = next(batches, None)
            except (arrow.ArrowException, OSError) as error:
                raise InvalidInputError(f"{self.label} is truncated or damaged ({error}); download it again") from error
            if batch is None:
                return
            by_name = dict(zip(batch.schema.names, batch.columns, strict=True))
            values = [_values(by_name[self.names[name]], arrow) for name in wanted]
            done += batch.num_rows
            self.advance(done / total)
            yield list(zip(*values, strict=True)), 0


def parquet_source(label: str, file: BinaryIO, size: int, advance: Callable[[float], None]) -> ParquetSource:
    """Open a parquet file of ``size`` bytes; ``advance`` gets the share of its rows that have been read."""
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtraError(f'{label} is a parquet file, read with pyarrow: pip install "mfbo[data]"') from error
    try:
        opened = parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)
    except (arrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"{label} is truncated or damaged ({error}); download it again") from error
    facts = opened.metadata
    if facts.num_rows > MOST_ROWS_PER_BYTE * size:
        raise InvalidInputError(f"{label} claims {facts.num_rows:,} rows in {size:,} bytes: that is not a trip file")
    if sum(facts.row_group(group).total_byte_size for group in range(facts.num_row_groups)) > most_unpacked(size):
        raise too_large(label, most_unpacked(size))
    names = {plain(name): name for name in opened.schema_arrow.names}
    return ParquetSource(label, tuple(names), names, opened, advance)


def _values(column: Any, arrow: Any) -> list[Any]:
    if arrow.types.is_timestamp(column.type):
        column = column.cast(arrow.string())
    if arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
        column = column.fill_null("")
    return list(column.to_pylist())
