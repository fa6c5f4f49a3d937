"""What brings a model in step with a history, as a plan: which rounds to fit on, which to append, whether to fit.

Everything here is a pure function of the history; ``modeled.Surrogate`` carries it out. Hyperparameters are fitted on a
schedule and noted in the round that fitted them. From those notes the same model is rebuilt after a restart by the
same operations in the same order, so a resumed study proposes the same bits.
"""

from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np

from mfbo.errors import DamageError
from mfbo.models import Fit, row_count
from mfbo.models.rows import spread_and_newest
from mfbo.models.unit import Warp
from mfbo.records import History, Note, Notes, Round, told_payoff

ROW_BUDGET = 500  # rows up to which the process is exact
ROUND_BUDGET = 250  # rounds up to which an exact process keeps all of them …
SUBSET = 150  # … and how many it keeps beyond
SITUATED_ROWS, FEWEST_ROUNDS = 350, 8  # rows and rounds that an exact process keeps of more, if rounds differ
SUMMED_ROWS = 5_000  # rows that a sparse process sums up at each fit, if rounds differ
FEWER = 50  # a model fitted on n rounds is kept for at least n ÷ 50 more

Size = Literal["all", "subset", "sparse"]
"""Exact on all rows, exact on some, or sparse on all."""


@dataclass(frozen=True)
class RefitSchedule:
    """Fit every round up to ``early`` told rounds, then every ``later``, then rarer; ``iterations`` L-BFGS steps."""

    early: int = 10
    later: int = 5
    iterations: int = 20

    def due(self, told: int, fitted: int) -> bool:
        """Tell whether a model last fitted on ``fitted`` rounds is fitted anew on ``told``."""
        return told > fitted and (told <= self.early or told - fitted >= max(self.later, fitted // FEWER))


@dataclass(frozen=True)
class Setting:
    """How the told rounds are read, in words; one new round may change it for all.

    kind: of data, in the strategy's own words; another kind, another kernel. size: how the process copes with their
    number.
    """

    kind: str
    size: Size

    @staticmethod
    def of(told: tuple[Round, ...], kind: str, *, sparse: bool, subset: bool, situations: bool = False) -> "Setting":
        """Choose the size.

        sparse: whether the sparse process takes over beyond the row budget. subset: whether the best and the newest
        rounds tell all, so that beyond the round budget an exact process keeps those alone. situations: whether rounds
        have any; then payoffs do not tell which rounds matter, and an exact process keeps some beyond the row budget.
        """
        if situations:
            beyond: Size = "sparse" if sparse else "subset"
            return Setting(kind, beyond if sum(map(row_count, told)) > ROW_BUDGET else "all")
        if subset:
            return Setting(kind, "all" if len(told) <= ROUND_BUDGET else "subset")
        return Setting(kind, "sparse" if sparse and sum(map(row_count, told)) > ROW_BUDGET else "all")


@dataclass(frozen=True, eq=False)
class FitNote:
    """A fit as the history keeps it: on how many told rounds it was made, what it found, and how they were read.

    setting: the words of a ``Setting``, or their checksums, which older studies noted instead. corrections: of the
    history at that time; a fit on rounds that were corrected since, or on another population, is only a start.
    """

    rounds: int
    fit: Fit
    setting: Note = ("any", "all")
    corrections: int = 0

    def to_notes(self) -> dict[str, Note]:
        """Return plain numbers and words for a round's notes."""
        notes: dict[str, Note] = {
            "fitted": (float(self.rounds),),
            "setting": self.setting,
            "theta": tuple(self.fit.theta.tolist()),
            "standardization": (self.fit.shift, self.fit.scale),
            **({"corrections": (float(self.corrections),)} if self.corrections else {}),
        }
        if self.fit.further:
            notes["further"] = self.fit.further
        if self.fit.warped is not None and self.fit.warped.warp is not None:
            unit = self.fit.warped.unit
            notes["warped theta"] = tuple(self.fit.warped.theta.tolist())
            notes["warp"] = (self.fit.warped.warp.top, self.fit.warped.warp.size, unit.shift, unit.scale)
        return notes if self.fit.memory is None else {**notes, "memory": (self.fit.memory,)}

    def agreement(self, setting: Setting) -> int:
        """Return how far the fit was made on rounds read in the same way: 0 not at all, 1 in kind, 2 in size too."""
        words = (setting.kind, setting.size)
        for agreeing, (noted, word) in enumerate(zip(self.setting, words, strict=True)):
            if noted not in (word, crc32(word.encode())):
                return agreeing
        return len(words)

    @staticmethod
    def from_notes(notes: Notes) -> "FitNote | None":
        """Read it back; None when the round's proposal used no model."""
        if "theta" not in notes:
            return None
        try:
            shift, scale = map(float, notes["standardization"])
            kind, size = notes["setting"]
            theta = np.array(notes["theta"], dtype=np.float64)
            memory = float(notes["memory"][0]) if "memory" in notes else None
            if not np.isfinite([*theta, shift, scale]).all() or scale <= 0 or (memory is not None and not memory > 0):
                raise ValueError("a number of the fit cannot be so")
            corrections, further = int(notes.get("corrections", (0.0,))[0]), tuple(map(str, notes.get("further", ())))
            fit = Fit(theta, shift, scale, memory, further, warped=_warped_fit(notes, further))
            return FitNote(int(notes["fitted"][0]), fit, (kind, size), corrections)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise DamageError(f"a round's notes are not what this strategy writes: {error!r}") from error

    @staticmethod
    def latest(history: History) -> "FitNote | None":
        """Return the fit noted last, if any was."""
        for asked in reversed(history.rounds):
            note = FitNote.from_notes(asked.notes)
            if note is not None:
                return note
        return None


def _warped_fit(notes: Notes, further: tuple[str, ...]) -> Fit | None:
    """Read the fit to warped payoffs; raise ``ValueError`` if it cannot be so."""
    if "warp" not in notes:
        return None
    theta = np.array(notes["warped theta"], dtype=np.float64)
    top, size, shift, scale = map(float, notes["warp"])
    if not np.isfinite([*theta, top, size, shift, scale]).all() or size <= 0 or scale <= 0:
        raise ValueError("a number of the fit to warped payoffs cannot be so")
    return Fit(theta, shift, scale, None, further, Warp(top, size))


@dataclass(frozen=True, eq=False)
class ReplayPlan:
    """What to do for a model that holds all told rounds.

    setting: how they are read. fitted_on: rounds that the fit stands on, in the order of tells. appended: rounds told
    after that fit, each of them a block. noted: the fit to adopt; None if a new one is due. start: the fit at which a
    new one begins, None for the medians of the prior. memory: length of drift at which it begins, or None. told: told
    rounds up to the fit; a subset holds fewer of them. rounds: all that the model holds in the end.
    """

    setting: Setting
    fitted_on: tuple[Round, ...]
    appended: tuple[Round, ...]
    noted: FitNote | None
    start: Fit | None
    memory: float | None
    told: int
    rounds: tuple[Round, ...]

    @staticmethod
    def of(history: History, setting: Setting, schedule: RefitSchedule) -> "ReplayPlan":
        """Keep the noted fit as long as data are read in the same way, nothing was corrected and no new one is due."""
        told = history.told
        latest = FitNote.latest(history)
        agreement = 0 if latest is None else latest.agreement(setting)
        before = latest.fit if latest is not None and agreement >= 1 else None
        memory = None if latest is None else latest.fit.memory  # drift is of the world, however its payoffs are read
        lasts = latest is not None and agreement == 2 and not schedule.due(len(told), latest.rounds)
        lasts = lasts and latest is not None and latest.corrections == history.corrections
        noted = latest if lasts else None
        fitted = len(told) if noted is None else noted.rounds
        chosen = told[:fitted]
        if history.situations is not None and setting.size != "all":
            chosen = of_all_times(chosen, SITUATED_ROWS if setting.size == "subset" else SUMMED_ROWS)
        elif setting.size == "subset":
            chosen = best_and_newest(chosen)
        return ReplayPlan(setting, chosen, told[fitted:], noted, before, memory, fitted, (*chosen, *told[fitted:]))


def best_and_newest(told: tuple[Round, ...]) -> tuple[Round, ...]:
    """Return ``SUBSET`` of the rounds in their order: half of them the newest, half the best paid of the others."""
    older = told[: -SUBSET // 2]
    best = np.argsort([-told_payoff(done) for done in older], kind="stable")[: SUBSET - SUBSET // 2]
    return (*(older[index] for index in np.sort(best)), *told[-SUBSET // 2 :])


def of_all_times(told: tuple[Round, ...], rows: int) -> tuple[Round, ...]:
    """Return some of the rounds in their order: half of them the newest, half spread evenly over those before.

    Payoffs of different situations say nothing of which rounds matter. rows: how many they are to give.
    """
    kept = max(FEWEST_ROUNDS, rows * len(told) // sum(map(row_count, told)))
    return tuple(told[place] for place in spread_and_newest(len(told), kept))
