"""Plays one study from several processes on a server that someone else kills; says whether every answer was true.

Usage: killed_server_study.py ADDRESS PROCESSES ROUNDS FOLDER; it plays at least so many rounds. A refused ask or tell
is tried again: it was not stored, so the second try must not find it there. Prints one JSON object.
"""

import json
import os
import sys
import time
import traceback
from pathlib import Path

from mfbo import Population, create_study, load_study
from mfbo.errors import RoundStateError, StorageError
from mfbo.storage import open_storage

NAME = "fleet"
PAUSE = 0.1
ENOUGH = "enough"  # a file beside the logs: whoever kills the server has done so often enough


def until_answered(call, errors):
    while True:
        try:
            return call()
        except StorageError as error:
            errors.append(str(error))
            time.sleep(PAUSE)


def play(address, worker, rounds, log):
    errors, acknowledged, false = [], [], []
    study = until_answered(lambda: load_study(NAME, address), errors)
    number = 0
    while number < rounds or not log.with_name(ENOUGH).exists():
        plan = until_answered(lambda: study.ask(worker=worker), errors)
        payoff = number / 7
        try:
            until_answered(lambda plan=plan, payoff=payoff: study.tell(plan, payoff, worker=worker), errors)
            acknowledged.append([plan.number, payoff])
        except RoundStateError as error:
            false.append(f"{error} after {errors[-1:]}")
        number += 1
        time.sleep(PAUSE)
    log.write_text(json.dumps({"errors": errors, "acknowledged": acknowledged, "false": false}))


def main(address, processes, rounds, folder):
    create_study(Population(["a", "b", "c"], size=9), "random", storage=address, name=NAME).storage.close()
    print("started", file=sys.stderr, flush=True)
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                play(address, f"truck-{number}", rounds, folder / f"{number}.json")
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    logs = [json.loads((folder / f"{number}.json").read_text()) for number in range(processes)]
    errors = []
    study = until_answered(lambda: load_study(NAME, address), errors)
    told = [[each.number, each.payoff] for each in study.rounds if each.state == "done"]
    acknowledged = [line for log in logs for line in log["acknowledged"]]
    events = until_answered(lambda: [(each.number, each.kind) for each in open_storage(address).events(NAME)], errors)
    findings = until_answered(lambda: open_storage(address).check(), errors)  # the server may have just been killed
    result = {
        "codes": codes,
        "rounds": len(study.rounds),
        "told": len(told),
        "acknowledged": len(acknowledged),
        "lost": [line for line in acknowledged if line not in told],
        "false": [line for log in logs for line in log["false"]],
        "doubled": len(events) - len(set(events)),
        "errors": [line for log in logs for line in log["errors"]],
        "doctor": [finding.problem for finding in findings],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
