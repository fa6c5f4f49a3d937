"""Make the embedded problem jersey-city again: counts of a raw month, and the best placement a long search finds.

    python benchmarks/jersey_city.py JC-202011-citibike-tripdata.csv.gz --minutes 10

The raw file is Citi Bike's (https://citibikenyc.com/system-data); only sums over the month are written. The search
starts from the rules and from what stands in the file, moves single bikes while that helps, and shakes when stuck. What
it finds is a lower bound of the optimum and nothing more.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

import mfbo
from mfbo.arrays import IntArray
from mfbo.problems import RULES, ReplayPayoff, forecast_plan
from mfbo.problems.jersey_city import AGENTS, SEED
from mfbo.problems.tables import read_trips
from mfbo.problems.trip_counts import TripCounts, counted_trips, drawn_trips

TARGET = Path(mfbo.__file__).parent / "problems" / "data" / "jersey-city.json"


def climbed(payoff: ReplayPayoff, plan: IntArray, until: float, rng: np.random.Generator) -> tuple[float, IntArray]:
    """Move one bike at a time while that helps: the moves that promise most first, then all others in random order."""
    value = float(payoff.daily(plan).mean())
    size = len(plan)
    while time.monotonic() < until:
        one = np.eye(size, dtype=np.int64)
        gains = np.array([payoff.daily(plan + one[to]).mean() - value for to in range(size)])
        losses = np.array([payoff.daily(plan - one[off]).mean() - value if plan[off] else -1.0 for off in range(size)])
        promise = losses[:, None] + gains + 1e-9 * rng.random((size, size))
        np.fill_diagonal(promise, -2.0)
        for move in np.argsort(-promise, axis=None)[: size * size // 4]:
            off, to = divmod(int(move), size)
            if plan[off] and (better := float(payoff.daily(plan - one[off] + one[to]).mean())) > value + 1e-12:
                value, plan = better, plan - one[off] + one[to]
                break
            if time.monotonic() > until:
                return value, plan
        else:
            return value, plan
    return value, plan


def shaken(plan: IntArray, moves: int, rng: np.random.Generator) -> IntArray:
    """Move some bikes at random."""
    plan = plan.copy()
    for _ in range(moves):
        off = rng.choice(np.flatnonzero(plan))
        plan[off] -= 1
        plan[rng.integers(len(plan))] += 1
    return plan


def main() -> None:
    """Read, count, search, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("raw", type=Path, nargs="?", help="the raw month; without it only the search goes on")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    record = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    if options.raw is not None:
        trips = read_trips(options.raw)
        record |= {"period": trips.details["period"], "counts": counted_trips(trips).to_record()}
    payoff = ReplayPayoff(drawn_trips(TripCounts.from_record(record["counts"]), SEED), AGENTS)
    starts = [forecast_plan(payoff.trips, AGENTS, rule) for rule in RULES]
    if "best" in record:
        starts.append(np.array(record["best"]["bikes"]))
    best = max(starts, key=lambda plan: float(payoff.daily(plan).mean()))
    value = float(payoff.daily(best).mean())
    rng, until = np.random.default_rng(options.seed), time.monotonic() + 60 * options.minutes
    start = best
    while time.monotonic() < until:
        found, plan = climbed(payoff, start, until, rng)
        print(f"{found:.6f} (best {max(value, found):.6f})", flush=True)
        if found > value:
            value, best = found, plan
            record["best"] = {"value": value, "bikes": best.tolist()}
            TARGET.write_text(json.dumps(record, indent=1) + "\n")
        start = shaken(best, int(rng.integers(2, 8)), rng)


if __name__ == "__main__":
    main()
