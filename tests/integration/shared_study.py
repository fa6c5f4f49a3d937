"""Plays one study from several processes at once.

Usage: shared_study.py ADDRESS PROCESSES ROUNDS STRATEGY. Prints JSON.
"""

import json
import os
import sys
import traceback

from mfbo import create_study, load_study
from mfbo.problems import arena
from mfbo.storage import open_storage

NAME = "fleet"
PROBLEM = arena(5, 30)


def play(address, worker, rounds):
    study = load_study(NAME, address)
    for _ in range(rounds):
        plan = study.ask(worker=worker)
        study.tell(plan, PROBLEM.value(plan), worker=worker)


def main(address, processes, rounds, strategy):
    study = create_study(PROBLEM.population, strategy, seed=1, storage=address, name=NAME)
    study.storage.close()
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                play(address, f"truck-{number}", rounds)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    study = load_study(NAME, address)
    events = open_storage(address).events(NAME)
    result = {
        "codes": codes,
        "numbers": [each.number for each in study.rounds],
        "told": sorted(each.told for each in study.history.told),
        "workers": {
            name: sum(r.lease.worker == name for r in study.rounds) for name in map("truck-{}".format, range(processes))
        },
        "events": len(events),
        "wrong": sum(each.payoff != PROBLEM.value(each.plan) for each in study.rounds),
        "doctor": [finding.problem for finding in open_storage(address).check()],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
