"""Raw files for the table tests: the shared official ones when they are there, tiny ones written on the spot."""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

RAW = Path(__file__).resolve().parents[5] / "shared" / "data" / "raw"

_TAXI_2015 = "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,pickup_longitude,pickup_latitude,RateCodeID"

# (time, longitude, latitude): two in the south-west cell of Manhattan, one in the north-east one; all on weekdays.
_PICKUPS = (
    ("2015-01-05 15:00:00", "-74.0149", "40.7051"),
    ("2015-01-06 17:59:59", "-74.0149", "40.7051"),
    ("2015-01-09 16:30:00", "-73.9551", "40.7849"),
)


@pytest.fixture
def raw() -> Path:
    """The folder of official raw files; tests that need it are skipped without it."""
    if not RAW.is_dir():
        pytest.skip(f"no official raw files at {RAW}")
    return RAW


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write lines into a file, compressed if its name ends in .gz."""

    def write_lines(name: str, lines: Sequence[str]) -> Path:
        path = tmp_path / name
        content = ("\n".join(lines) + "\n").encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write_lines


@pytest.fixture
def taxi_lines() -> list[str]:
    """The three pickups in the official layout of 2015."""
    return [_TAXI_2015, *(f"2,{time},x,{east},{north},1" for time, east, north in _PICKUPS)]
