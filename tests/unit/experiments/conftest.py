"""Records made by hand, so that a report can be checked against numbers known beforehand."""

import pytest

from mfbo.experiments import Batch, Cell, RunSettings, Suite

PROVENANCE = {
    "mfbo": "0",
    "commit": None,
    "python": "3",
    "packages": {"numpy": "2"},
    "cpu": "none",
    "cpus": 1,
    "threads": {"limit": 1, "libraries": []},
    "seconds": 1.0,
}


@pytest.fixture
def made_record():
    """Return a maker of records of swarm (optimum 18.01…, uniform −10.5…) from the values of their rounds."""

    def make(values, strategy="default", seed=0, rounds=None, *, problem="swarm", time_limit=None, seconds=2.0, **cell):
        rounds = rounds or len(values)
        made = Cell(RunSettings(problem, strategy, rounds, seed, **cell), time_limit)
        result = {
            "problem": problem,
            "strategy": strategy,
            "rounds": rounds,
            "seed": seed,
            "agents": cell.get("agents", 50),
            "actions": 30,
            "contexts": 1,
            "optimum": 18.0,
            "best_value": max(values),
            "regret": 18.0 - max(values),
            "trace": [max(values[: t + 1]) for t in range(len(values))],
            "values": list(values),
            "information_gain": [5.0 * (t + 1) for t in range(len(values))],
            "seconds": seconds,
            "ask_seconds": seconds / 2,
            "best_distribution": [[1 / 30] * 30],
            "rounds_played": len(values),
            "time_limited": len(values) < rounds,
        }
        head = {"format": 1, "key": made.key, "label": made.label, "cell": made.identity}
        return {**head, "state": "done", "result": result, "provenance": PROVENANCE}

    return make


@pytest.fixture
def tiny_suite():
    return Suite("tiny", (Batch(("swarm",), ("random",), (0, 1), (3,)),))
