"""The model as strategies keep it: a cache that is always equal to replaying the history.

Hyperparameters are fitted on a schedule and noted in the round that fitted them. From those notes the same model is
rebuilt after a restart by the same operations in the same order, so a resumed study proposes the same bits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.models import Fit, GaussianProcess, Kernel, SparseProcess, row_count, rows_of_round
from mfbo.population import Population
from mfbo.records import History, Notes, Round

ROW_BUDGET = 500  # rows up to which the process is exact

KernelFactory = Callable[[Population, str], Kernel]
"""Population and kind of data → kernel."""

Process = GaussianProcess | SparseProcess

DataKind = Callable[[tuple[Round, ...]], str]
"""Told rounds → kind of data, in the strategy's own words; another kind means another kernel, fitted afresh."""


@dataclass(frozen=True)
class RefitSchedule:
    """Fit every round up to ``early`` told rounds, then every ``later`` rounds; ``iterations`` L-BFGS steps each."""

    early: int = 10
    later: int = 5
    iterations: int = 20

    def due(self, told: int, fitted: int) -> bool:
        """Tell whether a model last fitted on ``fitted`` rounds is fitted anew on ``told``."""
        return told > fitted and (told <= self.early or told - fitted >= self.later)


@dataclass(frozen=True, eq=False)
class FitNote:
    """A fit as the history keeps it: on how many told rounds it was made, and what it found."""

    rounds: int
    fit: Fit

    def to_notes(self) -> dict[str, tuple[float, ...]]:
        """Return plain numbers for a round's notes."""
        return {
            "fitted": (float(self.rounds),),
            "theta": tuple(float(each) for each in self.fit.theta),
            "standardization": (self.fit.shift, self.fit.scale),
        }

    @staticmethod
    def from_notes(notes: Notes) -> "FitNote | None":
        """Read it back; None when the round's proposal used no model."""
        if "theta" not in notes:
            return None
        shift, scale = notes["standardization"]
        return FitNote(int(notes["fitted"][0]), Fit(np.array(notes["theta"]), shift, scale))


class Surrogate:
    """Keeps a Gaussian process in step with a history."""

    def __init__(self, kernels: KernelFactory, kind: DataKind, schedule: RefitSchedule, *, sparse: bool) -> None:
        """Compute nothing before the first history; ``sparse`` allows the bounded process beyond the row budget."""
        self._kernels = kernels
        self._kind = kind
        self._schedule = schedule
        self._sparse = sparse
        self._kernel_cache: dict[tuple[int, str], tuple[Population, Kernel]] = {}
        self._process: Process | None = None
        self._rounds: tuple[Round, ...] = ()
        self._note: FitNote | None = None

    def prepared(self, history: History) -> tuple[Process, FitNote]:
        """Return the process with all told rounds and its latest fit, made now if the schedule says so."""
        told = history.told
        note = self._latest_note(history)
        if note is not None and self._setting(told) != self._setting(told[: note.rounds]):
            note = None
        process = self._replayed(history, note)
        if note is None or self._schedule.due(len(told), note.rounds):
            start = None if note is None else note.fit.theta
            note = FitNote(len(told), process.refit(start, self._schedule.iterations))
        self._process, self._rounds, self._note = process, told, note
        return process, note

    def _setting(self, told: tuple[Round, ...]) -> tuple[str, bool]:
        """Return the kind of data and whether there are too many rows for the exact process."""
        return self._kind(told), self._sparse and sum(map(row_count, told)) > ROW_BUDGET

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

    def _replayed(self, history: History, note: FitNote | None) -> Process:
        """Return a process with all told rounds under the noted fit, reusing the cached one where it is a prefix."""
        told = history.told
        process, start = self._reusable(history, note)
        for index in range(start, len(told)):
            if note is not None and note.rounds == index:
                process.adopt(note.fit)
            process.append(rows_of_round(history.population, told[index]))
        if note is not None and note.rounds == len(told) and start < len(told):
            process.adopt(note.fit)
        return process

    def _reusable(self, history: History, note: FitNote | None) -> tuple[Process, int]:
        kind, many = self._setting(history.told)
        kernel = self._kernel(history.population, kind)
        wanted = SparseProcess if many else GaussianProcess
        old = self._process
        same_model = isinstance(old, wanted) and old.kernel is kernel and old.noise == history.noise
        if old is not None and same_model and self._continues(history.told, note):
            return old, len(self._rounds)
        return wanted(kernel, history.noise), 0

    def _continues(self, told: tuple[Round, ...], note: FitNote | None) -> bool:
        """Tell whether the cached process holds a prefix of these rounds under the noted fit."""
        if self._note is None or note is None or self._note.to_notes() != note.to_notes():
            return False
        return len(self._rounds) <= len(told) and all(old is new for old, new in zip(self._rounds, told, strict=False))


def steered(history: History) -> FloatArray:
    """Return what the designer controlled in each told round, (m, C, A): see ``History.steers``."""
    if history.steers == "planned":
        return np.stack([each.plan.distribution for each in history.told])
    return np.stack([each.plan.distribution if each.realized is None else each.realized for each in history.told])


def pending_shares(history: History) -> FloatArray:
    """Return the joint shares of open plans, (m, C, A), m ≥ 0."""
    plans = [history.population.joint_shares(each.plan.realized) for each in history.open]
    return np.stack(plans) if plans else np.empty((0, *history.population.shape))


def told_payoff(done: Round) -> float:
    """Return the told payoff of a round as one number: the system payoff, or the mean of what agents got."""
    feedback = done.feedback
    if feedback is None:
        raise AssertionError(f"round {done.number} has no result")  # History.told holds finished rounds only
    if feedback.payoff is not None:
        return feedback.payoff
    if feedback.agents:
        return float(np.mean([payoff for _, _, payoff in feedback.agents]))
    cells = np.nan_to_num(np.asarray(feedback.cells, dtype=np.float64))
    return float(np.average(cells, weights=feedback.counts))
