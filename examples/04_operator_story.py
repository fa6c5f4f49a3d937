"""An operator's mornings and evenings: stations from a CSV, a plan a day, a map at the end. Everything on files.

The commands are those an operator types; here a program types them. The city answers with how many rides each bike
got at each station, from the Bay Area's embedded demand, which the study never sees.
"""

import csv
import io
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

import mfbo
from mfbo.cli import main

DAYS = 20
problem = mfbo.make_problem("bay-area-bike")
demand = problem.known_optimum.distribution[0]


def mfbo_study(*arguments: object) -> str:
    """Run ``mfbo study …`` and return what it printed."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            main(["study", *map(str, arguments)])
    except SystemExit as end:
        if end.code != 0:
            raise
    return printed.getvalue()


def write_stations(path: Path) -> None:
    """Write the list of stations as a spreadsheet would: semicolons and decimal commas."""
    features = [] if problem.population.features is None else problem.population.features.tolist()
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["name", *problem.population.feature_names])
        for name, row in zip(problem.population.actions, features, strict=True):
            writer.writerow([name, *(f"{value:.6f}".replace(".", ",") for value in row)])


def play(plan: Path, day: Path) -> float:
    """Carry out a plan: write the mean payoff of a bike at each station, and return the share of riders served."""
    with plan.open(newline="", encoding="utf-8") as file:
        bikes = {row["station"]: int(row["agents"]) for row in csv.DictReader(file)}
    placed = np.array([bikes[name] for name in problem.population.actions])
    shares = placed / placed.sum()
    used = np.minimum(demand / np.maximum(shares, 1e-12), 1.0)  # the chance of a bike to find a rider
    with day.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["station", "agents", "payoff"])
        for name, count, payoff in zip(problem.population.actions, placed, used, strict=True):
            writer.writerow([name, count, f"{payoff:.4f}" if count else ""])
    return float(shares @ used)


write_stations(Path("stations.csv"))
print(mfbo_study("create", "saturdays", "--actions", "stations.csv", "--agents", 300))
for day in range(DAYS):
    mfbo_study("ask", "saturdays", "--out", "plan.csv")
    served = play(Path("plan.csv"), Path("day.csv"))
    mfbo_study("tell", "saturdays", "--plan", day, "--cells", "day.csv")
    print(f"day {day + 1}: {served:.1%} of the riders found a bike")
print(mfbo_study("show", "saturdays", "--rounds", 4))
print(mfbo_study("plot", "saturdays", "--out", "pictures"))
print(mfbo_study("doctor"))
