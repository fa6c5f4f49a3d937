"""Days that differ: what situations are worth, on synthetic cities, on every day of a real year, and in time.

    python benchmarks/situations.py days --problem city-days --seeds 0-2
    python benchmarks/situations.py days --problem bay-area-week --rounds 365 --last 100
    python benchmarks/situations.py earn --problem city-drift --seeds 0-2
    python benchmarks/situations.py requests --seeds 0-2
    python benchmarks/situations.py cost

days: mean regret of what was played in the last rounds, against each day's own optimum, by one study with situations,
by one study for each kind of day, and by one that ignores situations; for `bay-area-week` also by the mean demand of
the first half of the year for each kind of day. earn: the same in thirds, from a status quo halfway between uniform and
the mean demand, beside what the status quo itself loses. requests: how many days it takes to a share of the gap in a
city whose payoff is mostly weather, with and without a number that is known only afterwards. cost: processor seconds
of an ask after 1,000 days on 158 actions, with three situations and without.
"""

import argparse
import time
from typing import Any

import numpy as np

from mfbo import Population, create_study
from mfbo.arrays import FloatArray
from mfbo.catalogue import make_problem
from mfbo.problems import Problem
from mfbo.records import Plan
from mfbo.simplex import jensen_shannon

NOISE = {"city-days": 0.002, "city-drift": 0.002, "bay-area-week": 0.0}
WEATHER, REST = 1.0, 0.05  # of the city of ``requests``, standard deviations in gaps from uniform to the optimum
REACHED = (0.5, 0.6, 0.7, 0.8)


def seeds_of(text: str) -> list[int]:
    """Read 3 or 0-4."""
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def day_value(problem: Problem, plan: Plan, number: int) -> float:
    """Return what a plan brings on a day, the level of the day included."""
    return problem.on_day(number).payoff.population(problem.shares(plan), problem.population.size)


def regrets(problem: Problem, seed: int, rounds: int, mode: str, **options: Any) -> FloatArray:
    """Play and return each day's regret (T,); mode: "situations", "separate" or "ignored"."""
    days = problem.days
    if days is None:
        raise SystemExit(f"the rounds of {problem.name} do not differ")
    studies: dict[Any, Any] = {}
    noise = NOISE[problem.name]
    found = []
    for number in range(rounds):
        day = days.at(number)
        kind = day.before["day"] if mode == "separate" else None
        if kind not in studies:
            known = days.situations if mode == "situations" else None
            studies[kind] = create_study(problem.population, "default", seed=seed, situations=known, **options)
        study = studies[kind]
        situation = day.before if mode == "situations" else None
        plan = study.ask(situation=situation)
        value = day_value(problem, plan, number)
        found.append(day.optimum.value - value)
        told = value + noise * np.random.default_rng([seed, number]).standard_normal()
        study.tell(plan, told, situation=day.after or None if mode == "situations" else None)
    return np.array(found)


def forecast(problem: Problem, rounds: int) -> FloatArray:
    """Return each day's regret (T,) of the mean demand of the first half of the days of its kind."""
    days = [problem.on_day(number) for number in range(rounds)]
    kinds = [str((problem.situation(number) or {})["day"]) for number in range(rounds)]
    demands = np.stack([day.known_optimum.distribution[0] for day in days])
    first = np.arange(rounds) < rounds // 2
    means = {kind: demands[first & (np.array(kinds) == kind)].mean(axis=0) for kind in set(kinds)}
    return np.array([float(jensen_shannon(means[kinds[t]], demands[t])) for t in range(rounds)])


def play_days(chosen: argparse.Namespace) -> None:
    """Print the mean regret of the last rounds."""
    problem = make_problem(chosen.problem)
    if chosen.problem == "bay-area-week":
        print(f"forecast of the first half: {forecast(problem, chosen.rounds)[-chosen.last :].mean():.4f}")
    for seed in chosen.seeds:
        for mode in chosen.modes.split(","):
            began = time.process_time()
            found = regrets(problem, seed, chosen.rounds, mode)
            seconds = time.process_time() - began
            print(f"{chosen.problem} {mode} {seed}: {found[-chosen.last :].mean():.4f}  {seconds:.0f} s", flush=True)


