"""Plays a study in a process that is killed (SIGKILL) at random moments and started again each time; says what is left.

Usage: killed_study.py FOLDER KILLS SEED. Prints one JSON object. Every start is a fork of this process, which has
loaded the libraries but no study, so that the time between two kills goes into ask and tell. After each ask and tell
has returned, the child writes a line to a log and waits for the disk: that is the acknowledgement.
"""

import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from mfbo import create_study, load_study
from mfbo.errors import MfboError
from mfbo.problems import arena
from mfbo.storage import open_storage

NAME = "saturdays"
PROBLEM = arena(6, 30)


def acknowledge(log, **line):
    log.write(json.dumps(line) + "\n")
    log.flush()
    os.fsync(log.fileno())


def play(address, acknowledged):
    """Ask and tell until killed; the very first start may have to create the study."""
    try:
        study = load_study(NAME, address)
    except MfboError:
        study = create_study(PROBLEM.population, seed=5, storage=address, name=NAME)
    with acknowledged.open("a") as log:
        while True:
            plan = study.ask(worker="truck-7")
            acknowledge(log, asked=plan.number, allocation=plan.allocation.tolist())
            payoff = PROBLEM.value(plan)
            study.tell(plan, payoff, worker="truck-7")
            acknowledge(log, told=plan.number, payoff=payoff)


def started(address, acknowledged):
    child = os.fork()
    if child == 0:
        try:
            play(address, acknowledged)
        except BaseException as error:  # the parent must see what a child could not do
            print(f"child: {error!r}", file=sys.stderr, flush=True)
        finally:
            os._exit(1)
    return child


def compare(address, acknowledged):
    """Return what differs between the store, the acknowledgements and an unbroken study; empty lists mean nothing."""
    stored = load_study(NAME, address)
    unbroken = create_study(PROBLEM.population, seed=5)
    lost, different = [], []
    for each in stored.rounds:
        plan = unbroken.ask()
        same = np.array_equal(plan.distribution, each.plan.distribution)
        if not same or not np.array_equal(plan.allocation, each.plan.allocation):
            different.append(each.number)
        if each.state == "done":
            unbroken.tell(plan, PROBLEM.value(plan))
    lines = acknowledged.read_text().split("\n")[:-1]  # a line cut short by a kill was not acknowledged
    for line in map(json.loads, lines):
        number = line.get("told", line.get("asked"))
        each = stored.rounds[number] if number < len(stored.rounds) else None
        told = each is not None and each.state == "done" and each.payoff == line.get("payoff")
        if each is None or ("told" in line and not told):
            lost.append(number)
        elif "asked" in line and each.plan.allocation.tolist() != line["allocation"]:
            different.append(number)
    events = [(event.number, event.kind) for event in open_storage(address).events(NAME)]
    return {
        "rounds": len(stored.rounds),
        "told": len(stored.history.told),
        "acknowledged": len(lines),
        "lost": lost,
        "different": different,
        "doubled": len(events) - len(set(events)),
        "doctor": [finding.problem for finding in open_storage(address).check()],
    }


def load_libraries():
    """Play a few rounds elsewhere, so that no child spends its short life on imports; return how long a round takes."""
    with tempfile.TemporaryDirectory() as folder:
        study = create_study(PROBLEM.population, storage=f"sqlite:///{folder}/other.db", name=NAME)
        study.run(PROBLEM.value, 5, workers=1)
        start = time.monotonic()
        study = load_study(NAME, study.storage)
        study.tell(study.ask(), 0.5)
        study.storage.close()
        return time.monotonic() - start


def main(folder, kills, seed):
    longest = max(0.4, 5 * load_libraries())
    address = f"sqlite:///{folder / 'studies.db'}"
    acknowledged = folder / "acknowledged.log"
    moments = random.Random(seed)
    ended = 0
    for _ in range(kills):
        child = started(address, acknowledged)
        time.sleep(moments.uniform(0.01, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        ended += not os.WIFSIGNALED(status)
    result = compare(address, acknowledged)
    print(json.dumps({**result, "kills": kills, "ended by themselves": ended}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
