"""What changed in the life of a study, as its pictures mark it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mfbo.population import Change, Population

NEW_MARK, CLOSED_MARK = "*", "x"


@dataclass(frozen=True)
class StudyMarks:
    """changes: told rounds before each change, and its words. opened: actions that were not there from the start."""

    changes: Sequence[tuple[int, str]] = ()
    opened: frozenset[str] = frozenset()

    def labeled(self, population: Population) -> Population:
        """Return the population with what changed beside the names of its actions."""
        names = []
        for name in population.actions:
            mark = " (closed)" if name in population.closed else " (new)" if name in self.opened else ""
            names.append(name + mark)
        return population.replaced(actions=tuple(names))

    def places(self, population: Population) -> Mapping[str, list[int]]:
        """Return the positions of new and of closed actions by the mark that they get."""
        closed = [place for place, name in enumerate(population.actions) if name in population.closed]
        opened = [place for place, name in enumerate(population.actions) if name in self.opened]
        new = [place for place in opened if place not in closed]
        return {mark: found for mark, found in ((NEW_MARK, new), (CLOSED_MARK, closed)) if found}


def opened_later(changes: Sequence[Change]) -> frozenset[str]:
    """Return the present names of the actions that changes opened and that were not there before, in their order."""
    opened: set[str] = set()
    gone: set[str] = set()
    for change in changes:
        opened.update(name for name in change.get("open", {}) if name not in gone)
        gone.update(name for name in change.get("close", ()) if name not in opened)
        renamed: Mapping[str, Any] = change.get("rename", {})
        opened = {renamed.get(name, name) for name in opened}
        gone = {renamed.get(name, name) for name in gone}
    return frozenset(opened)
