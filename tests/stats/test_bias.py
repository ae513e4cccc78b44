"""Laws of the bias: paired on chains, split by cause, undetermined where it was not split."""

from dataclasses import replace

import numpy as np
import pytest
from gradient_vectors import Vectors, bias_sq, over_pairs, random_vectors, vectors
from hypothesis import given

from nbyt.stats import bias_parts
from nbyt.stats.variance import NO_SPLIT, squared_length
from nbyt.stats.variance import bias_sq as measured


@given(vectors())
def test_the_squared_bias_is_that_of_the_differences(v: Vectors) -> None:
    assert measured(v.products()).value == pytest.approx(bias_sq(v), abs=1e-10)


def test_what_both_share_drops_out_of_the_interval() -> None:
    v = random_vectors(64, 2, 2, 5, seed=1)
    products = v.products()
    apart = Vectors(v.contributions, v.references[::-1], v.blocks).products()
    paired, unpaired = measured(products), measured(apart)
    assert paired.high - paired.low < 0.7 * (unpaired.high - unpaired.low)


def test_the_parts_are_lengths_of_their_own_vectors() -> None:
    v = random_vectors(20, 2, 2, 5, seed=2)
    long = v.means + np.random.default_rng(0).normal(size=v.means.shape) + 1.0
    first, second = v.means - long, long - v.references
    split = replace(
        v.products(), advantage_part=(first @ first.T)[None], phase_part=(second @ second.T)[None]
    )
    found = bias_parts(split)
    assert found.advantage.value == pytest.approx(over_pairs(first, first))
    assert found.phase == squared_length((second @ second.T)[None])


def test_without_synchronised_starts_the_parts_are_undetermined() -> None:
    found = bias_parts(random_vectors(5, 2, 2, 3, seed=0).products())
    assert found.advantage.reason == found.phase.reason == NO_SPLIT
