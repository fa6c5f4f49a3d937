"""A store of studies as mfbo wrote it before studies could change, and how that mfbo went on with each of them.

    python tests/golden/store_of_17.py

goes on from a copy of store_of_17.db and writes store_of_17.json: by hand, when a change of a strategy is meant. The
store itself was written by ``created`` under commit be1239b and is never written again. It has what such stores can
hold: an earning study that began where the fleet stood, counted placements, leases, a failed, an abandoned and an open
plan, a past day, and all kinds of feedback.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from traces import machine

from mfbo import Population, create_study, load_study

STORE = Path(__file__).with_name("store_of_17.db")
NEXT = Path(__file__).with_name("store_of_17.json")
ROUNDS, MORE = 9, 3
STATIONS = {"name": ["Main St", "Harbor", "Old Town", "Park"], "x": [0.0, 0.4, 0.5, 1.0], "y": [0.0, 0.1, 0.9, 0.5]}
IDEAL = np.array([0.1, 0.5, 0.3, 0.1])
STUDIES = {
    "earning": {"aim": "earn", "placed": [10, 10, 10, 10]},
    "finding": {"seed": 4},
    "types": {"seed": 5},
}


def population(name):
    if name == "types":
        return Population(STATIONS, {"bike": 0.75, "cargo": 0.25}, 40)
    limits = {"capacity": [20, 22, 20, 20], "move_budget": 8} if name == "earning" else {}
    return Population(STATIONS, size=40, **limits)


def answer(study, plan):
    """Tell what a plan brought, in the way that its number asks for."""
    played = plan.realized
    value = float(-((played - IDEAL) ** 2).sum())
    if study.name == "types" and plan.number % 3 == 1:
        study.tell(plan, cells=np.where(played > 0, IDEAL - played, np.nan))
    elif study.name == "types" and plan.number % 3 == 2:
        study.tell(plan, agents=[("bike", "Harbor", value), ("cargo", "Park", 0.5 * value)])
    elif study.name == "earning" and plan.number == 4:
        study.tell(plan, value, placed=plan.allocation[:, ::-1], allow_misfit=True)
    elif plan.number == 5:
        study.fail(plan, "rain")
    else:
        study.tell(plan, value)


def play(study, rounds):
    while len(study.rounds) < rounds:
        plan = study.ask(worker="truck-7")
        if plan.number == 3 and study.name == "finding":
            study.abandon(plan)
        elif plan.number == 6 and study.name == "finding":
            study.ask(worker="truck-8")
            answer(study, plan)
        else:
            answer(study, plan)


def created(path):
    for name, options in STUDIES.items():
        study = create_study(population(name), storage=f"sqlite:///{path}", name=name, lease_seconds=None, **options)
        if name == "finding":
            study.add([[0.25, 0.25, 0.25, 0.25]], -0.1)
        play(study, ROUNDS)
        study.storage.close()


def continued(name, path):
    """Return the next allocations of a stored study; its file is written to."""
    study = load_study(name, f"sqlite:///{path}")
    before = len(study.rounds)
    play(study, before + MORE)
    study.storage.close()
    return [asked.plan.allocation.tolist() for asked in study.rounds[before:]]


def main():
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(STORE, folder))
        plans = {name: continued(name, copy) for name in STUDIES}
    NEXT.write_text(json.dumps({"machine": machine(), "plans": plans}) + "\n", encoding="utf-8")
    sys.stdout.write(f"wrote {NEXT.name}\n")


if __name__ == "__main__":
    main()
