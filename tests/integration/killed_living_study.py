"""Changes, corrects, asks and tells in a process that is killed (SIGKILL) at random moments; says what is left.

Usage: killed_living_study.py FOLDER KILLS SEED. Prints one JSON object. What is done next is told by the number of
events in the log alone, one event each, so that a life that was killed can be compared with one that was not, event by
event. After each command the child writes a line to a log and waits for the disk: that is the acknowledgement.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from mfbo import create_study
from mfbo.errors import MfboError
from mfbo.population import Population
from mfbo.storage import open_storage

NAME = "bikes"
PLACES = {"name": ["Main St", "Harbor", "Old Town", "Mill"], "x": [0.0, 0.3, 0.6, 1.0]}
TODAY = {"size": 27, "closed": ["Harbor"]}
CYCLE = ("ask", "tell", "today", "tell", "size", "ask", "amend", "tell", "withdraw", "open", "ask", "tell", "reinstate")


def created(storage):
    population = Population(PLACES, size=30, capacity={"Main St": 20})
    return create_study(population, seed=5, storage=storage, name=NAME, lease_seconds=None, load_if_exists=True)


def command(study, number):
    """Do what comes after so many events; it adds one."""
    cycle, place = divmod(number, len(CYCLE))
    what, told = CYCLE[place], study.history.told
    if what in ("ask", "today"):
        return study.ask("truck-7", **(TODAY if what == "today" else {}))
    if what == "tell":
        plan = study.history.open[0].plan
        return study.tell(plan, float(-((plan.realized[0, :3] - [0.2, 0.5, 0.3]) ** 2).sum()))
    if what == "size":
        return study.change(size=30 + cycle % 4, capacity={"Mill": 15}, by="ann")
    if what == "open":
        name = f"Park {cycle}"
        return study.change(open={name: 0.01 * cycle}, close=[f"Park {cycle - 1}"] if cycle else None)
    if what == "amend":
        return study.amend(told[-1].number, -0.001 * cycle, reason="recount")
    if what == "withdraw":
        return study.withdraw(told[0].number)
    return study.reinstate(next(one.number for one in study.rounds if one.state == "withdrawn"))


def live(address, acknowledged):
    study = created(address)
    with acknowledged.open("a") as log:
        while True:
            number = len(study.storage.events(NAME))
            command(study, number)
            log.write(json.dumps({"events": number + 1}) + "\n")
            log.flush()
            os.fsync(log.fileno())


def started(address, acknowledged):
    child = os.fork()
    if child == 0:
        try:
            live(address, acknowledged)
        except BaseException as error:  # the parent must see what a child could not do
            print(f"child: {error!r}", file=sys.stderr, flush=True)
        finally:
            os._exit(1)
    return child


def compared(address, acknowledged):
    """Return what differs from an unbroken life of as many events; empty lists mean nothing."""
    storage = open_storage(address, create=False)
    log = [(event.number, event.kind, event.body) for event in storage.events(NAME)]
    unbroken = created("memory")
    for number in range(len(log)):
        command(unbroken, number)
    whole = [(event.number, event.kind, event.body) for event in unbroken.storage.events(NAME)]
    lines = acknowledged.read_text().split("\n")[:-1]
    return {
        "events": len(log),
        "acknowledged": len(lines),
        "lost": [line for line in map(json.loads, lines) if line["events"] > len(log)],
        "different": [number for number, pair in enumerate(zip(log, whole, strict=True)) if pair[0] != pair[1]],
        "doctor": [finding.problem for finding in storage.check()],
    }


def main(folder, kills, seed):
    warm = created("memory")  # no child spends its short life on imports
    start = time.monotonic()
    for number in range(len(CYCLE)):
        command(warm, number)
    longest = max(0.4, 8 * (time.monotonic() - start) / len(CYCLE))
    address, acknowledged = f"sqlite:///{folder / 'studies.db'}", folder / "acknowledged.log"
    moments, ended = random.Random(seed), 0
    for _ in range(kills):
        child = started(address, acknowledged)
        time.sleep(moments.uniform(0.01, longest))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        ended += not os.WIFSIGNALED(status)
    try:
        result = compared(address, acknowledged)
    except MfboError as error:
        result = {"error": str(error)}
    print(json.dumps({**result, "kills": kills, "ended by themselves": ended}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
