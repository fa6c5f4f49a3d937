"""What identifies a run: everything its values depend on, the hash of it, and a readable name."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

from mfbo.experiments.runs import Agents
from mfbo.simplex import AllocationMethod

FIRST_WORDS = {"context_allocation": "contexts"}  # what fields were called when the first keys were made


@dataclass(frozen=True)
class RunIdentity:
    """The settings of a run, its data file by content and not by path, and its time limit in seconds.

    A field with a default was added later: it counts in the key only where it differs, so that older keys stay valid.
    """

    problem: str
    strategy: str
    rounds: int
    seed: int
    agents: Agents
    feedback: str
    allocation: AllocationMethod
    context_allocation: AllocationMethod
    noise: float
    known_noise: bool
    data_sha256: str | None
    time_limit: float | None

    @cached_property
    def key(self) -> str:
        """A hash, the same on every machine, for every filter and in every version."""
        usual = {field.name: field.default for field in fields(self)}
        counted = {name: value for name, value in asdict(self).items() if value != usual[name]}
        words = {FIRST_WORDS.get(name, name): value for name, value in counted.items()}
        return digest(canonical(words))[:16]

    @property
    def label(self) -> str:
        """A readable name, also for files."""
        agents = "" if self.agents is None else f"-M{self.agents}"
        return f"{self.problem}{agents}-{self.strategy}-T{self.rounds}-seed{self.seed}"


def identity_of(plain: Mapping[str, Any]) -> RunIdentity:
    """Return the identity that a file holds, in the words of any version."""
    today = {first: now for now, first in FIRST_WORDS.items()}
    return RunIdentity(**{today.get(name, name): value for name, value in plain.items()})


def canonical(plain: Any) -> str:
    """Return one JSON text for equal values; NaN and infinities are refused."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
