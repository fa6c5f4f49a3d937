"""Generators derived from (seed, purpose, round), so that a resumed study draws what an unbroken one would."""

from zlib import crc32

import numpy as np


def derived_generator(seed: int, purpose: str, number: int = 0) -> np.random.Generator:
    """Return the generator of one purpose ("propose", "allocate", "feedback" …) in round ``number``."""
    spawn_key = (crc32(purpose.encode()), number)
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=spawn_key))
