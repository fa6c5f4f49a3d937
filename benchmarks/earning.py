"""What strategies earn while they learn: cities with weather, recorded trips, and the paper's problems.

    python benchmarks/earning.py city --kind harbor --noise 0.15 --feedback payoff --seeds 0-4
    python benchmarks/earning.py replay --trips JC-202011-citibike-tripdata.csv.gz --seeds 0-2
    python benchmarks/earning.py problem --problem maritime --rounds 250 --seeds 0
    python benchmarks/earning.py city --noise 0.05 --strategies default+earn,default --figure month

One line for each seed and strategy: means of thirds of the rounds, the worst round, how many rounds lay below the
status quo, and the recommended plan, all in what the status quo earns (city; replay, where it is the rule's plan), or
the sum of regrets in gaps from uniform to the optimum (problem). ``default+earn`` is the default strategy with
``aim="earn"``.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from earning_figure import Month, draw
from earning_worlds import city, replay

from mfbo import Population, create_study
from mfbo.catalogue import make_problem
from mfbo.simplex import uniform

RISK = 0.05  # the default of an earning study
STRATEGIES = ("default+earn", "default", "mf-gp-ucb")


def study_for(population: Population, strategy: str, seed: int, **options: Any) -> Any:
    """Return a study of a strategy, "+earn" after its name for the aim."""
    name, _, aim = strategy.partition("+")
    return create_study(population, name, seed=seed, aim="earn" if aim == "earn" else "find", **options)


def report(label: str, values: Any, recommended: float, began: float) -> None:
    """Print one line; values in units of the status quo's 1."""
    thirds = " ".join(f"{part.mean():.3f}" for part in np.array_split(np.array(values), 3))
    below = int(np.sum(np.array(values) < 1.0 - 1e-9))
    tail = (
        f"worst {min(values):.3f}  below {below:3d}  recommended {recommended:.3f}  {time.process_time() - began:.0f} s"
    )
    print(f"{label:40s} {thirds}  {tail}", flush=True)


def city_run(chosen: argparse.Namespace, strategy: str, seed: int) -> Month:
    """Play a month and return it: every day's rides are all moved by one weather; cells are counted rides per bike."""
    kind, noise, feedback = chosen.kind, chosen.noise, chosen.feedback
    began, town = time.process_time(), city(kind, seed)
    study = study_for(town.population, strategy, seed, **({"start": town.standing[None]} if chosen.named else {}))
    rng = np.random.default_rng([seed, 17])
    base, month = float(town.rides(town.standing).sum()), Month()
    for day in range(chosen.rounds):
        plan = study.ask()
        bikes = plan.allocation[0]
        rides = town.rides(bikes)
        month.played(float(rides.sum()) / base, study.rounds[plan.number].notes)
        seen = rides * max(1.0 + noise * rng.standard_normal(), 0.0)
        if feedback == "payoff":
            study.tell(plan, float(seen.sum()) * (10.0 if day == chosen.wrong_day else 1.0))
        else:
            means = np.where(bikes > 0, rng.poisson(seen) / np.maximum(bikes, 1), np.nan)
            study.tell(plan, cells=means[None], counts=bikes[None].astype(float))
    found = float(town.rides(study.recommend().allocation[0]).sum()) / base
    label = f"{kind} {noise:g} {feedback} {strategy} {seed} (best {town.optimum / base:.2f})"
    report(label, month.values, found, began)
    return month


def replay_run(trips: Path, strategy: str, seed: int, rounds: int, bikes: int, exact: bool) -> None:
    """Play one recorded day a round, drawn anew, or the mean over all days."""
    began, world = time.process_time(), replay(trips)
    named = {name: tuple(place) for name, place in zip(world.stations, world.places, strict=True)}
    rule = world.rule(bikes)
    study = study_for(Population(named, size=bikes), strategy, seed, placed=rule[None], start=rule[None])
    rng = np.random.default_rng([seed, 18])
    base, values = world.mean(rule), []
    for _ in range(rounds):
        plan = study.ask()
        values.append(world.mean(plan.allocation[0]) / base)
        day = int(rng.integers(len(world.days)))
        study.tell(plan, values[-1] * base if exact else world.served(plan.allocation[0], day))
    found = world.mean(study.recommend().allocation[0]) / base
    report(f"replay {'mean' if exact else 'day'} {strategy} {seed} (rule {base:.3f})", values, found, began)


def problem_run(name: str, strategy: str, seed: int, rounds: int, noise: float) -> None:
    """Play a problem with the uniform plan as status quo; values are gaps closed."""
    began, problem = time.process_time(), make_problem(name)
    start = uniform(*problem.population.shape)
    study = study_for(problem.population, strategy, seed, start=start)
    rng = np.random.default_rng([seed, 19])
    first = problem.value(create_study(problem.population).ask())
    values = []
    best = problem.known_optimum.value
    for _ in range(rounds):
        plan = study.ask()
        value = problem.value(plan)
        values.append((value - first) / (best - first))
        study.tell(plan, value + noise * rng.standard_normal())
    regret = float(np.sum(1.0 - np.array(values)))
    found = (problem.value(study.recommend()) - first) / (best - first)
    reached = [
        next((t + 1 for t, v in enumerate(np.maximum.accumulate(values)) if v >= share), 0) for share in (0.9, 0.99)
    ]
    print(
        f"{name} {noise:g} {strategy} {seed}: regret {regret:.1f} gaps in {rounds} rounds, worst {min(values):.2f},"
        f" 90 % / 99 % at {reached[0]} / {reached[1]}, recommended {found:.3f}, {time.process_time() - began:.0f} s",
        flush=True,
    )


def seeds_of(text: str) -> list[int]:
    """Read 3 or 0-4."""
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def main() -> None:
    """Read the command line and play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", choices=("city", "replay", "problem"))
    parser.add_argument("--kind", default="harbor", choices=("harbor", "hills"))
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--feedback", default="payoff", choices=("payoff", "cells"))
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--seeds", type=seeds_of, default=[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--wrong-day", type=int)
    parser.add_argument("--named", action="store_true", help="name where the city's bikes stand as the start")
    parser.add_argument("--figure", type=Path, help="draw the months of the last seed, path.png and path.svg")
    parser.add_argument("--trips", type=Path)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--problem", default="maritime")
    chosen = parser.parse_args()
    months: dict[str, Month] = {}
    for strategy in chosen.strategies.split(","):
        for seed in chosen.seeds:
            if chosen.world == "city":
                months[strategy] = city_run(chosen, strategy, seed)
            elif chosen.world == "replay":
                replay_run(chosen.trips, strategy, seed, chosen.rounds, 100, chosen.exact)
            else:
                problem_run(chosen.problem, strategy, seed, chosen.rounds, chosen.noise)
    if chosen.figure is not None:
        draw(chosen.figure, f"{chosen.kind}, {chosen.noise:.0%} noise, seed {chosen.seeds[-1]}", months, RISK)


if __name__ == "__main__":
    main()
