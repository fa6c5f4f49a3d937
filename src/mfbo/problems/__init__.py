"""Problems with known optima to learn on, test on and compare on; and what can be seen of them.

The user's own: ``demand_problem(names, demand, coordinates)`` or ``custom_problem(name, population, function)``.
"""

from mfbo.problems.arena import arena
from mfbo.problems.coverage import coverage, coverage_problem
from mfbo.problems.custom import custom_problem
from mfbo.problems.day_by_day import bay_area_week, city_days, city_drift
from mfbo.problems.demand import (
    bay_area_bike,
    demand_problem,
    louvelo,
    nyc_12x20,
    nyc_15x26,
    nyc_20x36,
    problem_of_table,
)
from mfbo.problems.dispatch import taxi_dispatch
from mfbo.problems.forecasts import RULES, forecast_plan
from mfbo.problems.jersey_city import jersey_city
from mfbo.problems.maritime import maritime
from mfbo.problems.mixture import mixture, mixture_problem
from mfbo.problems.observation import FeedbackKind, Observer
from mfbo.problems.portfolio import portfolio, portfolio_problem
from mfbo.problems.problem import Day, Days, Optimum, Payoff, Problem
from mfbo.problems.queues import queue_problem, queues
from mfbo.problems.swarm import swarm
from mfbo.problems.traffic import traffic, traffic_problem
from mfbo.problems.trip_replay import DayObserver, Replay, ReplayPayoff, replay_problem

__all__ = [
    "RULES",
    "Day",
    "DayObserver",
    "Days",
    "FeedbackKind",
    "Observer",
    "Optimum",
    "Payoff",
    "Problem",
    "Replay",
    "ReplayPayoff",
    "arena",
    "bay_area_bike",
    "bay_area_week",
    "city_days",
    "city_drift",
    "coverage",
    "coverage_problem",
    "custom_problem",
    "demand_problem",
    "forecast_plan",
    "jersey_city",
    "louvelo",
    "maritime",
    "mixture",
    "mixture_problem",
    "nyc_12x20",
    "nyc_15x26",
    "nyc_20x36",
    "portfolio",
    "portfolio_problem",
    "problem_of_table",
    "queue_problem",
    "queues",
    "replay_problem",
    "swarm",
    "taxi_dispatch",
    "traffic",
    "traffic_problem",
]
