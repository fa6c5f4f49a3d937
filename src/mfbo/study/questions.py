"""A study's history as it is kept, and what it answers without changing: the plan to keep, what is expected, why."""

from collections.abc import Callable
from threading import RLock
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.errors import InvalidInputError, RoundStateError
from mfbo.interfaces import Posterior, Strategy
from mfbo.journal import Journal, KnownLog
from mfbo.population import Population
from mfbo.records import History, Plan, Round, read_distribution
from mfbo.simplex import whole_agents
from mfbo.situations import Known, Situation, SituationValue
from mfbo.storage import Storage
from mfbo.study.explaining import Explanation, Prediction, explained, predicted
from mfbo.study.outlook import FeedbackTold, Outlook, looked_out
from mfbo.study.round_tables import rounds_frame
from mfbo.study.whole_plans import Placing
from mfbo.validation import known_name, whole_number


class Questions:
    """A history, the log it is kept in, the strategy that reads it, and a lock: threads that share a study wait.

    journal: None if the rounds are kept here alone. The lock is not copied or sent along.
    """

    def __init__(self, history: History, strategy: Strategy, placing: Placing, journal: Journal | None) -> None:
        self.strategy = strategy
        self.lock = RLock()
        self._history = history
        self._placing = placing
        self._journal = journal
        self._is_read = False  # whether the log was read ahead, for the next call

    def __getstate__(self) -> dict[str, Any]:
        """Leave the lock behind."""
        return {key: value for key, value in self.__dict__.items() if key != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a new lock."""
        self.__dict__.update(state, lock=RLock())

    @property
    def name(self) -> str:
        """The name under which it is stored; empty without a storage."""
        return "" if self._journal is None else self._journal.name

    @property
    def storage(self) -> Storage | None:
        """Where it is stored."""
        return None if self._journal is None else self._journal.storage

    def refresh(self, *, ahead: bool = False) -> None:
        """Read what other processes did to this study; ahead: the call that follows at once need not read it again."""
        with self.lock:
            if self._journal is not None and (ahead or not self._is_read):
                self._history = self._journal.refresh(self._history)
            self._is_read = ahead

    def known(self) -> KnownLog | None:
        """Return what this object knows of its log, for another object of the same study; None without a storage."""
        with self.lock:
            return None if self._journal is None else self._journal.known(self._history)

    def take(self, known: KnownLog) -> None:
        """Take over what another object of the same study in this process knows, instead of reading it again."""
        with self.lock:
            if self._journal is not None:
                self._history = self._journal.take(self._history, known)

    @property
    def population(self) -> Population:
        """Who is placed."""
        return self._history.population

    @property
    def history(self) -> History:
        """All rounds so far; immutable."""
        return self._history

    @property
    def rounds(self) -> tuple[Round, ...]:
        """All rounds in the order of asks, whatever their state."""
        return self._history.rounds

    @property
    def best(self) -> Round:
        """The round with the highest told payoff, luck included.

        ``best_expected`` if none was told as one number, or if rounds differ by their situations as well.
        """
        with self.lock:
            if self._history.situations is not None:
                return self.best_expected
            paid = [(done.payoff, done) for done in self._told("best") if done.payoff is not None]
            return max(paid, key=lambda pair: pair[0])[1] if paid else self.best_expected

    @property
    def best_expected(self) -> Round:
        """The told round whose plan is recommended: that with the highest posterior mean."""
        with self.lock:
            told = self._told("best_expected")
            recommended = self.strategy.recommend(self._history)
            planned = self._history.steers == "planned"
            return min(told, key=lambda done: _distance(done, recommended, planned=planned))

    def to_frame(self, library: str | None = None, *, cells: bool = False) -> Any:
        """Return the rounds as a data frame, a row for each; cells: a row for each round and cell, with its share.

        library: "pandas", "polars" or "pyarrow"; the first of these that is installed by default. Payoffs are as told,
        situations have a column each. ``mfbo study export`` writes the rows of cells.
        """
        with self.lock:
            return rounds_frame(self.rounds, self.population, self._history.situations, library, cells=cells)

    def recommend(self, situation: Any = None) -> Plan:
        """Return the plan to keep: of the visited ones, that with the highest posterior mean.

        It keeps all limits but the move budget: getting there may take several rounds. situation: in which it is to be
        good, {"day": "weekend"}; what is not said may be anything.
        """
        with self.lock:
            stated = self._read_situation(situation, "before")
            self._told("recommend")
            recommended = self.strategy.recommend(self._history.in_situation(stated))
            return self._placing.recommended(recommended, self.population, len(self.rounds))

    def predict(self, distribution: Any, situation: Any = None) -> Prediction:
        """Return what the model expects of a distribution: of g, and of f in every cell, in a situation.

        distribution: shares (C, A), shares by name ({"Harbor": 0.6, "Campus": 0.4}), a data frame, or a plan.
        """
        with self.lock:
            posterior = self._posterior("predict", self._read_situation(situation, "after"))
            return predicted(posterior, read_distribution(distribution, self.population))

    def expected(self) -> tuple[FloatArray, FloatArray]:
        """Return what the model expects of what was played in every told round, mean and sd (n,), in order of tells.

        Each in its own situation.
        """
        with self.lock:
            posterior, moments = self._posterior("expect"), []
            for done in self._history.told:
                if self._history.situations is not None:
                    posterior = self._posterior("expect", done.situation)
                moments.append(posterior.population(done.played))
            return np.array([found.mean for found in moments]), np.array([found.variance**0.5 for found in moments])

    def day_levels(self) -> FloatArray | None:
        """Return what one and the same plan is expected to bring on the day of every told round, (n,).

        It is the recommended plan, so payoffs of different days compare once this is taken out of them. In the order
        of tells; None in a study without situations.
        """
        with self.lock:
            if self._history.situations is None:
                return None
            self._told("day_levels")
            plan = self.strategy.recommend(self._history)
            levels: dict[tuple[tuple[str, SituationValue], ...], float] = {}
            for done in self._history.told:
                key = tuple(sorted(done.situation.items()))
                if key not in levels:
                    posterior = self._posterior("level days", done.situation)
                    levels[key] = float(posterior.population_means(plan[None])[0])
            return np.array([levels[tuple(sorted(done.situation.items()))] for done in self._history.told])

    def explain(self, distribution: Any = None, situation: Any = None) -> Explanation:
        """Return a prediction for a distribution (the recommended one by default), and what moving one agent changes.

        In whole agents, the distribution is rounded to them; moves keep the limits. situation: as in ``recommend``.
        """
        with self.lock:
            posterior = self._posterior("explain", self._read_situation(situation, "after"))
            if distribution is None:
                plan = self.recommend(situation)
                return explained(posterior, self.population, plan.realized, plan.allocation)
            checked = read_distribution(distribution, self.population)
            size = self.population.size
            counts = None if size is None else whole_agents(checked, self.population.context_totals)
            return explained(posterior, self.population, checked, counts)

    def outlook(
        self,
        rounds: int = 30,
        *,
        feedback: FeedbackTold = "payoff",
        simulations: int = 8,
        progress: Callable[[int], None] | None = None,
        situation: Any = None,
    ) -> Outlook:
        """Return what further rounds are expected to bring against the status quo, told one number or cells a round.

        The strategy plays against ``simulations`` draws from what it believes; ``progress(done)`` after each.
        situation: that of all rounds to come, as in ``recommend``.
        """
        with self.lock:
            stated = self._read_situation(situation, "before")
            whole_number(rounds, "rounds", least=1)
            whole_number(simulations, "simulations", least=1)
            known_name(feedback, "feedback", ("payoff", "cells"))
            self._told("outlook")
            history = self._history.in_situation(stated)
            return looked_out(self.strategy, history, self._placing, rounds, simulations, feedback, progress)

    def _read_situation(self, stated: Any, when: Known, *, new_categories: bool = False) -> dict[str, SituationValue]:
        """Check what is said of a round, in a study that was declared to know situations."""
        if self._history.situations is not None:
            return self._history.situations.values(stated, when=when, new_categories=new_categories)
        if stated:
            raise InvalidInputError(
                "this study knows no situations: declare them when it is created, situations={…}, --situations …"
            )
        return {}

    def _posterior(self, purpose: str, situation: Situation | None = None) -> Posterior:
        self._told(purpose)
        posterior = self.strategy.posterior(self._history.in_situation(situation or {}))
        if posterior is None:
            raise InvalidInputError(f"strategy {self.strategy.name!r} has no model to {purpose} with; use 'default'")
        return posterior

    def _told(self, purpose: str) -> tuple[Round, ...]:
        told = self._history.told
        if not told:
            raise RoundStateError(f"{purpose} needs at least one told round; ask for a plan and tell its payoff first")
        return told


def _distance(done: Round, distribution: FloatArray, *, planned: bool) -> float:
    there = done.plan.distribution if planned else done.played
    return float(np.abs(there - distribution).sum())
