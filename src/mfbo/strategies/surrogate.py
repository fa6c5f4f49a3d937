"""The model as strategies keep it: a cache that is always equal to replaying the history.

Hyperparameters are fitted on a schedule and noted in the round that fitted them. From those notes the same model is
rebuilt after a restart by the same operations in the same order, so a resumed study proposes the same bits.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np

from mfbo.models import Fit, GaussianProcess, Kernel, SparseProcess, joined_rows, row_count, rows_of_round
from mfbo.population import Population
from mfbo.records import History, Notes, Round, told_payoff

ROW_BUDGET = 500  # rows up to which the process is exact
ROUND_BUDGET = 250  # rounds up to which an exact process keeps all of them …
SUBSET = 150  # … and how many it keeps beyond
FEWER = 50  # a model fitted on n rounds is kept for at least n ÷ 50 more

Size = Literal["all", "subset", "sparse"]
"""Exact on all rows, exact on some, or sparse on all."""

KernelFactory = Callable[[Population, str], Kernel]
"""Population and kind of data → kernel."""

Process = GaussianProcess | SparseProcess

DataKind = Callable[[tuple[Round, ...], float | None], str]
"""Told rounds and the known noise → kind of data, in the strategy's own words; another kind, another kernel."""


@dataclass(frozen=True)
class RefitSchedule:
    """Fit every round up to ``early`` told rounds, then every ``later``, then rarer; ``iterations`` L-BFGS steps."""

    early: int = 10
    later: int = 5
    iterations: int = 20

    def due(self, told: int, fitted: int) -> bool:
        """Tell whether a model last fitted on ``fitted`` rounds is fitted anew on ``told``."""
        return told > fitted and (told <= self.early or told - fitted >= max(self.later, fitted // FEWER))


@dataclass(frozen=True, eq=False)
class FitNote:
    """A fit as the history keeps it: on how many told rounds it was made, of which kind of data, and what it found.

    setting: the kind of data and the size of the process, as numbers; one new round may change how all are read.
    """

    rounds: int
    fit: Fit
    setting: tuple[int, int] = (0, 0)

    def to_notes(self) -> dict[str, tuple[float, ...]]:
        """Return plain numbers for a round's notes."""
        return {
            "fitted": (float(self.rounds),),
            "setting": tuple(float(each) for each in self.setting),
            "theta": tuple(float(each) for each in self.fit.theta),
            "standardization": (self.fit.shift, self.fit.scale),
        }

    def equals(self, other: "FitNote") -> bool:
        """Tell whether both are the same fit to the bit."""
        return self.to_notes() == other.to_notes()

    @staticmethod
    def from_notes(notes: Notes) -> "FitNote | None":
        """Read it back; None when the round's proposal used no model."""
        if "theta" not in notes:
            return None
        shift, scale = notes["standardization"]
        kind, size = notes["setting"]
        return FitNote(int(notes["fitted"][0]), Fit(np.array(notes["theta"]), shift, scale), (int(kind), int(size)))


class Surrogate:
    """Keeps a Gaussian process in step with a history."""

    def __init__(
        self,
        kernels: KernelFactory,
        kind: DataKind,
        schedule: RefitSchedule,
        *,
        sparse: bool = False,
        subset_kinds: tuple[str, ...] = (),
    ) -> None:
        """Compute nothing before the first history.

        sparse: whether the sparse process takes over beyond the row budget. subset_kinds: kinds of data for which
        the best and the newest rounds tell all: an exact process keeps those alone.
        """
        self._kernels = kernels
        self._kind = kind
        self._schedule = schedule
        self._sparse = sparse
        self._subset_kinds = subset_kinds
        self._kernel_cache: dict[tuple[int, str], tuple[Population, Kernel]] = {}
        self._process: Process | None = None
        self._rounds: tuple[Round, ...] = ()
        self._note: FitNote | None = None

    def prepared(self, history: History) -> tuple[Process, FitNote]:
        """Return the process with the told rounds and its latest fit, made now if the schedule says so."""
        told = history.told
        kind, size = self._setting(told, history.noise)
        note = self._latest_note(history)
        setting = crc32(kind.encode()), crc32(size.encode())
        start = note.fit.theta if note is not None and note.setting[0] == setting[0] else None
        if note is not None and note.setting != setting:
            note = None
        if note is not None and self._schedule.due(len(told), note.rounds):
            note = None
        fitted = len(told) if note is None else note.rounds
        kept = best_and_newest(told[:fitted]) if size == "subset" else told[:fitted]
        process, known = self._reusable(history, kind, size, (*kept, *told[fitted:]), note)
        parts = [rows_of_round(history.population, each) for each in kept[known:]]
        for rows in [joined_rows(parts)] if parts and size == "subset" else parts:
            process.append(rows)
        if note is not None and known < len(kept):
            process.adopt(note.fit)
        for each in told[fitted + max(known - len(kept), 0) :]:
            process.append(rows_of_round(history.population, each))
        if note is None:
            note = FitNote(len(told), process.refit(start, self._schedule.iterations), setting)
        self._process, self._rounds, self._note = process, (*kept, *told[fitted:]), note
        return process, note

    def _setting(self, told: tuple[Round, ...], noise: float | None) -> tuple[str, Size]:
        """Return the kind of data and how the process copes with their number."""
        kind = self._kind(told, noise)
        if kind in self._subset_kinds:
            return kind, "all" if len(told) <= ROUND_BUDGET else "subset"
        return kind, "sparse" if self._sparse and sum(map(row_count, told)) > ROW_BUDGET else "all"

    def _latest_note(self, history: History) -> FitNote | None:
        for each in reversed(history.rounds):
            note = FitNote.from_notes(each.notes)
            if note is not None:
                return note
        return None

    def _kernel(self, population: Population, kind: str) -> Kernel:
        key = (id(population), kind)
        if key not in self._kernel_cache:
            self._kernel_cache[key] = (population, self._kernels(population, kind))
        return self._kernel_cache[key][1]

    def _reusable(
        self, history: History, kind: str, size: Size, rounds: tuple[Round, ...], note: FitNote | None
    ) -> tuple[Process, int]:
        """Return a process and how many of these rounds it holds, under the noted fit if there is one.

        The cached one, if it would not differ by a bit; a subset is joined at once, so it is kept whole or not at all.
        """
        kernel = self._kernel(history.population, kind)
        made = SparseProcess if size == "sparse" else GaussianProcess
        old = self._process
        same_model = isinstance(old, made) and old.kernel is kernel and old.noise == history.noise
        same_fit = size != "subset" if note is None else self._note is not None and self._note.equals(note)
        held = len(self._rounds) <= len(rounds) and all(map(operator.is_, self._rounds, rounds))
        if old is not None and same_model and same_fit and held:
            return old, len(self._rounds)
        return made(kernel, history.noise), 0


def best_and_newest(told: tuple[Round, ...]) -> tuple[Round, ...]:
    """Return ``SUBSET`` of the rounds in their order: half of them the newest, half the best paid of the others."""
    older = told[: -SUBSET // 2]
    best = np.argsort([-told_payoff(each) for each in older], kind="stable")[: SUBSET - SUBSET // 2]
    return (*(older[index] for index in np.sort(best)), *told[-SUBSET // 2 :])
