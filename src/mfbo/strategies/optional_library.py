"""The libraries of the baselines: loaded when a plan is asked for, seeded from our generator, left as they were."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from mfbo.arrays import one_blas_thread
from mfbo.errors import MissingExtraError

SEEDS = 2**31  # every library takes seeds below


def load(module: str, strategy: str) -> Any:
    """Return a library's module, or say in one line what to install."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what its authors will have to change is no news to our users
            return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise MissingExtraError(
            f'strategy "{strategy}" uses {library} and needs the extra "baselines": pip install "mfbo[baselines]"'
        ) from error


def drawn_seed(rng: np.random.Generator) -> int:
    """Return a seed for a library's own generator."""
    return int(rng.integers(SEEDS))


@contextmanager
def seeded_torch(torch: Any, seed: int) -> Iterator[None]:
    """Seed PyTorch and hold it to one thread; its state, threads and warnings are afterwards as before.

    One thread: another split of a sum gives other bits, and a resumed study must equal an unbroken one.
    """
    threads = torch.get_num_threads()
    with warnings.catch_warnings(), one_blas_thread(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")  # advice on scaling and on stopped climbs, which is meant
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
