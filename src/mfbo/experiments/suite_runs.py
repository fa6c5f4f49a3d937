"""One run of a suite: what identifies it, how it is played, and the record it leaves, also when it fails."""

import hashlib
import os
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from threadpoolctl import threadpool_limits

from mfbo.catalogue import make_problem
from mfbo.errors import InvalidInputError
from mfbo.experiments.identities import RunIdentity
from mfbo.experiments.information import information_gain
from mfbo.experiments.origins import this_origin
from mfbo.experiments.run_records import AnyRun, FailedRun, FinishedRun, RunError, line_of
from mfbo.experiments.runs import RunSettings, run
from mfbo.given_files import open_given
from mfbo.validation import positive

ORPHANED = 3  # exit code of a worker whose parent is gone


@dataclass(frozen=True)
class SuiteRun:
    """A run that a suite names: its settings (strategy by name), and the seconds after which no round is begun."""

    settings: RunSettings
    time_limit: float | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be written down."""
        if not isinstance(self.settings.strategy, str):
            raise InvalidInputError(f"a run of a suite names its strategy; {self.settings.strategy!r} is not a name")
        if self.time_limit is not None:
            positive(self.time_limit, "time limit")

    @cached_property
    def identity(self) -> RunIdentity:
        """Everything the values depend on; a data file counts by its content, wherever it lies."""
        settings = asdict(self.settings)
        data = settings.pop("data")
        settings["noise"] = float(settings["noise"])
        data_sha256 = None if data is None else _digest_of(Path(data))
        time_limit = None if self.time_limit is None else float(self.time_limit)
        return RunIdentity(**settings, data_sha256=data_sha256, time_limit=time_limit)

    @property
    def key(self) -> str:
        """A hash of the identity."""
        return self.identity.key

    @property
    def label(self) -> str:
        """A readable name, also for files."""
        return self.identity.label


def play(suite_run: SuiteRun, parent: int | None = None) -> AnyRun:
    """Play a run on one thread and return its record; an error becomes a record too.

    parent: process that started this one; when it is gone, nobody waits for the result and the worker ends.
    """
    started = time.perf_counter()
    try:
        with threadpool_limits(limits=1):  # sums in another order give other last digits
            return _played(suite_run, parent, started)
    except Exception as error:
        described = RunError(type(error).__name__, str(error), traceback.format_exc())
        return FailedRun(suite_run.identity, this_origin(), time.perf_counter() - started, described)


def lost(suite_run: SuiteRun, death: BaseException) -> FailedRun:
    """Return the record of a run whose worker dies whenever it is tried."""
    message = f"its worker died every time it was tried (out of memory?): {death}"
    return FailedRun(suite_run.identity, this_origin(), 0.0, RunError(type(death).__name__, message, ""))


def _played(suite_run: SuiteRun, parent: int | None, started: float) -> FinishedRun:
    settings, identity = suite_run.settings, suite_run.identity
    if settings.data is not None and _digest_of(Path(settings.data)) != identity.data_sha256:
        raise InvalidInputError(f"data file {settings.data} is not what it was when the suite was read")
    result = run(settings, progress=_watch(parent), time_limit=suite_run.time_limit)
    gain = information_gain(make_problem(settings.problem, settings.data).population, result.plans)
    seconds = time.perf_counter() - started
    record = FinishedRun(identity, this_origin(), seconds, replace(result, plans=()), tuple(gain.tolist()))
    line_of(record)  # NaN and infinities must fail here, as this run's error, and not when the parent writes
    return record


def _watch(parent: int | None) -> Callable[[int, float], None] | None:
    if parent is None:
        return None

    def check(done: int, best: float) -> None:
        if os.getppid() != parent:
            os._exit(ORPHANED)

    return check


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
