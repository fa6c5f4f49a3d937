"""A kernel of the user's own, by import path: "mf-gp-ucb(kernel=mypkg.kernels:mine)"."""

from mfbo.errors import InvalidInputError
from mfbo.models import Kernel
from mfbo.own_parts import imported
from mfbo.population import Population
from mfbo.validation import said


def own_kernel(path: str, population: Population) -> Kernel:
    """Return what the function at an import path makes of a population; it must be a Kernel for its contexts."""
    made = imported(path, "kernel")(population)
    if not isinstance(made, Kernel):
        raise InvalidInputError(f"kernel {path!r} must make an mfbo.models.Kernel of a population, not {said(made)}")
    return made
