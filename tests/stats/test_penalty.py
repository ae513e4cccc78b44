"""Laws of the penalty: the ratio of two variances of mini-batches, biased samplers included."""

import numpy as np
import pytest

from nbyt.rng import numpy_stream
from nbyt.stats.variance import Drawn, penalty


def drawn(gradients: np.ndarray, scale: float, shift: float, draws: int, role: str) -> Drawn:
    """Mini-batches that scatter by `scale` in each of 3 dimensions, around G_B + shift."""
    noise = numpy_stream(4, role).normal(size=(draws, *gradients.shape))
    minibatches = gradients + shift + scale * noise
    mean = minibatches.mean(0)
    return Drawn(mean @ mean.T, (minibatches**2).sum(-1).mean(0))


def test_the_ratio_is_that_of_the_laws_and_a_bias_does_not_count_as_variance() -> None:
    """Var is 3 for the batches; mini-batches add 3 · 2² and 3 · 1²."""
    batches = 5 + numpy_stream(4, "batches").normal(size=(400, 3))
    shuffled = drawn(batches, 1.0, 0.0, 50, "shuffled")
    for shift in (0.0, 7.0):
        found = penalty(drawn(batches, 2.0, shift, 50, "other"), shuffled)
        assert found.value == pytest.approx(15 / 6, rel=0.05)
        assert found.low < 15 / 6 < found.high
    assert penalty(shuffled, shuffled).value == 1


def test_minibatches_that_do_not_vary_have_no_ratio() -> None:
    none = Drawn(np.ones((4, 4)), np.ones(4))
    assert penalty(none, none).value is None
