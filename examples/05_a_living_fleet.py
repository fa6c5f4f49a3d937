"""Sixty days of a fleet that lives: bikes break, stations close and open, docks are added, days are told wrongly.

Every evening the city's rides of the day are told as one number. All that happens is an event of the study's log; the
plan at the end is compared with that of a study that had known the last fleet from the start, with the same days.
"""

from typing import Any

import numpy as np

import mfbo

DAYS = 60
CITY = {  # where a station is, and how many riders come to it on a day
    "Main St": (0.10, 0.20, 190.0),
    "Harbor": (0.80, 0.15, 60.0),
    "Old Town": (0.30, 0.60, 120.0),
    "Market": (0.35, 0.45, 160.0),
    "Mill": (0.90, 0.80, 40.0),
    "Station": (0.15, 0.35, 210.0),
    "Park": (0.20, 0.30, 170.0),  # opens on day 25, beside two good ones
    "Quay": (0.85, 0.30, 30.0),  # opens on day 25, beside a poor one
}
FIRST = list(CITY)[:6]
DOCKS = dict.fromkeys(FIRST, 140)
CHANGES: dict[int, dict[str, Any]] = {  # before the plan of a day
    15: {"size": 480, "reason": "twenty bikes sold"},
    20: {"close": ["Mill"], "reason": "closed for good"},
    25: {"open": {name: CITY[name][:2] for name in ("Park", "Quay")}, "capacity": {"Park": 140, "Quay": 140}},
    30: {"capacity": {"Station": 200}, "reason": "sixty docks added"},
    35: {"rename": {"Old Town": "Cathedral"}},
    40: {"size": 520, "reason": "forty new bikes"},
}
TODAY: dict[int, dict[str, Any]] = {
    5: {"size": 494},
    9: {"closed": ["Harbor"]},
    12: {"size": 488, "closed": ["Mill"]},
    47: {"size": 511},
}
TYPED = {7: 10.0, 18: 0.1, 33: 10.0}  # a digit too many, or one too few; corrected three days later
NEVER = 28  # the day whose numbers were those of another city; withdrawn two days later
riders = {**CITY, "Cathedral": CITY["Old Town"]}


def rides(names: tuple[str, ...], bikes: np.ndarray) -> float:
    """Return how many rides bikes at these stations make on a day: the more bikes, the more riders find one."""
    wanted = np.array([riders[name][2] for name in names])
    return float((wanted * (1.0 - np.exp(-bikes / wanted))).sum())


def bikes_of(plan: mfbo.Plan) -> np.ndarray:
    """Return the whole bikes of a plan at every station."""
    assert plan.allocation is not None
    return np.asarray(plan.allocation[0])


def check(study: mfbo.Study, plan: mfbo.Plan, fleet: int, closed: list[str]) -> np.ndarray:
    """Return the bikes of a plan after looking at all that was promised: the fleet, the docks, closed stations."""
    names, bikes = study.population.actions, bikes_of(plan)
    docks = {**DOCKS, "Park": 140, "Quay": 140, "Cathedral": 140}
    docks["Station"] = 200 if study.population.size == 520 or len(study.rounds) > 30 else 140
    assert bikes.sum() == fleet
    assert all(count <= docks[name] for name, count in zip(names, bikes, strict=True))
    assert not any(bikes[names.index(name)] for name in (*study.population.closed, *closed))
    return bikes


features = {"name": FIRST, "x": [CITY[name][0] for name in FIRST], "y": [CITY[name][1] for name in FIRST]}
population = mfbo.Population(features, size=500, capacity=DOCKS)
study = mfbo.create_study(population, storage="memory", name="bikes", payoff_is="total", seed=1)
opened = []  # bikes at Park, which opens on day 25, in the plans after it
for day in range(DAYS):
    if day in CHANGES:
        study.change(**CHANGES[day], by="ann")
    today = TODAY.get(day, {})
    plan = study.ask(**today)
    bikes = check(study, plan, today.get("size") or study.population.size or 0, today.get("closed", []))
    if "Park" in study.population.actions:
        opened.append(int(bikes[study.population.actions.index("Park")]))
    study.tell(plan, rides(study.population.actions, bikes) * (0.3 if day == NEVER else TYPED.get(day, 1.0)))
    if day - 3 in TYPED:
        played = bikes_of(study.rounds[day - 3].plan)
        study.amend(day - 3, rides(study.population.actions, played), by="ann", reason="a digit too many or too few")
    if day - 2 == NEVER:
        study.withdraw(NEVER, by="bob", reason="the numbers of another city")

known = mfbo.create_study(study.population, seed=1)  # it had known the last fleet from the start
for done in study.history.told:
    known.add(done.played, done.payoff)

names, size = study.population.actions, 520
lived, told_at_once = (rides(names, bikes_of(one.recommend())) for one in (study, known))
still_open = np.array([name != "Mill" for name in names])
wanted = np.array([riders[name][2] for name in names]) * still_open
best = rides(names, size * wanted / wanted.sum())  # bikes in proportion to riders, nearly what docks allow
uniform = rides(names, size * still_open / still_open.sum())
print(f"after {DAYS} days {len(study.log())} entries in the log, {study.history.corrections} changes and corrections")
print(f"bikes at the new station beside good ones, the first three plans: {opened[:3]}")
print(f"rides of the recommended plan: {lived:.1f}; had the last fleet been known all along: {told_at_once:.1f}")
print(f"(even everywhere: {uniform:.1f}; the optimum without docks: {best:.1f})")
