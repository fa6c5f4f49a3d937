"""Eight lives in one: processes that ask, tell, change and correct one study at once, and what each of them believes.

Usage: shared_living_study.py ADDRESS PROCESSES PHASES. Prints one JSON object. In every phase all processes work at
once, each does its own kind of thing beside asking and telling; then all stop, read what the others did, and say what
they would propose next, from the history that grew in them. A fresh process that loads the log must say the same.
"""

import hashlib
import json
import multiprocessing
import sys
import traceback

from mfbo import create_study, load_study
from mfbo.errors import MfboError
from mfbo.population import Population
from mfbo.seeding import derived_generator
from mfbo.storage import open_storage

NAME = "bikes"
PLACES = {"name": ["Main St", "Harbor", "Old Town", "Mill"], "x": [0.0, 0.3, 0.6, 1.0]}
ROUNDS = 2  # that each process plays in a phase


def belief(study):
    """Return all that a study knows and would do next, in one word."""
    study.refresh()
    history = study.history
    proposal = study.strategy.propose(history, derived_generator(study.seed, "propose", len(history.rounds)))
    words = [proposal.distribution.tobytes(), repr(study.population.actions), repr(study.population.closed)]
    words += [repr((study.population.size, study.population.contexts, history.corrections))]
    for done in history.rounds:
        words += [done.played.tobytes(), repr((done.state, done.told, done.payoff, done.correction, done.size))]
    return hashlib.sha256("".join(map(repr, words)).encode()).hexdigest()


def unsettle(study, worker, phase):
    """Change or correct something, each worker in its own way."""
    mine = [done.number for done in study.history.told if done.lease.worker == f"truck-{worker}"]
    if worker % 4 == 0:
        study.change(size=30 + (worker + phase) % 5, by=f"truck-{worker}")
    elif worker % 4 == 1:
        study.change(open={f"Park {worker}-{phase}": 0.1 * phase + 0.01 * worker}, by=f"truck-{worker}")
    elif worker % 4 == 2:
        study.amend(mine[-1], -0.01 * phase, by=f"truck-{worker}")
    else:
        study.withdraw(mine[0], by=f"truck-{worker}")
        study.reinstate(mine[0], by=f"truck-{worker}")


def work(study, worker, phase):
    """Return how many events were acknowledged."""
    for _ in range(ROUNDS):
        while True:
            plan = study.ask(worker=f"truck-{worker}", closed=["Harbor"] if worker == 3 else None)
            asked = study.rounds[plan.number]
            assert plan.allocation.sum() == (asked.size or study.population.size) or asked.state != "open"
            assert worker != 3 or plan.allocation[0, 1] == 0
            try:
                study.tell(plan, float(-((plan.realized[0, :3] - [0.2, 0.5, 0.3]) ** 2).sum()))
                break
            except MfboError as error:
                if "abandoned" not in str(error):
                    raise
    unsettle(study, worker, phase)
    return 2 * ROUNDS + 1 + (worker % 4 == 3)


def live(address, worker, phases, barrier, answers):
    try:
        study, acknowledged, beliefs = load_study(NAME, address), 0, []
        for phase in range(phases):
            barrier.wait()
            acknowledged += work(study, worker, phase)
            barrier.wait()
            beliefs.append(belief(study))
        answers.put((worker, acknowledged, beliefs))
    except BaseException:
        barrier.abort()
        answers.put((worker, -1, [traceback.format_exc()]))


def main(address, processes, phases):
    population = Population(PLACES, size=30, capacity={"Main St": 20})
    study = create_study(population, seed=5, storage=address, name=NAME, lease_seconds=None)
    study.storage.close()
    fork = multiprocessing.get_context("fork")
    barrier, answers = fork.Barrier(processes, timeout=600), fork.Queue()
    children = []
    for worker in range(processes):
        children.append(fork.Process(target=live, args=(address, worker, phases, barrier, answers)))
        children[-1].start()
    found = sorted(answers.get(timeout=900) for _ in children)
    for child in children:
        child.join()
    storage = open_storage(address, create=False)
    kinds = [event.kind for event in storage.events(NAME)]
    result = {
        "acknowledged": [acknowledged for _, acknowledged, _ in found],
        "events": len(kinds),
        "kinds": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "beliefs": [
            sorted({beliefs[phase] for *_, beliefs in found if phase < len(beliefs)}) for phase in range(phases)
        ],
        "loaded": belief(load_study(NAME, address)),
        "doctor": [finding.problem for finding in storage.check()],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
