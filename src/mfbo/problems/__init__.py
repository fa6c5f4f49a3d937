"""Problems with known optima to learn on, test on and compare on; and what can be seen of them.

The user's own: ``demand_problem(names, demand, coordinates)`` or ``custom_problem(name, population, function)``.
"""

from mfbo.problems.arena import arena
from mfbo.problems.custom import custom_problem
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
from mfbo.problems.observation import FeedbackKind, Observer
from mfbo.problems.problem import Optimum, Payoff, Problem
from mfbo.problems.replay import DayObserver, Replay, ReplayPayoff, replay_problem
from mfbo.problems.swarm import swarm

__all__ = [
    "RULES",
    "DayObserver",
    "FeedbackKind",
    "Observer",
    "Optimum",
    "Payoff",
    "Problem",
    "Replay",
    "ReplayPayoff",
    "arena",
    "bay_area_bike",
    "custom_problem",
    "demand_problem",
    "forecast_plan",
    "jersey_city",
    "louvelo",
    "maritime",
    "nyc_12x20",
    "nyc_15x26",
    "nyc_20x36",
    "problem_of_table",
    "replay_problem",
    "swarm",
    "taxi_dispatch",
]
