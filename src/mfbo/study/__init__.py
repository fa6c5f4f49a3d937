"""The study keeps the loop of ask and tell; ``maximize`` runs it, a storage outlives it."""

from mfbo.study.explaining import Explanation, Prediction
from mfbo.study.log import LogEntry
from mfbo.study.maximizing import Result, maximize, run_round
from mfbo.study.moving import archived, copy_study, is_archive, restored
from mfbo.study.opening import create_study, load_study
from mfbo.study.stopping import StopWhen
from mfbo.study.study import Study

__all__ = [
    "Explanation",
    "LogEntry",
    "Prediction",
    "Result",
    "StopWhen",
    "Study",
    "archived",
    "copy_study",
    "create_study",
    "is_archive",
    "load_study",
    "maximize",
    "restored",
    "run_round",
]
