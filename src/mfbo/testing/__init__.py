"""Contract suites that anyone can run on their own parts: derive a test class from one and say how to make the part."""

from mfbo.testing.kernel_contract import KernelContract
from mfbo.testing.plain_rounds import plain_round, round_from_plain
from mfbo.testing.problem_contract import MeanFieldProblemContract, ProblemContract
from mfbo.testing.storages import StorageContract
from mfbo.testing.strategies import StrategyContract

__all__ = [
    "KernelContract",
    "MeanFieldProblemContract",
    "ProblemContract",
    "StorageContract",
    "StrategyContract",
    "plain_round",
    "round_from_plain",
]
