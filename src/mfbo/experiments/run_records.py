"""What is kept of a run in a suite, finished or failed, and how it is written down."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from mfbo.experiments.identities import RunIdentity, canonical, digest, identity_of
from mfbo.experiments.origins import Origin, origin_of
from mfbo.experiments.runs import RunResult

FORMAT = 2
FIRST_FORMAT = 1  # called a run a cell, and wrote the trace beside the values
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # what a damaged line may raise


@dataclass(frozen=True)
class RunRecord:
    """What was run, where, and how long it took by the clock; finished and failed runs add how it ended."""

    identity: RunIdentity
    origin: Origin
    seconds: float

    @property
    def key(self) -> str:
        """The key of the run."""
        return self.identity.key

    @property
    def label(self) -> str:
        """The readable name of the run."""
        return self.identity.label

    @property
    def state(self) -> Literal["done", "failed"]:
        """How it ended."""
        raise NotImplementedError("a record is that of a finished or of a failed run")


@dataclass(frozen=True)
class FinishedRun(RunRecord):
    """A run that was played. information_gain: after each round, (T,)."""

    result: RunResult
    information_gain: tuple[float, ...]

    @property
    def state(self) -> Literal["done", "failed"]:
        """Played to its end or to its time limit."""
        return "done"


@dataclass(frozen=True)
class RunError:
    """What went wrong, as Python says it."""

    type: str
    message: str
    traceback: str

    @property
    def in_one_line(self) -> str:
        """The message without its line breaks."""
        return " ".join(self.message.split())


@dataclass(frozen=True)
class FailedRun(RunRecord):
    """A run that ended in an error."""

    error: RunError

    @property
    def state(self) -> Literal["done", "failed"]:
        """Ended by an error."""
        return "failed"


AnyRun = FinishedRun | FailedRun


def line_of(record: AnyRun) -> str:
    """Return a record as one line of JSON with its digest; NaN and infinities are refused."""
    plain: dict[str, Any] = {"format": FORMAT, "key": record.key, "label": record.label, "run": asdict(record.identity)}
    plain["state"] = record.state
    plain["provenance"] = {**asdict(record.origin), "seconds": record.seconds}
    if isinstance(record, FinishedRun):
        result = {**record.result.to_json(), "values": record.result.values}
        del result["trace"]  # the highest of the values so far
        plain["result"] = {**result, "information_gain": record.information_gain}
    else:
        plain["error"] = asdict(record.error)
    body = canonical(plain)
    return f'{{"sha256":"{digest(body)}","record":{body}}}\n'


def record_of(held: Any) -> AnyRun | None:
    """Return the record of a line that was read as JSON, of any version; None if it is cut off or altered."""
    try:
        plain = held["record"]
        if held["sha256"] != digest(canonical(plain)) or plain["format"] not in (FIRST_FORMAT, FORMAT):
            return None
        record = _record(plain)
    except UNREADABLE:
        return None
    return record if record.key == plain["key"] else None


def _record(plain: Mapping[str, Any]) -> AnyRun:
    provenance = dict(plain["provenance"])
    seconds = provenance.pop("seconds")
    identity = identity_of(plain["cell" if plain["format"] == FIRST_FORMAT else "run"])
    origin = origin_of(provenance)
    if plain["state"] == "failed":
        return FailedRun(identity, origin, seconds, RunError(**plain["error"]))
    result = dict(plain["result"])
    gain = tuple(result.pop("information_gain"))
    return FinishedRun(identity, origin, seconds, _result(result), gain)


def _result(plain: Mapping[str, Any]) -> RunResult:
    values = tuple(plain["values"])
    trace = tuple(np.maximum.accumulate(values).tolist())
    best = tuple(tuple(row) for row in plain["best_distribution"])
    return RunResult(**{**plain, "values": values, "trace": trace, "best_distribution": best})