def play_earning(chosen: argparse.Namespace) -> None:
    """Print thirds of a study that earns, and those of its status quo."""
    problem = make_problem(chosen.problem)
    demand = problem.known_optimum.distribution
    start = 0.5 * demand + 0.5 / demand.shape[1]
    for seed in chosen.seeds:
        found = regrets(problem, seed, chosen.rounds, "situations", aim="earn", start=start)
        standing = create_study(problem.population, start=start, aim="earn").ask()
        quo = [problem.on_day(t).known_optimum.value - day_value(problem, standing, t) for t in range(chosen.rounds)]
        thirds = [" ".join(f"{part.mean():.4f}" for part in np.array_split(np.array(row), 3)) for row in (found, quo)]
        print(f"{chosen.problem} earn {seed}: {thirds[0]}  status quo {thirds[1]}", flush=True)


def play_requests(chosen: argparse.Namespace) -> None:
    """Print after how many days the recommended plan has closed which share of the gap, and keeps it for ten days."""
    problem = make_problem("bay-area-bike")
    gap = -problem.mean_field_value(np.full(problem.population.shape, 1.0 / problem.population.shape[1]))
    for seed in chosen.seeds:
        for known in (True, False):
            rng = np.random.default_rng([seed, 20])
            situations = {"requests": {"kind": "number", "known": "after"}} if known else None
            study = create_study(problem.population, seed=seed, situations=situations)
            closed = []
            for number in range(chosen.rounds if known else 2 * chosen.rounds):
                plan = study.ask()
                weather, rest = rng.standard_normal(2)
                payoff = problem.value(plan) + gap * (WEATHER * weather + REST * rest)
                study.tell(plan, payoff, situation={"requests": 1_000.0 + 200.0 * weather} if known else None)
                if number % 5 == 4:
                    closed.append(1.0 + problem.value(study.recommend()) / gap)
            table = [
                next((5 * (t + 1) for t in range(len(closed) - 1) if min(closed[t : t + 2]) >= share), None)
                for share in REACHED
            ]
            print(f"requests {'told' if known else 'not told'} {seed}: days to {REACHED}: {table}", flush=True)


def measure_cost(chosen: argparse.Namespace) -> None:
    """Print processor seconds of asks after 1,000 days, the fit among them, with three situations and without."""
    rng = np.random.default_rng(0)
    names = [f"s{number}" for number in range(158)]
    population = Population({"name": names, "x": rng.random(158), "y": rng.random(158)}, size=2_000)
    plans = rng.dirichlet(np.ones(158), size=1_000)
    target = rng.dirichlet(np.ones(158))
    for situations in (None, {"day": ["weekday", "weekend"], "rain": "number", "date": "time"}):
        study = create_study(population, "default", situations=situations, noise=0.01)
        for number, plan in enumerate(plans):
            known = {"day": "weekend" if number % 7 >= 5 else "weekday", "rain": rng.random(), "date": float(number)}
            payoff = -float(jensen_shannon(plan, target)) + 0.01 * rng.standard_normal()
            study.add(plan[None], payoff, situation=known if situations else None)
        seconds = []
        for _ in range(chosen.asks):
            began = time.process_time()
            asked = study.ask(situation={"day": "weekday", "rain": 0.2, "date": 1_000.0} if situations else None)
            seconds.append(time.process_time() - began)
            study.tell(asked, -0.1)
        listed = " ".join(f"{one:.2f}" for one in seconds)
        print(
            f"{'with three situations' if situations else 'without'}: {listed}, in all {sum(seconds):.2f} s", flush=True
        )


def main() -> None:
    """Read the command line and play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("days", "earn", "requests", "cost"))
    parser.add_argument("--problem", default="city-days", choices=tuple(NOISE))
    parser.add_argument("--seeds", type=seeds_of, default=[0])
    parser.add_argument("--rounds", type=int, default=120)
    parser.add_argument("--last", type=int, default=40)
    parser.add_argument("--modes", default="situations,separate,ignored")
    parser.add_argument("--asks", type=int, default=12)
    chosen = parser.parse_args()
    plays = {"days": play_days, "earn": play_earning, "requests": play_requests, "cost": measure_cost}
    plays[chosen.what](chosen)


if __name__ == "__main__":
    main()
