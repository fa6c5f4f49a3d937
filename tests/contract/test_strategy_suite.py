"""The shipped contract suite over every strategy of the catalogue."""

from collections.abc import Callable

import pytest

from mfbo.catalogue import STRATEGIES, make_strategy
from mfbo.interfaces import Strategy
from mfbo.strategies.on_simplex.botorch_simplex import BotorchSimplex
from mfbo.strategies.per_agent.turbo import Turbo
from mfbo.testing import StrategyContract

SHORTER: dict[str, Callable[[], Strategy]] = {  # the same strategies with a shorter random phase, or fewer steps
    "mf-gp-ucb": lambda: make_strategy("mf-gp-ucb(steps=100)"),
    "turbo": lambda: Turbo(initial_rounds=4, candidates=256),
    "botorch-simplex": lambda: BotorchSimplex(initial_rounds=10, starts=2),
}
TORCH = ("botorch-simplex", "optuna-gp")  # seconds a test: left to CI
SEARCHING = [name for name, entry in STRATEGIES.items() if entry.searches != "nothing"]  # rules: test_forecast_rules
EVERY = [pytest.param(name, marks=pytest.mark.slow) if name in TORCH else name for name in SEARCHING]
LONGER = {"genetic": 45, "cma-es": 24}  # rounds until generations have passed


class TestEveryStrategy(StrategyContract):
    @pytest.fixture(autouse=True, params=EVERY)
    def _name(self, request):
        self.name = request.param
        self.rounds = LONGER.get(self.name, self.rounds)

    def make(self) -> Strategy:
        return SHORTER.get(self.name, lambda: make_strategy(self.name))()
