"""What `mfbo run` plays, bit for bit, for every problem, kind of feedback, allocation and noise.

    python tests/golden/traces.py default            # plays all of it, says which runs moved and from which round on
    python tests/golden/traces.py default --write    # writes traces/default.json too: by hand, if the change is meant
    python tests/golden/traces.py default --write "system, quota, exact"    # plays and writes the runs so named alone

Of every round the file keeps ten hexadecimal digits of the SHA-256 of the planned distribution and of the whole
agents, and the true payoff as a hexadecimal float. Bits depend on the processor's BLAS kernels, so the file says on
which kind of machine it was written, and which of the runs later on another; on another kind than that of a run its
first payoffs are compared up to a tolerance.
"""

import hashlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mfbo.arrays import one_blas_thread
from mfbo.catalogue import make_problem
from mfbo.problems import FeedbackKind, Observer, Problem
from mfbo.records import Plan
from mfbo.study import create_study

FOLDER = Path(__file__).with_name("traces")
NOISE = {  # standard deviations as in docs/decisions/0006-default-strategy.md, where it names the problem
    "swarm": 0.5,
    "arena": 0.05,
    "bay-area-bike": 0.002,
    "louvelo": 0.01,
    "nyc-12x20": 0.005,
    "nyc-15x26": 0.005,
    "nyc-20x36": 0.005,
    "maritime": 0.05,
    "taxi-dispatch": 0.01,
}
FEEDBACK = ("system", "agents:3", "cells")
ALLOCATIONS = ("quota", "sampled")
NOISES = ("exact", "noisy", "known noise")
ROUNDS = 30
CELLS_ROUNDS = {"swarm": ROUNDS, "arena": 12, "bay-area-bike": 12, "louvelo": 12, "maritime": 12}  # that tests play …
GRID_CELLS_ROUNDS = 7  # … and on the others: 158 to 409 payoffs told in every round take a second a plan
ROUNDS_ELSEWHERE, TOLERANCE = 5, 1e-6  # on another kind of machine: rounds compared, and how closely (relative)
SEED = 0
DIGITS = 10


@dataclass(frozen=True)
class Run:
    """One run of the many."""

    problem: str
    feedback: str
    allocation: str
    noise: str

    @property
    def key(self) -> str:
        return ", ".join((self.problem, self.feedback, self.allocation, self.noise))


RUNS = tuple(
    Run(problem, feedback, allocation, noise)
    for problem in NOISE
    for feedback in FEEDBACK
    for allocation in ALLOCATIONS
    for noise in NOISES
)


def played(strategy: str, run: Run, rounds: int = ROUNDS) -> list[str]:
    """Return one line per round: the digits of the plan, and its true payoff."""
    return list(_rounds(strategy, run, rounds))


def affordable_rounds(run: Run) -> int:
    """Return how many rounds the tests play: all but for cells, so that 162 runs take less than three minutes."""
    return ROUNDS if run.feedback != "cells" else CELLS_ROUNDS.get(run.problem, GRID_CELLS_ROUNDS)


def _rounds(strategy: str, run: Run, rounds: int) -> Iterator[str]:
    problem = make_problem(run.problem)
    noise = 0.0 if run.noise == "exact" else NOISE[run.problem]
    observer = Observer(problem, FeedbackKind.parse(run.feedback), noise, SEED)
    study = create_study(
        problem.population,
        strategy,
        seed=SEED,
        noise=noise if run.noise == "known noise" else None,
        allocation=run.allocation,
    )
    for _ in range(rounds):
        plan = study.ask()
        study.tell(plan, observer(plan))
        yield line(problem, plan)


def line(problem: Problem, plan: Plan) -> str:
    """Return a plan on one line: digits of what is planned and of the whole agents, and the true payoff."""
    allocation = b"" if plan.allocation is None else plan.allocation.astype("<i8").tobytes()
    planned = np.ascontiguousarray(plan.distribution, dtype="<f8").tobytes()
    digits = hashlib.sha256(planned + allocation).hexdigest()[:DIGITS]
    return f"{digits} {float(problem.value(plan)).hex()}"


def moved(found: list[str], recorded: list[str], *, here: bool) -> int | None:
    """Return the first round that is not as recorded, None if all are; ``here``: on the same kind of machine."""
    for number, (one, other) in enumerate(zip(found, recorded, strict=False)):
        if one != other if here else number < ROUNDS_ELSEWHERE and not _close(one, other):
            return number
    return None


def _close(one: str, other: str) -> bool:
    first, second = (float.fromhex(each.split()[1]) for each in (one, other))
    return abs(first - second) <= TOLERANCE * max(abs(first), abs(second))


def machine() -> str:
    """Return digits of what this machine's BLAS, LAPACK and elementary functions make of fixed numbers."""
    matrix = np.random.default_rng(1).normal(size=(97, 61))
    with one_blas_thread():
        gram = matrix @ matrix.T + 97.0 * np.eye(97)
        parts = (gram, np.linalg.inv(gram), np.exp(matrix), np.log1p(np.abs(matrix)), np.sqrt(np.abs(matrix)))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:DIGITS]


def recorded(strategy: str) -> dict[str, Any]:
    """Return what was recorded: the machine, those of runs written on another one, and the lines per run."""
    path = FOLDER / f"{strategy}.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"machine": machine(), "runs": {}}
    return {"elsewhere": {}, **found}


def is_of_here(recorded: dict[str, Any], run: Run) -> bool:
    """Tell whether a run was recorded on this kind of machine."""
    return bool(recorded["elsewhere"].get(run.key, recorded["machine"]) == machine())


def main(strategy: str, named: str = "", *, write: bool) -> None:
    """Play every run whose key has these words in it, say what moved, and write it if asked to."""
    before = recorded(strategy)
    found = dict(before["runs"])
    chosen = [run for run in RUNS if named in run.key]
    for run in chosen:
        started = time.process_time()
        found[run.key] = played(strategy, run)
        seconds = time.process_time() - started
        first = moved(found[run.key], before["runs"].get(run.key, []), here=is_of_here(before, run))
        verdict = "as recorded" if first is None else f"moved from round {first} on"
        sys.stdout.write(f"{run.key}: {verdict if run.key in before['runs'] else 'is new'}, {seconds:.1f} s\n")
        sys.stdout.flush()
    if write:
        _write(strategy, before, found, {run.key for run in chosen})


def _write(strategy: str, before: dict[str, Any], found: dict[str, list[str]], anew: set[str]) -> None:
    """Write all runs; ``anew``: keys of those played here and now."""
    whole = len(anew) == len(RUNS)
    first = machine() if whole else before["machine"]
    elsewhere = {} if whole else before["elsewhere"] | dict.fromkeys(sorted(anew), machine())
    FOLDER.mkdir(exist_ok=True)
    lines = ",\n".join(f" {json.dumps(run.key)}: {json.dumps(found[run.key])}" for run in RUNS)
    text = f'{{"machine": "{first}", "elsewhere": {json.dumps(elsewhere)}, "runs": {{\n{lines}\n}}}}\n'
    (FOLDER / f"{strategy}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    words = [word for word in sys.argv[2:] if word != "--write"]
    main(sys.argv[1], *words, write="--write" in sys.argv[2:])
