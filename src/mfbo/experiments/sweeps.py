"""Which cases of a benchmark form a sweep: alike but for the number of agents, of actions, or of rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mfbo.experiments.results import Case

AXES = {"agents": "the number of agents M", "actions": "the number of actions |A|", "rounds": "the rounds T"}
FIXED = {"agents": ("problem", "rounds"), "actions": ("agents", "rounds"), "rounds": ("problem", "agents")}
ALWAYS_FIXED = ("feedback", "context_allocation", "noise", "known_noise")
LEAST_STEPS = 3


@dataclass(frozen=True)
class Sweep:
    """Cases along one axis, in its order, all else that matters equal. name: for files, unlike that of any other."""

    axis: str
    name: str
    cases: tuple[Case, ...]


def sweeps(cases: Sequence[Case]) -> list[Sweep]:
    """Return the cases that form sweeps along M, |A| or T: at least three values each.

    Another number of actions is another problem, so a sweep along |A| goes through problems; of two with equally many
    actions it has the first.
    """
    found = []
    for axis, fixed in FIXED.items():
        by_fixed: dict[tuple[Any, ...], dict[Any, Case]] = {}
        for case in cases:
            place = (*(getattr(case, name) for name in fixed), *(getattr(case.identity, name) for name in ALWAYS_FIXED))
            if axis != "actions":
                place = (*place, case.identity.data_sha256)
            by_fixed.setdefault(place, {}).setdefault(getattr(case, axis), case)
        members = [tuple(sorted(by_step.values(), key=partial(axis_value, axis=axis))) for by_step in by_fixed.values()]
        enough = [steps for steps in members if len(steps) >= LEAST_STEPS]
        names = [axis] if len(enough) == 1 else [f"{axis}-{number}" for number in range(1, len(enough) + 1)]
        found += [Sweep(axis, name, steps) for name, steps in zip(names, enough, strict=True)]
    return found


def axis_value(case: Case, axis: str) -> float:
    """Return where a case stands along M, |A| or T."""
    return float(getattr(case, axis))  # "inf" included
