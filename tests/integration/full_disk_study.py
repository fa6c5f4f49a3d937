"""Plays a study on a disk that is full at random moments; says whether every answer was true.

Usage: full_disk_study.py FOLDER MOMENTS SEED HOW. HOW: "limit" (no file may grow beyond a random size) or "fill"
(FOLDER is a small file system of its own, filled up to a random rest). Each moment is a fork that does one thing and
answers, or raises one of our errors. Prints one JSON object.
"""

import gc
import json
import os
import random
import resource
import shutil
import sys
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

from mfbo import Population, create_study, load_study
from mfbo.errors import MfboError
from mfbo.sheets import export_study
from mfbo.storage import open_storage
from mfbo.storage.repair import repair

NAME = "saturdays"
STATIONS = [f"station {number}" for number in range(35)]


def ask(address, _):
    return load_study(NAME, address).ask(worker="truck-7").number


def tell(address, _):
    study = load_study(NAME, address)
    return study.tell(study.history.open[0].plan, 0.5).number


def import_days(address, dice):
    days = np.random.default_rng(dice.randrange(10**6)).dirichlet(np.ones(35), size=dice.randrange(1, 40))
    return len(load_study(NAME, address).add_missing([(day, 0.25) for day in days]))


def export_all(address, _):
    export_study(load_study(NAME, address), Path(address.removeprefix("sqlite:///")).with_name("all.json"))


def mend(address, _):
    return str(repair(address.removeprefix("sqlite:///")).backup)


def answer_of(action, address, limit, dice):
    """Return (answer, error) of an action in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            try:
                said = {"answer": action(address, dice)}
            except MfboError as error:
                said = {"error": str(error)}
            except BaseException:
                said = {"traceback": traceback.format_exc()}
            os.write(write, json.dumps(said)[:60000].encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = json.loads(pipe.read())
    os.waitpid(child, 0)
    return said


def content(file):
    storage = open_storage(f"sqlite:///{file}", create=False)
    found = storage.events(NAME), [each.problem for each in storage.check()]
    storage.close()
    return found


def judged(name, said, before, after, folder):
    """Return what is wrong with an answer, given the log before and after it."""
    if "traceback" in said:
        return said["traceback"]
    grown = [(each.kind, each.number) for each in after[len(before) :]]
    if after[: len(before)] != before:
        return "earlier records changed"
    if "error" in said:
        return f"refused, but stored {grown[:3]}" if grown else None
    if name == "tell":
        return None if grown == [("told", said["answer"])] else f"told, but {grown}"
    if name == "ask":
        open_before = {e.number for e in before if e.kind == "asked"} - {e.number for e in before if e.kind == "told"}
        wanted = [] if open_before else [("asked", said["answer"])]
        return None if grown == wanted else f"asked, but {grown}"
    if name == "import_days":
        return None if [kind for kind, _ in grown] == ["added"] * said["answer"] else f"imported, but {grown[:3]}"
    if name == "export_all":
        exported = json.loads((folder / "all.json").read_text())
        return None if len(exported["rounds"]) == len({e.number for e in before}) else "exported less"
    return None if content(said["answer"])[0] == before and not grown else "repair changed records"


def filler(folder, dice):
    """Leave a random rest of a small file system free."""
    free = shutil.disk_usage(folder).free
    with (folder / "filler").open("wb") as file:
        file.write(bytes(max(free - int(2 ** dice.uniform(0, 20)), 0)))


def main(folder, moments, seed, how):
    dice = random.Random(seed)
    file = folder / "studies.db"
    study = create_study(Population(STATIONS, size=300), "random", storage=f"sqlite:///{file}", name=NAME, seed=seed)
    study.storage.close()
    del study
    counts, wrong = Counter(), []
    for moment in range(moments):
        gc.collect()
        before, _ = content(file)
        can_tell = sum(e.kind == "asked" for e in before) > sum(e.kind == "told" for e in before)
        name, action = dice.choice(
            [("tell", tell) if can_tell else ("ask", ask)] * 4
            + [("ask", ask), ("import_days", import_days), ("export_all", export_all), ("mend", mend)]
        )
        limit = None
        if how == "fill":
            filler(folder, dice)
        elif moment % 5:
            limit = int(2 ** dice.uniform(8, 1 + np.log2(file.stat().st_size + 70_000)))
        exported = (folder / "all.json").read_bytes() if (folder / "all.json").exists() else None
        said = answer_of(action, f"sqlite:///{file}", limit, dice)
        (folder / "filler").unlink(missing_ok=True)
        after, findings = content(file)
        fault = judged(name, said, before, after, folder)
        if name == "export_all" and "error" in said and exported is not None:
            fault = fault or (None if (folder / "all.json").read_bytes() == exported else "the old export is gone")
        left = sorted(e.name for e in folder.iterdir() if e.name.startswith((".mfbo", ".all", "all.json.")))
        if fault or findings or left:
            wrong.append([moment, name, limit, fault, findings, left])
        counts[f"{name} {'refused' if 'error' in said else 'answered'}"] += 1
        for backup in folder.glob("*.backup-*"):
            if "error" in said:
                wrong.append([moment, name, "a backup of a repair that did not happen"])
            backup.unlink()
    print(json.dumps({"wrong": wrong, "counts": counts, "events": len(after)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
