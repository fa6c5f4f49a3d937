"""mfbo: place a whole fleet well, in few tries. Mean-field Bayesian optimization.

The front door: everything named here is public. Names are loaded when first used, so that ``import mfbo`` and
``mfbo --help`` cost nothing.

It logs by the standard library's ``logging``, each package under its own name ("mfbo.study", "mfbo.storage", …), and
says nothing unless a program listens.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())

_HOMES = {
    "AsyncStudy": "mfbo.client",
    "Explanation": "mfbo.study",
    "Feedback": "mfbo.records",
    "History": "mfbo.records",
    "InvalidInputError": "mfbo.errors",
    "MfboError": "mfbo.errors",
    "Plan": "mfbo.records",
    "Population": "mfbo.population",
    "Prediction": "mfbo.study",
    "Problem": "mfbo.problems",
    "Proposal": "mfbo.records",
    "Result": "mfbo.study",
    "Round": "mfbo.records",
    "ServiceError": "mfbo.errors",
    "Strategy": "mfbo.interfaces",
    "Study": "mfbo.study",
    "StopWhen": "mfbo.study",
    "StorageError": "mfbo.errors",
    "connect": "mfbo.client",
    "create_study": "mfbo.study",
    "load_study": "mfbo.study",
    "make_problem": "mfbo.catalogue",
    "make_strategy": "mfbo.catalogue",
    "maximize": "mfbo.study",
}

__all__ = [
    "AsyncStudy",
    "Explanation",
    "Feedback",
    "History",
    "InvalidInputError",
    "MfboError",
    "Plan",
    "Population",
    "Prediction",
    "Problem",
    "Proposal",
    "Result",
    "Round",
    "ServiceError",
    "StopWhen",
    "StorageError",
    "Strategy",
    "Study",
    "__version__",
    "connect",
    "create_study",
    "load_study",
    "make_problem",
    "make_strategy",
    "maximize",
]

if TYPE_CHECKING:
    from mfbo.catalogue import make_problem, make_strategy
    from mfbo.client import AsyncStudy, connect
    from mfbo.errors import InvalidInputError, MfboError, ServiceError, StorageError
    from mfbo.interfaces import Strategy
    from mfbo.population import Population
    from mfbo.problems import Problem
    from mfbo.records import Feedback, History, Plan, Proposal, Round
    from mfbo.study import Explanation, Prediction, Result, StopWhen, Study, create_study, load_study, maximize


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mfbo' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
