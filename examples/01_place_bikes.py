"""Place 300 bikes over 12 stations so that they match an unknown demand; one number is seen per day."""

import numpy as np

import mfbo

rng = np.random.default_rng(1)
coordinates = rng.uniform(size=(12, 2))
demand = rng.dirichlet(np.full(12, 2.0))
stations = {"name": [f"station {i}" for i in range(12)], "x": coordinates[:, 0], "y": coordinates[:, 1]}


def served_share(plan: mfbo.Plan) -> float:
    """Return the share of the day's riders that find a bike."""
    return float(np.minimum(plan.realized[0], demand).sum())


result = mfbo.maximize(served_share, mfbo.Population(stations, size=300), rounds=60, seed=0)
print(f"served with bikes spread evenly: {served_share(result.study.rounds[0].plan):.1%}")
print(f"served by the recommended plan:  {served_share(result.recommended):.1%}")
