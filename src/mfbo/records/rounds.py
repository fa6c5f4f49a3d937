"""Feedback and rounds. Every round is made and changed here, whoever asks for it."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.cards import Card, Shown, amount
from mfbo.population import CellLabels, Change, Population
from mfbo.records.placement_card import placement_drawings, placement_table, spread
from mfbo.records.plan import Notes, Plan
from mfbo.records.told_values import read_feedback
from mfbo.simplex import quota, whole_agents
from mfbo.situations import Situation

RoundState = Literal["open", "done", "failed", "abandoned", "withdrawn"]


@dataclass(frozen=True, eq=False, repr=False)
class Feedback(Shown):
    """What was seen after a round; any of the three kinds, or several together.

    payoff: the population payoff g.
    agents: (context index, action index, own payoff) of some agents.
    cells: mean own payoff per cell, (C, A), NaN where nobody was seen.
    counts: agents behind each cell mean, (C, A); 1 where not given.
    total: the payoff of all agents together, if it was told so; then the payoff is it divided by their number.
    """

    payoff: float | None = None
    agents: tuple[tuple[int, int, float], ...] = ()
    cells: FloatArray | None = None
    counts: FloatArray | None = None
    total: float | None = None

    @staticmethod
    def read(
        population: Population, payoff: Any = None, agents: Any = None, cells: Any = None, counts: Any = None
    ) -> "Feedback":
        """Check what a user tells: names or indices, finite numbers, shapes; refuse it all or take it all."""
        return Feedback(*read_feedback(population, payoff, agents, cells, counts))

    def _card(self) -> Card:
        seen = 0 if self.cells is None else int((~np.isnan(self.cells)).sum())
        facts = [("payoff", amount(self.payoff if self.total is None else self.total))] * (self.payoff is not None)
        facts += [("agents", f"{len(self.agents):,}")] * bool(self.agents) + [("cells", f"{seen:,}")] * bool(seen)
        return Card("Feedback", tuple(facts))


class PayoffRange(NamedTuple):
    """How many payoffs were told of a round, the lowest and the highest."""

    told: int = 0
    lowest: float = 0.0
    highest: float = 0.0


@dataclass(frozen=True)
class Lease:
    """Who carries out a plan, and until when it is theirs alone.

    worker: its holder's name, None if it was asked without one. expires: seconds since 1970; None: never.
    former: who held it before and let it expire.
    """

    worker: str | None = None
    expires: float | None = None
    former: tuple[str | None, ...] = ()

    def has_expired(self, now: float) -> bool:
        """Tell whether the plan may be offered to others."""
        return self.expires is not None and now > self.expires


@dataclass(frozen=True, eq=False, repr=False)
class Round(Shown):
    """One try: the plan, what was really played, what was seen, and in which state it is.

    told: position in the order of tells (not of asks), None until told; the model reads rounds in this order.
    added: whether it was never asked but brought along (a past day). lease: who has the plan.
    late: whether it was told after its lease had expired, or by someone who no longer held it.
    start: where agents stood when it was asked, if they were counted then, (C, A). placed: whole agents as really
    placed, if they were counted, (C, A). seen: position of the round's last word on where agents stand (counted when
    asked; or told or failed, counted or not) in the order of such words of all rounds, None if it has none.
    counted: that of the count when it was asked, ``start``; None if nobody counted then. correction: what was last
    corrected of it, in words, empty if nothing was. A withdrawn round never happened, as is now believed:
    its result and its place in the order of tells stay with it, for it may be reinstated. today: what was otherwise on
    that day alone, a change as ``population.changed`` applies it. size, weights: agents and their shares of contexts
    (C,) in this round; None: those of the population. situation: what is
    known of the round, said when it was asked or told; empty if nothing is. brought: the payoff and the situation with
    which a past day came, if it was amended since.
    """

    plan: Plan
    notes: Notes = field(default_factory=dict)
    state: RoundState = "open"
    realized: FloatArray | None = None
    feedback: Feedback | None = None
    told: int | None = None
    error: str = ""
    added: bool = False
    lease: Lease = Lease()
    late: bool = False
    start: IntArray | None = None
    placed: IntArray | None = None
    seen: int | None = None
    counted: int | None = None
    correction: str = ""
    today: Change = field(default_factory=dict)
    size: int | None = None
    weights: FloatArray | None = None
    situation: Situation = field(default_factory=dict)
    brought: tuple[float | None, Situation] | None = None

    @property
    def number(self) -> int:
        """The round's position in the order of asks, counted from 0."""
        return self.plan.number

    @property
    def payoff(self) -> float | None:
        """The told population payoff, if one was told."""
        return None if self.feedback is None else self.feedback.payoff

    @property
    def as_told(self) -> float | None:
        """The population payoff in the way in which it was told: per agent, or of all agents together."""
        total = None if self.feedback is None else self.feedback.total
        return self.payoff if total is None else total

    @cached_property
    def payoff_range(self) -> PayoffRange:
        """All payoffs told of this round, of every kind, from the lowest to the highest."""
        feedback = self.feedback
        if feedback is None:
            return PayoffRange()
        payoffs = [] if feedback.payoff is None else [feedback.payoff]
        for _, _, payoff in feedback.agents:
            payoffs.append(payoff)
        if feedback.cells is not None:
            payoffs += feedback.cells[~np.isnan(feedback.cells)].tolist()
        return PayoffRange(len(payoffs), min(payoffs, default=0.0), max(payoffs, default=0.0))

    @cached_property
    def as_system(self) -> "Round":
        """This round with its payoff told as the population payoff and nothing else, for payoffs that all share."""
        return replace(self, feedback=Feedback(self.payoff_range.lowest))

    @property
    def played(self) -> FloatArray:
        """What was really played, (C, A); before it is told, what the plan's whole agents would play."""
        return self.plan.realized if self.realized is None else self.realized

    @cached_property
    def played_key(self) -> bytes:
        """What was played, as a key: equal for equal distributions."""
        return self.played.tobytes()

    @property
    def last_word(self) -> int | None:
        """The position of the last word of this round that still holds; see ``seen``. Of a withdrawn one, the count."""
        return self.counted if self.state == "withdrawn" and self.counted is not None else self.seen

    def standing(self, population: Population) -> IntArray | None:
        """Return where agents stand by this round's last word, (C, A).

        A failed plan was carried out, an abandoned or withdrawn one was not.
        """
        if self.state in ("open", "abandoned", "withdrawn"):
            return self.start
        allocation = self.plan.allocation
        if self.placed is not None or self.state == "failed":
            return allocation if self.placed is None else self.placed
        if allocation is not None and self.is_as_planned:
            return allocation
        return whole_agents(self.played, self.totals(population))

    def totals(self, population: Population) -> IntArray:
        """Return the agents of every context in this round, (C,)."""
        if self.size is None and self.weights is None:
            return population.context_totals
        weights = population.weights if self.weights is None else self.weights
        return quota(weights, (population.size or 0) if self.size is None else self.size)

    def agents(self, population: Population) -> int | None:
        """Return how many agents there were in this round, as counted if they were; None in the mean-field limit."""
        if self.placed is not None:
            return max(int(self.placed.sum()), 1)
        return population.size if self.size is None else self.size

    def in_cells(self) -> FloatArray | IntArray:
        """Return how many agents were in each cell, (C, A), up to a common factor."""
        if self.placed is not None:
            return self.placed
        if self.plan.allocation is not None and self.is_as_planned:
            return self.plan.allocation
        weights, labels = self.weights, self.plan.labels
        if weights is None:
            weights = np.ones(len(self.played)) if labels is None else labels.weights
        return np.asarray(weights[:, None] * self.played)

    @property
    def is_as_planned(self) -> bool:
        """Whether what was played is what the plan's whole agents would play."""
        return self.plan.realized.tobytes() == self.played_key

    def joint_shares(self, distribution: FloatArray, population: Population) -> FloatArray:
        """Return w = p_c ξ_ca, the share of all agents in each cell (C, A), by the weights of this round."""
        weights = population.weights if self.weights is None else self.weights
        return np.asarray(weights[:, None] * distribution)

    @staticmethod
    def asked(
        plan: Plan,
        notes: Notes,
        lease: Lease,
        start: IntArray | None,
        seen: int,
        *,
        today: Change | None = None,
        situation: Situation | None = None,
    ) -> "Round":
        """Return a new open round; start: agents as counted before it, None if nobody counted; seen: as above."""
        today = {} if today is None else today
        counted = None if start is None else seen
        return Round(
            plan,
            notes,
            lease=lease,
            start=start,
            seen=counted,
            counted=counted,
            today=today,
            size=today.get("size"),
            situation=dict(situation or {}),
        )

    @staticmethod
    def past(
        number: int, distribution: FloatArray, size: int | None = None, labels: CellLabels | None = None
    ) -> "Round":
        """Return a day that was played outside the study, before its result; size: its agents, if others than now."""
        return Round(Plan(number, distribution, labels=labels), added=True, size=size)

    def numbered(self, number: int, told: int) -> "Round":
        """Return a past day at its place in the study."""
        return replace(self, plan=replace(self.plan, number=number), told=told)

    def leased(self, worker: str | None, expires: float | None, start: IntArray | None, seen: int) -> "Round":
        """Return this open round in other hands, or anew in the same; start: agents as counted now, as in ``asked``."""
        lease = Lease(worker, expires, (*self.lease.former, self.lease.worker))
        if start is None:
            return replace(self, lease=lease)
        return replace(self, lease=lease, start=start, seen=seen, counted=seen)

    def done(
        self,
        feedback: Feedback,
        played: FloatArray,
        told: int,
        *,
        late: bool = False,
        placed: IntArray | None = None,
        seen: int | None = None,
        situation: Situation | None = None,
    ) -> "Round":
        """Return this round with its result; situation: what is known of it now, beside or instead of before."""
        return replace(
            self,
            state="done",
            feedback=feedback,
            realized=read_only(played) if played.flags.writeable else played,
            told=told,
            late=late,
            placed=placed,
            seen=seen,
            situation={**self.situation, **(situation or {})},
        )

    def ended(
        self, state: RoundState, error: str = "", *, placed: IntArray | None = None, seen: int | None = None
    ) -> "Round":
        """Return this round without a result: failed (``placed`` and ``seen`` as above) or abandoned."""
        if state == "abandoned":
            return replace(self, state=state, error=error)
        return replace(self, state=state, error=error, placed=placed, seen=seen)

    def amended(
        self,
        feedback: Feedback | None,
        played: FloatArray | None,
        placed: IntArray | None,
        correction: str,
        *,
        situation: Situation | None = None,
        unknown: tuple[str, ...] = (),
    ) -> "Round":
        """Return this told round as it is now believed to have been; None: that part stays.

        What was counted goes with what was played: another ``played`` has another ``placed`` or none. situation: what
        is known of it now, beside or instead of before. unknown: what is not known of it any more.
        """
        stated = {**self.situation, **(situation or {})}
        stated = {name: value for name, value in stated.items() if name not in unknown}
        believed = self.feedback if feedback is None else feedback
        brought = (self.as_told, self.situation) if self.added and self.brought is None else self.brought
        amended = replace(self, correction=correction, feedback=believed, situation=stated, brought=brought)
        return amended if played is None else replace(amended, realized=played, placed=placed)

    def withdrawn(self, correction: str) -> "Round":
        """Return this ended round as one that never happened."""
        return replace(self, state="withdrawn", correction=correction)

    def reinstated(self, correction: str) -> "Round":
        """Return this withdrawn round as it was before."""
        return replace(self, state="failed" if self.feedback is None else "done", correction=correction)

    def _card(self) -> Card:
        as_planned = self.realized is None or np.array_equal(self.realized, self.plan.realized)
        counts = self.plan.allocation if self.placed is None and as_planned else self.placed
        amounts = (self.plan.labels, self.played, counts)
        words = {
            "payoff": amount(self.as_told) if self.as_told is not None else "",
            "mean payoff": amount(told_payoff(self)) if self.feedback is not None and self.payoff is None else "",
            "situation": ", ".join(f"{name} {value}" for name, value in self.situation.items()),
            "worker": self.lease.worker or "",
            "played": "" if self.state == "abandoned" else spread(*amounts),
            "note": "a past day" if self.added else "told late" if self.late else "",
            "correction": self.correction,
            "error": self.error,
        }
        facts = tuple((word, said) for word, said in words.items() if said)
        return Card(
            f"Round {self.number}: {self.state}", facts, placement_drawings(*amounts), placement_table(*amounts)
        )


def told_payoff(done: Round) -> float:
    """Return the told payoff of a round as one number: the system payoff, or the mean of what agents got."""
    feedback = done.feedback
    if feedback is None:
        raise AssertionError(f"round {done.number} has no result")  # History.told holds finished rounds only
    if feedback.payoff is not None:
        return feedback.payoff
    if feedback.agents:
        return float(np.mean([payoff for _, _, payoff in feedback.agents]))
    cells = np.asarray(feedback.cells, dtype=np.float64)
    return float(np.average(np.nan_to_num(cells), weights=_behind_means(done, cells, feedback.counts)))


def _behind_means(done: Round, cells: FloatArray, counts: FloatArray | None) -> FloatArray:
    """Return how many agents stand for each mean of ``cells`` (C, A), up to a common factor: as they were counted.

    Equal counts say that nobody counted: then it is the agents who were in each cell.
    """
    seen = ~np.isnan(cells)
    counted = seen.astype(np.float64) if counts is None else counts
    if np.ptp(counted[seen]) > 0:
        return counted
    there = np.where(seen, done.in_cells(), 0.0)
    return there if there.any() else counted
