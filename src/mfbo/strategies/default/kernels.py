"""The kernel for every kind of data, and that of an earning study with noisy payoffs, "street".

In the street the unit is what a round earns, and the weights say that places differ by about half of it per agent: the
model knows from the first day that moving a twentieth of the agents may cost several percent, however noisy the days
are. Measured: in units of the told payoffs' spread, the first plans of a city with 15 % noise were believed to be safe
and lay 3 to 8 of their standard deviations below that; in this unit they lie within 1.5.
"""

import math
from dataclasses import replace
from typing import Any

from mfbo.arrays import FloatArray
from mfbo.models import (
    Hyperparameter,
    Kernel,
    agents_kernel,
    default_kernel,
    demand_terms,
    unplaced_kernel,
    with_nearness,
)
from mfbo.models.situation_kernel import SituationModel
from mfbo.population import Population
from mfbo.strategies.default.seen import COSTS, DEMAND, STREET

UNPLACED = "unplaced"  # exact payoffs of actions without features
SHARE = 0.25  # of the usual weights: about ten channels together make half of what is earned
WEIGHT_SD = 0.5  # of the logarithm of a weight, instead of 4: a few noisy days must not argue it away or up
NOISE = Hyperparameter(1e-2, 1.0, math.log(1e-9), 0.0)  # a tenth of what is earned
SITUATED_NOISE = Hyperparameter(1e-3, 2.0, math.log(1e-9), 0.0)  # a thirtieth: situations say what the weather did
COSTS_FACTOR, COSTS_SD = 25.0, 1.5  # on a weight, and of its logarithm, where payoffs are costs; see ``_of_costs``


def kernel_for(population: Population, kind: str) -> Kernel:
    """Return our kernel for agents' payoffs, for population payoffs, or for noisy ones that are to be earned."""
    if kind == DEMAND:  # its terms come with the status quo, see ``started_kernel``
        street = street_kernel(population)
        return replace(street, name="demand", terms=street.terms[-1:])
    if kind in STREET:
        return replace(street_kernel(population), name="costs" if kind in COSTS else "street")
    if kind == UNPLACED:
        return unplaced_kernel(population)
    return agents_kernel(population) if kind == "agents" else default_kernel(population, noisy=kind == "noisy")


def street_kernel(population: Population) -> Kernel:
    """Return our kernel for population payoffs in units of what is earned."""
    kernel = default_kernel(population, noisy=True)
    return replace(kernel, name="street", terms=tuple(map(_believed, kernel.terms)), noise=NOISE, level=True)


def started_kernel(kernel: Kernel, population: Population, start: FloatArray, kind: str) -> Kernel:
    """Return a kernel with what follows from a status quo (C, A): demand, or nearness to what somebody chose."""
    if kind == DEMAND:
        return replace(kernel, terms=(*demand_terms(population, start), *kernel.terms))
    return with_nearness(kernel, population, start)


def _believed(term: Any) -> Any:
    """Return a term with the weight above; the constant stays as it is."""
    if term.role == "constant":
        return term
    weight = replace(term.weight, median=SHARE * term.weight.median, sd=min(term.weight.sd, WEIGHT_SD))
    return replace(term, weight=weight)


def situated_kernel(kernel: Kernel, model: SituationModel) -> Kernel:
    """Return a kernel that knows situations: what they say of a day is not noise, so less of it is expected."""
    noise = SITUATED_NOISE if kernel.name in ("street", "costs") else kernel.noise
    terms = tuple(map(_of_costs, kernel.terms)) if kernel.name == "costs" else kernel.terms
    return replace(kernel, terms=terms, situation=model, drifts=False, noise=noise)


def _of_costs(term: Any) -> Any:
    """Return a term with the weight of costs; the constant stays as it is.

    What is earned bounds what an agent may change. What is lost does not: if it is lost by a fifth of the agents, each
    of them stands for five times as much. Where weights are too small, the levels of the days take what differs
    between plans, and the model never learns what a step costs.
    """
    if term.role == "constant":
        return term
    return replace(term, weight=replace(term.weight, median=COSTS_FACTOR * term.weight.median, sd=COSTS_SD))
