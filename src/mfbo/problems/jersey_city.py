"""`jersey-city`: 100 bikes at 51 stations, and a month of trips drawn from the counts of November 2020."""

import json
from importlib import resources

import numpy as np

from mfbo.problems.problem import Optimum, Problem
from mfbo.problems.trip_counts import TripCounts, drawn_trips
from mfbo.problems.trip_replay import replay_problem

AGENTS = 100
SEED = 0
SOURCE = "Citi Bike system data, Jersey City, November 2020, https://citibikenyc.com/system-data: monthly counts only"
LICENSE = "Citi Bike's data terms: analyses may be published, the trips themselves not; these days are drawn anew"
NOTE = (
    "the trips are drawn from monthly counts; the optimum is not known: the value said is the best placement a long "
    "local search found, a lower bound"
)


def jersey_city() -> Problem:
    """Return the problem of serving a drawn month; its optimum is the best known, a lower bound of the true one."""
    text = resources.files("mfbo.problems").joinpath("data/jersey-city.json").read_text(encoding="utf-8")
    record = json.loads(text)
    details = {"source": SOURCE, "license": LICENSE}
    trips = drawn_trips(TripCounts.from_record(record["counts"]), SEED, details)
    bikes = np.array(record["best"]["bikes"], dtype=np.float64)
    best = Optimum(record["best"]["value"], bikes[None, :] / bikes.sum(), proven=False)
    problem = replay_problem(trips, AGENTS, name="jersey-city", optimum=best)
    return problem.with_note(NOTE)
