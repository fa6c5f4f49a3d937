"""Generators derived from (seed, purpose, number)."""

import numpy as np
import pytest

from mfbo.seeding import derived_generator


def drawn(*key: object) -> list[float]:
    return derived_generator(*key).random(4).tolist()


def test_equal_keys_draw_equal_numbers():
    assert drawn(3, "propose", 5) == drawn(3, "propose", 5)


@pytest.mark.parametrize("other", [(4, "propose", 5), (3, "allocate", 5), (3, "propose", 6)])
def test_every_part_of_the_key_matters(other):
    assert drawn(3, "propose", 5) != drawn(*other)


def test_round_zero_is_the_default():
    assert drawn(3, "recommend") == drawn(3, "recommend", 0)


def test_seed_and_number_are_not_interchangeable():
    assert drawn(1, "propose", 2) != drawn(2, "propose", 1)


def test_streams_of_neighbouring_rounds_are_uncorrelated():
    first = np.array([derived_generator(0, "propose", t).standard_normal() for t in range(2000)])
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 4 / np.sqrt(2000)
    assert first.mean() == pytest.approx(0.0, abs=4 / np.sqrt(2000))


def test_the_global_generator_is_left_alone():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    drawn(3, "propose", 5)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_the_first_numbers_stay_what_they_were_when_studies_were_stored():
    """Changing the derivation would break the exact resume of every stored study."""
    assert derived_generator(0, "propose", 0).integers(0, 10**9, 3).tolist() == [250277653, 855132423, 949684450]
