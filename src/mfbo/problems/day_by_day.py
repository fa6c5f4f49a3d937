"""Problems whose rounds differ: every day has a situation, a payoff and an optimum of its own.

``bay-area-week``: every day of 2014 in order, with its own demand: real noise, real season, real drift.

``city-days``: the Bay Area stations with two kinds of days and rain that moves the level of the payoff; ``city-drift``:
the same with a demand that drifts and a holiday. Nothing is random: day t is always the same.
"""

from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.population import Population
from mfbo.problems.demand import DemandPayoff
from mfbo.problems.problem import Day, Days, Optimum, Problem
from mfbo.problems.tables import embedded_demand
from mfbo.simplex import jensen_shannon
from mfbo.situations import Situation, Situations, SituationValue

FIRST_DAY = 20_454.0  # 2026-01-01, in days since 1970-01-01
CONTRAST = 1.0  # standard deviation of the logarithm of weekend's demand over weekday's
DRIFT, DRIFT_DAYS = 0.8, 120  # demand changes by a factor e^±0.8 within 120 days
HOLIDAYS = 23  # every so many days


@dataclass(frozen=True, eq=False)
class LeveledDemand(DemandPayoff):
    """The demand payoff of a day, and what the weather adds to it whatever the plan."""

    level: float = 0.0

    def population(self, shares: FloatArray, size: int | None = None) -> float:
        """Return g."""
        return self.level + super().population(shares, size)


def matched(demand: FloatArray, level: float, before: Situation, after: Situation | None = None) -> Day:
    """Return a day on which a demand (A,) is to be matched."""
    return Day(LeveledDemand(demand, level), Optimum(level, demand[None, :]), before, after or {})


def days_problem(
    name: str, summary: str, population: Population, days: Days, demand: FloatArray, *, source: str, license_name: str
) -> Problem:
    """Return a problem of days; demand: of all days together, (A,), for pictures and for where the gap begins."""
    return Problem(
        name=name,
        summary=summary,
        population=population,
        payoff=DemandPayoff(demand),
        optimum=Optimum(0.0, demand[None, :]),
        feedback=("system",),
        source=source,
        license=license_name,
        places=population.features,
        demand=demand,
        days=days,
    )


def bay_area_week() -> Problem:
    """Return 300 bikes at the San Francisco stations, on every day of 2014 in order; the year begins anew after it."""
    table = embedded_demand("bay-area-week")
    dates = sorted(name for name in table.extras if name[:1].isdigit())
    demands = np.stack([_normalized(table.extras[name].astype(np.float64)) for name in dates])
    first = date.fromisoformat(dates[0]).toordinal() - date(1970, 1, 1).toordinal()
    kinds = ["weekend" if date.fromisoformat(name).weekday() >= 5 else "weekday" for name in dates]

    def day(number: int) -> Day:
        place = number % len(dates)
        return matched(demands[place], 0.0, {"day": kinds[place], "date": float(first + number)})

    features = {column: table.features[:, place] for place, column in enumerate(table.feature_names)}
    problem = days_problem(
        "bay-area-week",
        "place 300 bikes on every day of 2014, in order",
        Population({"name": table.names, **features}, size=300),
        Days(Situations.read({"day": ["weekday", "weekend"], "date": "time"}), day),
        table.demand,
        source=str(table.details["source"]),
        license_name=str(table.details["license"]),
    )
    return replace(problem, places=table.coordinates)


def city_days() -> Problem:
    """Return 300 bikes, weekdays and weekends, and rain."""
    return _city("city-days", "place 300 bikes on weekdays and weekends, in rain and sun", drift=0.0, holidays=False)


def city_drift() -> Problem:
    """Return 300 bikes, weekdays, weekends and holidays, rain, and a demand that drifts."""
    return _city("city-drift", "the same with holidays and a drifting demand", drift=DRIFT, holidays=True)


def _city(name: str, summary: str, *, drift: float, holidays: bool) -> Problem:
    table = embedded_demand("bay-area-bike")
    rng = np.random.default_rng(17)
    contrast, direction = CONTRAST * rng.standard_normal(len(table)), rng.choice([-1.0, 1.0], len(table))
    weekday = _normalized(table.demand * np.exp(contrast))
    gap = float(jensen_shannon(np.full(len(table), 1.0 / len(table)), table.demand))
    kinds = ["weekday", "weekend", "holiday"] if holidays else ["weekday", "weekend"]
    variables = {"day": kinds, "rain": "number", **({"date": "time"} if drift else {})}

    def day(number: int) -> Day:
        kind = "weekend" if number % 7 >= 5 else "weekday"
        base = table.demand if kind == "weekend" else weekday
        if holidays and number % HOLIDAYS == HOLIDAYS - 1:
            kind, base = "holiday", _normalized(table.demand**1.5)
        demand = _normalized(base * np.exp(drift * direction * number / DRIFT_DAYS))
        rain = round(float(np.random.default_rng(number).random()), 2)
        situation: dict[str, SituationValue] = {"day": kind, "rain": rain}
        if drift:
            situation["date"] = FIRST_DAY + number
        return matched(demand, -0.5 * gap * rain, situation)

    features = {column: table.features[:, place] for place, column in enumerate(table.feature_names)}
    population = Population({"name": table.names, **features}, size=300)
    source, license_name = str(table.details["source"]), str(table.details["license"])
    days = Days(Situations.read(variables), day)
    demand = (5.0 * weekday + 2.0 * table.demand) / 7.0
    problem = days_problem(name, summary, population, days, demand, source=source, license_name=license_name)
    return replace(problem, places=table.coordinates)


def _normalized(values: FloatArray) -> FloatArray:
    return np.asarray(values / values.sum())
