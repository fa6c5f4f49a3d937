"""The first proposals of the strategies, as they are now; run by hand when a change of them is meant.

    python tests/golden/record.py

computes them anew, says how far each has moved, and writes first_proposals.json. Say in the commit why they moved.
Five rounds without noise in the mean-field limit: whole agents would make a jump of every last bit at a rounding.
"""

import json
import sys
from pathlib import Path

import numpy as np

from mfbo.catalogue import make_problem
from mfbo.study import create_study

STORE = Path(__file__).with_name("first_proposals.json")
CASES = [(strategy, problem) for strategy in ("default", "mf-gp-ucb") for problem in ("swarm", "arena")]
ROUNDS = 5
SEED = 0
DIGITS = 6


def first_proposals(strategy: str, problem_name: str) -> np.ndarray:
    """Return the distributions of the first rounds, (rounds, C, A), told the exact population payoff of each."""
    problem = make_problem(problem_name).with_size(None)
    study = create_study(problem.population, strategy, seed=SEED)
    for _ in range(ROUNDS):
        plan = study.ask()
        study.tell(plan, problem.value(plan))
    return np.stack([each.plan.distribution for each in study.rounds])


def stored() -> dict[str, list]:
    """Return what was recorded: "strategy on problem" → distributions."""
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}


def key_of(strategy: str, problem_name: str) -> str:
    return f"{strategy} on {problem_name}"


def main() -> None:
    before, found = stored(), {}
    for strategy, problem_name in CASES:
        key = key_of(strategy, problem_name)
        proposals = np.round(first_proposals(strategy, problem_name), DIGITS)
        found[key] = proposals.tolist()
        known = np.shape(before.get(key, ())) == proposals.shape
        moved = f"moved by {np.abs(proposals - before[key]).max():.1e} at most" if known else "is new"
        sys.stdout.write(f"{key}: {moved}\n")
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(values)}" for key, values in found.items())
    STORE.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
