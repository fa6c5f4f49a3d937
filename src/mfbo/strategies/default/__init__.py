"""The default strategy: the algorithm in ``strategy``, on one page, and each of its rules in a file of its own."""

from mfbo.strategies.default.strategy import Default

__all__ = ["Default"]
