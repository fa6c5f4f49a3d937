"""Runs of strategies on problems, and what is measured of them."""

from mfbo.experiments.runs import RunResult, RunSettings, run

__all__ = ["RunResult", "RunSettings", "run"]
