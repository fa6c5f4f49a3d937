"""What an installed wheel must do, with neither tests nor sources beside it; run it in an empty folder."""

import sys

import mfbo
from mfbo.models import Kernel, default_kernel
from mfbo.population import Population
from mfbo.testing import KernelContract, MeanFieldProblemContract

WANTED = [[0.6, 0.3, 0.1]]


def payoff(plan: mfbo.Plan) -> float:
    """Return what a placement brings."""
    return -float(((plan.realized - WANTED) ** 2).sum())


class OurKernel(KernelContract):
    def make(self, population: Population) -> Kernel:
        return default_kernel(population)


class Bikes(MeanFieldProblemContract):
    def make(self) -> mfbo.Problem:
        return mfbo.make_problem("bay-area-bike")


def main() -> None:
    """Play a stored study and go on with it, play the paper's algorithm, and keep two contracts."""
    assert "site-packages" in mfbo.__file__, f"mfbo is imported from {mfbo.__file__}"
    population = mfbo.Population(["a", "b", "c"], size=30)
    study = mfbo.create_study(population, storage="sqlite:///smoke.db", name="smoke")
    study.run(payoff, 8)
    resumed = mfbo.load_study("smoke", "sqlite:///smoke.db")
    resumed.run(payoff, 2)
    assert len(resumed.rounds) == 10
    assert resumed.best.payoff > -0.01, resumed.best
    result = mfbo.maximize(payoff, population, rounds=6, strategy="mf-gp-ucb(steps=50)")
    assert result.best.payoff > -0.5, result.best
    for contract in (OurKernel, Bikes):
        for test in [name for name in dir(contract) if name.startswith("test_")]:
            getattr(contract(), test)()
    print(f"mfbo {mfbo.__version__} on Python {sys.version.split()[0]}: a study, a resumption, two contracts")


if __name__ == "__main__":
    main()
