"""A store of studies as an older mfbo wrote it, and how that mfbo went on with each of them.

    python tests/golden/old_store.py

goes on from a copy of old_store.db and writes next_plans.json: by hand, when a change of a strategy is meant. The store
itself was written by ``created`` under commit 9673723, whose notes hold checksums of words, and is never written again.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from traces import line, machine

from mfbo import Feedback, Plan, Population, Study, create_study, load_study
from mfbo.problems import FeedbackKind, Observer, arena

STORE = Path(__file__).with_name("old_store.db")
NEXT = Path(__file__).with_name("next_plans.json")
ROUNDS, MORE = 14, 6
PROBLEM = arena(8, 40)
FAILED, OPEN = 9, 12  # rounds of the study with limits that brought nothing, and that are not told yet


@dataclass(frozen=True)
class Stored:
    """One study of the store. feedback: its kind at first and later on."""

    strategy: str = "default"
    feedback: tuple[str, str] = ("system", "system")
    noise: float = 0.0
    known: bool = False
    allocation: str = "quota"
    limited: bool = False
    rounds: int = ROUNDS

    def population(self) -> Population:
        """Return who is placed, with limits or without."""
        whole = PROBLEM.population
        if not self.limited:
            return whole
        return Population(
            {"name": list(whole.actions), "angle": whole.features[:, 0].tolist()},
            dict(zip(whole.contexts, whole.weights.tolist(), strict=True)),
            size=whole.size,
            context_features=whole.context_features.tolist(),
            capacity=dict.fromkeys(whole.actions[:3], 9),
            move_budget=16,
        )

    def answer(self) -> Callable[[Plan], Feedback]:
        """Return what plans bring; the second kind of feedback begins after six rounds."""
        first, then = (Observer(PROBLEM, FeedbackKind.parse(kind), self.noise) for kind in self.feedback)
        return lambda plan: first(plan) if plan.number < 6 else then(plan)


STUDIES = {
    "exact": Stored(),
    "noisy": Stored(noise=0.02),
    "known noise, sampled": Stored(noise=0.02, known=True, allocation="sampled"),
    "agents": Stored(feedback=("agents:2", "agents:2")),
    "cells": Stored(feedback=("cells", "cells"), rounds=26),  # 500 rows are passed: the sparse process
    "mixed": Stored(feedback=("system", "agents:2")),
    "limits": Stored(limited=True),
    "paper": Stored("mf-gp-ucb"),
    "paper, agents": Stored("mf-gp-ucb", feedback=("agents:2", "agents:2"), allocation="sampled"),
}


def created(path: Path) -> None:
    """Write the store."""
    for name, stored in STUDIES.items():
        study = create_study(
            stored.population(),
            stored.strategy,
            seed=3,
            noise=stored.noise if stored.known else None,
            allocation=stored.allocation,
            storage=f"sqlite:///{path}",
            name=name,
            lease_seconds=None,
        )
        _play(study, stored, stored.rounds)
        study.storage.close()


def continued(name: str, path: Path) -> list[str]:
    """Return one line per plan that a stored study gives next, as in ``traces``; its file is written to."""
    study = load_study(name, f"sqlite:///{path}")
    before = len(study.rounds)
    _play(study, STUDIES[name], before + MORE)
    study.storage.close()
    return [line(PROBLEM, each.plan) for each in study.rounds[before:]]


def _play(study: Study, stored: Stored, rounds: int) -> None:
    answer = stored.answer()
    while len(study.rounds) < rounds:
        plan = study.ask()
        if stored.limited and plan.number == FAILED:
            study.fail(plan, "rain")
        elif not (stored.limited and plan.number == OPEN):
            study.tell(plan, answer(plan))


def expected() -> dict[str, dict[str, list[str]]]:
    """Return what was recorded: the kind of machine, and the lines per study."""
    return json.loads(NEXT.read_text(encoding="utf-8"))


def main() -> None:
    """Go on with every study and write what came next."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(STORE, folder))
        plans = {name: continued(name, copy) for name in STUDIES}
    NEXT.write_text(json.dumps({"machine": machine(), "plans": plans}, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"wrote {NEXT.name}\n")


if __name__ == "__main__":
    main()
