"""What is fitted: a positive number with its prior."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Hyperparameter:
    """A positive number to fit, with its log-normal prior (median, sd of the logarithm) and log bounds."""

    median: float
    sd: float
    lower: float = -14.0
    upper: float = 8.0
