"""What the paper prints: its run times, in minutes (mean, standard deviation over 10 runs of 250 rounds)."""

PAPER_ROUNDS = 250

_BY_PROBLEM = {
    "swarm": ((0.09, 0.01), (0.12, 0.01), (9.3, 0.2), (14.0, 1.0)),
    "arena": ((0.11, 0.01), (0.14, 0.01), (10.0, 1.0), (22.0, 2.0)),
    "louvelo": ((0.64, 0.25), (0.82, 0.32), (50.0, 13.0), (14.0, 2.0)),
    "maritime": ((7.2, 2.6), (9.3, 3.4), (475.0, 113.0), (54.0, 3.0)),
    "nyc-12x20": ((88.0, 13.0), (108.0, 16.0), (4105.0, 477.0), (36.0, 2.0)),
    "nyc-15x26": ((95.0, 4.0), (118.0, 4.0), (4557.0, 470.0), (62.0, 3.0)),
    "nyc-20x36": ((89.0, 15.0), (113.0, 19.0), (4206.0, 596.0), (131.0, 7.0)),
}
_COLUMNS = ("genetic", "annealing", "turbo", "mf-gp-ucb")

PAPER_MINUTES: dict[tuple[str, str], tuple[float, float]] = {
    (problem, strategy): minutes
    for problem, row in (*_BY_PROBLEM.items(), ("bay-area-bike", _BY_PROBLEM["louvelo"]))
    for strategy, minutes in zip(_COLUMNS, row, strict=True)
}
"""By problem and strategy; the Bay Area stands in for LouVelo. `default` has no row: the paper does not know it."""
