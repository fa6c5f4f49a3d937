"""From a log of events to the rounds of a study.

A right checksum only says who wrote a record; whether it says what a study can have (shapes, types, numbers) is looked
at here.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mfbo.errors import DamageError, RoundStateError, StorageError
from mfbo.population import Population
from mfbo.population import changed as changed_population
from mfbo.records import Feedback, History, Round, before_change, lifted, padded_shares
from mfbo.storage import codec
from mfbo.storage.contract import Event
from mfbo.storage.rules import CORRECTIONS, STUDY, require_correctable
from mfbo.validation import SUM_TOLERANCE

ODD = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)


def replayed(history: History, events: Sequence[Event]) -> History:
    """Return the history after these events; a round that no event concerns stays the same object."""
    replay = Replay(history)
    for event in events:
        replay.take(event)
    return replay.history


class Replay:
    """A history that grows event by event; one that is refused changes nothing."""

    def __init__(self, history: History) -> None:
        self._before = history
        self.population = history.population
        self.rounds = list(history.rounds)
        self._told, self._seen, self._corrections = history.next_told, history.next_word, history.corrections

    @property
    def history(self) -> History:
        """All that is known after the events taken so far."""
        changed = self._before
        if self._corrections:
            status_quo = padded_shares(changed.status_quo, self.population)
            changed = replace(changed, population=self.population, corrections=self._corrections, status_quo=status_quo)
        return changed.with_rounds(self.rounds)

    def take(self, event: Event) -> None:
        """Make or change the round that an event speaks of, or all of them; refuse a record that says something odd."""
        try:
            if event.kind == "changed":
                self._change(event)
                return
            changed = self._after(event)
            if self._corrections:  # the population may have grown, and whoever wrote this may not have known
                changed = lifted(changed, self.population)
            _require_sound(changed, self.population)
        except StorageError:
            raise
        except (*ODD, RoundStateError) as error:
            raise DamageError(
                f"record {event.sequence} ({event.kind!r} of plan {event.number}) is not what mfbo writes:"
                f" {type(error).__name__}, {error}; `mfbo study doctor` says more"
            ) from error
        self._told += changed.told == self._told
        self._seen += changed.seen == self._seen
        self._corrections += event.kind in CORRECTIONS
        self.rounds[event.number : event.number + 1] = [changed]

    def _change(self, event: Event) -> None:
        """Change the population from now on; earlier rounds are told in its shape."""
        if event.number != STUDY:
            raise ValueError("a change concerns the whole study")
        record = codec.from_text(event.body)
        codec.correction_text(event.kind, record)
        before, after = self.population, changed_population(self.population, record["change"])
        self.rounds = [before_change(asked, before, after) for asked in self.rounds]
        self.population = after
        self._corrections += 1

    def _after(self, event: Event) -> Round:
        new = event.kind in ("asked", "added")
        if not 0 <= event.number <= len(self.rounds) or new != (event.number == len(self.rounds)):
            raise DamageError(
                f"record {event.sequence}, {event.kind!r}, is out of order; `mfbo study doctor` says more"
            )
        record = codec.from_text(event.body)
        if event.kind == "asked":
            return codec.plan_of(event.number, record, self._seen, self.population.labels)
        if event.kind == "added":
            size = record.get("size")
            _require(
                size is None or (isinstance(size, int) and size > 0),
                "the number of its agents is not a whole number above 0",
            )
            past = Round.past(event.number, codec.array_of(record["distribution"]), size, self.population.labels)
            return _done(past, record, self._told, None)
        asked = self.rounds[event.number]
        if event.kind in CORRECTIONS:
            return _corrected(event, asked, record)
        if asked.state != "open":
            raise DamageError(f"record {event.sequence} ends plan {event.number} again; `mfbo study doctor` says more")
        return self._ended(event, asked, record)

    def _ended(self, event: Event, asked: Round, record: dict[str, Any]) -> Round:
        if event.kind == "leased":
            return asked.leased(record["worker"], record["expires"], codec.array_of(record.get("start")), self._seen)
        if event.kind == "told":
            return _done(asked, record, self._told, self._seen)
        if event.kind == "failed":
            counted = codec.array_of(record.get("placed"))
            return asked.ended("failed", record.get("error", ""), placed=counted, seen=self._seen)
        if event.kind == "abandoned":
            return asked.ended("abandoned", record.get("error", ""))
        raise StorageError(f"record {event.sequence} is of an unknown kind {event.kind!r}: a newer mfbo wrote it")


def _corrected(event: Event, asked: Round, record: dict[str, Any]) -> Round:
    require_correctable(event.kind, event.number, asked.state)
    words = codec.correction_text(event.kind, record)
    if event.kind == "withdrawn":
        return asked.withdrawn(words)
    if event.kind == "reinstated":
        return asked.reinstated(words)
    feedback, played = record["feedback"], codec.array_of(record["realized"])
    believed = None if feedback is None else codec.feedback_of(feedback)
    placed = codec.array_of(record.get("placed"))
    unknown = tuple(map(str, record.get("unknown", ())))
    return asked.amended(believed, played, placed, words, situation=record.get("situation"), unknown=unknown)


def _done(asked: Round, record: dict[str, Any], told: int, seen: int | None) -> Round:
    feedback, realized = record["feedback"], record["realized"]
    if not isinstance(feedback, dict) or not isinstance(realized, dict):
        raise DamageError(f"the result of plan {asked.number} is not whole; `mfbo study doctor` says more")
    return asked.done(
        codec.feedback_of(feedback),
        codec.array_of(realized),
        told,
        late=bool(record["late"]),
        placed=codec.array_of(record.get("placed")),
        seen=seen,
        situation=record.get("situation"),
    )


def _require_sound(read: Round, population: Population) -> None:
    """Raise ``ValueError`` with the first thing that cannot be so."""
    plan = read.plan
    _distribution(plan.distribution, population, "the plan")
    if plan.allocation is not None:
        _whole(plan.allocation, population.shape, "the allocation")
    for counts, what in ((read.start, "the count before the plan"), (read.placed, "the count of what was placed")):
        if counts is not None:
            _whole(counts, population.shape, what)
    if plan.assignment is not None:
        _whole(plan.assignment, (read.size or population.size or 0,), "the assignment", below=population.shape[1])
    if read.realized is not None:
        _distribution(read.realized, population, "what was played")
    if read.feedback is not None:
        _feedback(read.feedback, population)
    worker, expires = read.lease.worker, read.lease.expires
    _require(worker is None or isinstance(worker, str), "the worker is not a text")
    _require(expires is None or (_is_number(expires) and expires == expires), "no time of expiry")
    for name, value in read.situation.items():
        _require(isinstance(value, str) or _is_number(value), f"the situation {name!r} is neither a number nor a word")
    for key, values in read.notes.items():
        plain = len(values) > 0 and all(_is_number(value) or isinstance(value, str) for value in values)
        _require(plain, f"the note {key!r} holds something else than numbers and words")
    _require(isinstance(read.error, str), "the reason is not a text")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _distribution(values: Any, population: Population, what: str) -> None:
    _require(isinstance(values, np.ndarray) and values.dtype == np.float64, f"{what} holds no numbers")
    _require(values.shape == population.shape, f"{what} has shape {values.shape}, not {population.shape}")
    off = np.abs(values.sum(axis=1) - 1.0)  # NaN and infinities are not below the tolerance
    _require(bool((off <= SUM_TOLERANCE).all()) and bool((values >= 0).all()), f"{what} does not sum to 1")


def _whole(values: Any, shape: tuple[int, ...], what: str, below: int | None = None) -> None:
    _require(isinstance(values, np.ndarray) and values.dtype.kind == "i", f"{what} holds no whole numbers")
    _require(values.shape == shape, f"{what} has shape {values.shape}, not {shape}")
    _require(bool((values >= 0).all()) and (below is None or bool((values < below).all())), f"{what} is out of range")


def _feedback(feedback: Feedback, population: Population) -> None:
    contexts, actions = population.shape
    payoffs = [payoff for _, _, payoff in feedback.agents]
    if feedback.payoff is not None:
        payoffs.append(feedback.payoff)
    _require(bool(np.isfinite(payoffs).all()), "a payoff is not finite")
    for context, action, _ in feedback.agents:
        _require(0 <= context < contexts and 0 <= action < actions, "an agent stands outside the population")
    for table, what in ((feedback.cells, "the table of cells"), (feedback.counts, "the table of counts")):
        if table is not None:
            numbers = isinstance(table, np.ndarray) and table.dtype == np.float64
            _require(numbers and table.shape == population.shape, f"{what} has another shape")
            _require(not bool(np.isinf(table).any()), f"{what} is not finite")
    told = feedback.payoff is not None or bool(feedback.agents) or feedback.cells is not None
    _require(told, "it holds no payoff")
    _require(feedback.cells is None or feedback.counts is not None, "cells have no counts")
    if feedback.cells is not None and feedback.counts is not None:
        seen = ~np.isnan(feedback.cells)
        theirs = bool(seen.any()) and np.array_equal(seen, feedback.counts > 0)
        _require(theirs, "counts are not those of the cells told")
