"""Laws of a single batch: a share of signal is a share, also where there is no signal."""

import numpy as np
import pytest
from gradient_vectors import Vectors, over_pairs, random_vectors

from nbyt.stats.estimate import undetermined
from nbyt.stats.summary import NO_SHARE, describe_batch

STREAMS, STEPS = 8, 4
SIGNALS = (0.0, 0.1, 1.0)


def batches(signal: float) -> list[tuple[float, object]]:
    """The unbiased estimate of |E g|², and what is said of the batch, for 60 batches."""
    made = [random_vectors(STREAMS, 1, STEPS, 6, seed, signal) for seed in range(60)]
    return [
        (over_pairs(one.means, one.means), describe_batch(one.products(), STREAMS)) for one in made
    ]


@pytest.mark.parametrize("signal", SIGNALS)
def test_a_noise_factor_is_a_share_or_undetermined_with_its_reason(signal: float) -> None:
    for _, found in batches(signal):
        noise = found.noise_factor
        if noise.value is None:
            assert noise.reason and noise.low is None and noise.high is None
        else:
            assert 0 <= noise.low <= noise.value <= noise.high <= 1


def test_without_signal_the_estimate_is_zero_and_never_certain() -> None:
    negative = [found for square, found in batches(0.0) if square < 0]
    assert len(negative) > 10
    for found in negative:
        assert found.noise_factor.value in (0.0, None)
        assert found.noise_factor.high != 0.0
        assert found.noise_scale.value is None and found.noise_scale.reason


def test_streams_that_cancel_each_other_by_more_than_chance_determine_nothing() -> None:
    one = random_vectors(STREAMS, 1, STEPS, 6, 1, 0.0)
    cancelled = Vectors(one.contributions - one.contributions.mean(0), one.references, one.blocks)
    found = describe_batch(cancelled.products(), STREAMS)
    assert found.noise_factor == undetermined(NO_SHARE, STREAMS)
    assert found.noise_scale == undetermined(NO_SHARE, STREAMS)


def test_the_noise_scale_follows_from_the_noise_factor() -> None:
    for square, found in batches(1.0):
        noise, scale = found.noise_factor, found.noise_scale
        if square > 0:
            ends = [STREAMS * STEPS * (1 / f - 1) for f in (noise.value, noise.high)]
            np.testing.assert_allclose((scale.value, scale.low), ends)
