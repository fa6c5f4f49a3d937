"""Strategies that search over the action of every single agent, as the paper's opponents do.

Agents' contexts are fixed: as many of each as its weight says. They exist to be compared with; ``Default`` needs far
fewer rounds.
"""
