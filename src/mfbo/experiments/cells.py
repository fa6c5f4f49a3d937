"""One cell of a benchmark: what identifies it, how it is played, and the record it leaves, also when it fails."""

import hashlib
import json
import os
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from mfbo.catalogue import make_problem
from mfbo.errors import InvalidInputError
from mfbo.experiments.information import information_gain
from mfbo.experiments.provenance import provenance
from mfbo.experiments.runs import RunSettings, run
from mfbo.given_files import open_given
from mfbo.validation import positive

Record = dict[str, Any]
FORMAT = 1
ORPHANED = 3  # exit code of a worker whose parent is gone


@dataclass(frozen=True)
class Cell:
    """One run of a plan: its settings (strategy by name) and the seconds after which it begins no further round."""

    settings: RunSettings
    time_limit: float | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be written down."""
        if not isinstance(self.settings.strategy, str):
            raise InvalidInputError(f"a cell names its strategy; {self.settings.strategy!r} is not a name")
        if self.time_limit is not None:
            positive(self.time_limit, "time limit")

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything the values depend on; a data file counts by its content, wherever it lies."""
        settings = asdict(self.settings)
        data = settings.pop("data")
        settings["noise"] = float(settings["noise"])
        settings["data_sha256"] = None if data is None else _digest_of(Path(data))
        return {**settings, "time_limit": None if self.time_limit is None else float(self.time_limit)}

    @cached_property
    def key(self) -> str:
        """A hash of the identity, the same on every machine and for every filter."""
        return hashlib.sha256(canonical(self.identity).encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """A readable name, also for files."""
        each = self.settings
        agents = "" if each.agents is None else f"-M{each.agents}"
        return f"{each.problem}{agents}-{each.strategy}-T{each.rounds}-seed{each.seed}"


def canonical(record: Any) -> str:
    """Return one JSON text for equal records."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def play(cell: Cell, parent: int | None = None) -> Record:
    """Run a cell on one thread and return its record; an error becomes a record too.

    parent: process that started this one; when it is gone, nobody waits for the result and the worker ends.
    """
    started = time.perf_counter()
    try:
        with threadpool_limits(limits=1):  # sums in another order give other last digits
            outcome = {"state": "done", "result": _played(cell, parent)}
    except Exception as error:
        outcome = {"state": "failed", "error": _described(error)}
    return _record(cell, outcome, time.perf_counter() - started)


def lost(cell: Cell, error: BaseException) -> Record:
    """Return the record of a cell whose worker dies whenever it is tried."""
    described = {
        "type": type(error).__name__,
        "message": f"its worker died every time it was tried (out of memory?): {error}",
        "traceback": "",
    }
    return _record(cell, {"state": "failed", "error": described}, 0.0)


def _played(cell: Cell, parent: int | None) -> dict[str, Any]:
    data = cell.settings.data
    if data is not None and _digest_of(Path(data)) != cell.identity["data_sha256"]:
        raise InvalidInputError(f"data file {data} is not what it was when the plan was made")
    result = run(cell.settings, progress=_watch(parent), time_limit=cell.time_limit)
    population = make_problem(cell.settings.problem, cell.settings.data).population
    record = {**result.to_json(), "values": list(result.values)}
    record["information_gain"] = information_gain(population, result.plans).tolist()
    canonical(record)  # NaN and infinities must fail here, as this cell's error, and not when the parent writes
    return record


def _watch(parent: int | None) -> Callable[[int, float], None] | None:
    if parent is None:
        return None

    def check(done: int, best: float) -> None:
        if os.getppid() != parent:
            os._exit(ORPHANED)

    return check


def _record(cell: Cell, outcome: dict[str, Any], seconds: float) -> Record:
    head = {"format": FORMAT, "key": cell.key, "label": cell.label, "cell": cell.identity}
    return {**head, **outcome, "provenance": {**provenance(), "seconds": seconds}}


def _described(error: Exception) -> dict[str, str]:
    return {"type": type(error).__name__, "message": str(error), "traceback": traceback.format_exc()}


def _digest_of(path: Path) -> str:
    try:
        state = path.stat()
        return _digest_at(path, state.st_mtime_ns, state.st_size)
    except InvalidInputError as error:
        raise InvalidInputError(f"data file {error}") from error
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise InvalidInputError(f"data file {str(path)!r} cannot be read: {error}") from error


@lru_cache(maxsize=16)
def _digest_at(path: Path, changed: int, size: int) -> str:
    with open_given(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
