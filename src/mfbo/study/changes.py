"""A fleet that lives: what is otherwise today, and what changes from now on."""

from typing import Any

from mfbo.catalogue import searches_single_agents
from mfbo.errors import InvalidInputError
from mfbo.population import Change, Population, changed, read_change
from mfbo.records import Plan, Round
from mfbo.storage import codec
from mfbo.storage.rules import STUDY
from mfbo.study.correcting import Corrections, read_author


class Changes(Corrections):
    """A study whose population changes, for a day or for good."""

    def change(
        self,
        *,
        open: Any = None,
        contexts: Any = None,
        close: Any = None,
        rename: Any = None,
        size: int | None = None,
        capacity: Any = None,
        minimum: Any = None,
        move_budget: Any = None,
        weights: Any = None,
        by: str = "",
        reason: str = "",
    ) -> Population:
        """Change who is placed from now on, and return the population as it is then; names are those before the change.

        open: a mapping from new actions to their features, or names (of closed actions, or without features). close:
        actions that hold nobody from now on. rename: a mapping from old names to new ones. size: number of agents.
        capacity, minimum: a number for all, a list, or a mapping action → number; None or infinity there for no limit.
        move_budget: infinity for none. contexts: new ones, a mapping to their features, or names; with them, or
        alone, weights: of all contexts. by, reason: who says so, and why.

        The model reads all rounds over all actions that ever were. A change after which no placement keeps all limits
        is refused with the reason; an open plan that no longer fits is abandoned when it is asked for again.
        """
        wanted: dict[str, Any] = {"open": open, "close": close, "rename": rename, "size": size}
        wanted |= {"capacity": capacity, "minimum": minimum, "move_budget": move_budget}
        wanted |= {"contexts": contexts, "weights": weights}
        with self.lock:
            author = read_author(by, reason)
            while True:
                self.refresh()
                change = read_change(self.population, **wanted)
                if not change:
                    names = ", ".join(wanted).replace("_", " ")
                    raise InvalidInputError(f"nothing changes: give one of {names}")
                self._changed(change)
                if self._correct("changed", STUDY, codec.change_record(*author, change)):
                    return self.population

    def _changed(self, change: Change) -> Population:
        """Return the population after a change; refuse one that the strategy or the way of placing cannot follow."""
        after, strategy = changed(self.population, change), self.strategy.name
        if searches_single_agents(strategy) and (
            after.size != self.population.size or after.shape != self.population.shape
        ):
            raise InvalidInputError(
                f"strategy {strategy!r} places agents one by one and cannot follow a fleet that changes; take 'default'"
            )
        self._placing.require_kept(after, strategy)
        return after

    def _today(self, size: Any, closed: Any, capacity: Any, minimum: Any) -> tuple[Change, Population]:
        """Return what is otherwise today, and who is placed; refuse a day on which no placement keeps all limits."""
        today = read_change(self.population, size=size, close=closed, capacity=capacity, minimum=minimum)
        return (today, self._changed(today)) if today else ({}, self.population)

    def misfit(
        self,
        placed: Any,
        plan: Plan | int | None = None,
        *,
        size: int | None = None,
        closed: Any = None,
        capacity: Any = None,
        minimum: Any = None,
    ) -> str:
        """Say why counted agents (C, A) cannot be the whole fleet in its docks; empty if they can.

        plan: the one they were placed by, if the fleet was another on its day. Otherwise as in ``ask``.
        """
        with self.lock:
            if plan is None:
                fleet = self._today(size, closed, capacity, minimum)[1]
            else:
                fleet = self._fleet_of(self._round(plan))
            return self._misfit(fleet.read_placed(placed), fleet)

    def _unfit(self, offered: Round, today: Change, fleet: Population) -> str:
        """Say why an open plan cannot be carried out today, wherever agents stand; empty if it can.

        A day of which nothing is said is as it was when the plan was asked.
        """
        allocation = offered.plan.allocation
        if allocation is None:
            return ""
        if not today and offered.today:
            try:
                fleet = changed(self.population, offered.today)
            except InvalidInputError as error:
                return f"the study has changed: {error}"
        placed, totals = allocation.sum(axis=1), fleet.context_totals
        if self._placing.contexts == "quota" and (placed != totals).any():
            if placed.sum() == totals.sum():
                return "the contexts have other weights now"
            return f"it places {placed.sum()} agents, and {totals.sum()} are there today"
        if fleet.limits is None or fleet.limits.region(totals, None).contains(allocation):
            return ""
        return "it does not keep the limits of today"
