"""Repairs a store again and again while two processes write to it; says whether an acknowledged tell is missing.

Usage: repaired_study.py FOLDER REPAIRS SEED. One writer opens the store for each round, as commands do; the other keeps
it open for ten rounds. Every third repair is killed at a random moment. Prints one JSON object.
"""

import json
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

from mfbo import Population, create_study, load_study
from mfbo.errors import ConflictError, MfboError, StorageError
from mfbo.storage import open_storage
from mfbo.storage.repair import repair

NAME = "saturdays"


def write(address, log, worker, rounds_open):
    """Ask and tell until killed; write down every tell that was answered, and every error."""
    with log.open("a") as acknowledged:
        while True:
            try:
                study = load_study(NAME, address)
                for _ in range(rounds_open):
                    plan = study.ask(worker=worker)
                    payoff = random.random()
                    study.tell(plan, payoff, worker=worker)
                    acknowledged.write(json.dumps([plan.number, payoff]) + "\n")
                    acknowledged.flush()
                study.storage.close()
            except ConflictError:
                continue
            except StorageError as error:  # replaced or being repaired: load it again
                acknowledged.write(json.dumps(str(error)) + "\n")
                acknowledged.flush()
            time.sleep(0.05)


def started(action, *arguments):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = action(*arguments)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code or 0)
    return child


def mended(file):
    """Repair; 0 if it was done, 7 if it was refused."""
    try:
        repair(file)
        return 0
    except MfboError as error:
        print(f"refused: {error}", file=sys.stderr)
        return 7


def told(file):
    storage = open_storage(f"sqlite:///{file}", create=False)
    found = {
        (event.number, json.loads(event.body)["feedback"]["payoff"])
        for event in storage.events(NAME)
        if event.kind == "told"
    }
    storage.close()
    return found


def main(folder, repairs, seed):
    file = folder / "studies.db"
    address = f"sqlite:///{file}"
    create_study(Population(["a", "b", "c"], size=9), "random", storage=address, name=NAME).storage.close()
    logs = [folder / "commands.log", folder / "open.log"]
    writers = [
        started(write, address, log, f"truck-{n}", rounds)
        for n, (log, rounds) in enumerate(zip(logs, (1, 10), strict=True))
    ]
    dice = random.Random(seed)
    codes = []
    for number in range(repairs):
        time.sleep(dice.uniform(0.0, 0.3))
        mending = started(mended, file)
        if number % 3 == 2:
            time.sleep(dice.uniform(0.0, 0.3))
            os.kill(mending, signal.SIGKILL)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(mending, 0)[1]))
    for writer in writers:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    lines = [json.loads(line) for log in logs for line in log.read_text().splitlines(keepends=True) if line[-1] == "\n"]
    acknowledged = {tuple(line) for line in lines if isinstance(line, list)}
    kept = told(file)
    backups = [each for each in folder.glob("*.backup-*") if not each.name.endswith(("-wal", "-shm"))]
    everywhere = kept.union(*map(told, backups))
    result = {
        "repaired": codes.count(0),
        "refused": codes.count(7),
        "killed": codes.count(-signal.SIGKILL),
        "acknowledged": len(acknowledged),
        "errors": [line for line in lines if isinstance(line, str)],
        "missing": sorted(acknowledged - everywhere),
        "missing from the store": sorted(acknowledged - kept),
        "backups": len(backups),
        "doctor": [finding.problem for finding in open_storage(address).check()],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
