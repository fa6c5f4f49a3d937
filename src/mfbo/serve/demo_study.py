"""A study to look at: 300 bikes at the Bay Area's stations, with a week behind it; all of it is embedded."""

from typing import Any

from mfbo.catalogue import make_problem
from mfbo.population import Population
from mfbo.records import Plan
from mfbo.seeding import derived_generator
from mfbo.simplex import uniform, whole_agents
from mfbo.storage import open_storage
from mfbo.study import create_study

NAME = "Bay Area bikes (demo)"
PAST_DAYS, ROUNDS, SEED = 4, 8, 20
DOCKS, MOVES = 27, 60  # of a station; of bikes in a night
BEST, SLOPE, NOISE = 6.0, 40.0, 0.08  # rides a bike has on the best day, loses by a bad plan, and has by chance


def add_demo(storage: Any) -> None:
    """Make the study if it is not there: past days, a week of plans that were told, and one that waits."""
    store = open_storage(storage)
    try:
        if any(found.name == NAME for found in store.studies()):
            return
        problem = make_problem("bay-area-bike")
        there: Any = problem.population
        stations = {"name": there.actions, **dict(zip(there.feature_names, there.features.T, strict=True))}
        fleet = Population(stations, size=there.size, capacity=DOCKS, move_budget=MOVES)
        placed = whole_agents(uniform(*fleet.shape), fleet.context_totals)
        study = create_study(fleet, storage=store, name=NAME, seed=SEED, placed=placed, aim="earn")
        rng = derived_generator(SEED, "demo", 0)

        def told(plan: Plan) -> float:
            return float(BEST + SLOPE * problem.value(plan) + rng.normal(0.0, NOISE))

        for _ in range(PAST_DAYS):
            shares = rng.dirichlet(20.0 * uniform(*fleet.shape)[0] * fleet.shape[1], size=1)
            study.add(shares, told(Plan(0, shares)))
        for _ in range(ROUNDS):
            plan = study.ask("night crew")
            study.tell(plan, told(plan))
        study.ask("night crew")
    finally:
        store.close()
