"""Layouts at equal seconds: curves of slow layouts are read earlier."""

import numpy as np
import pytest

from nbyt.sweeps.layout_comparison import slowed


def test_a_slowed_curve_is_read_between_its_points() -> None:
    """Against NumPy's own interpolation, seed by seed and pace by pace."""
    returns = np.random.default_rng(0).normal(size=(3, 5))
    points, paces = [2, 5, 6, 9, 20], np.array([1.0, 0.6, 0.05])
    found = slowed(returns, points, -1.0, paces)
    for k, pace in enumerate(paces):
        for row, own in zip(returns, found[k], strict=True):
            at = pace * np.array(points)
            assert own == pytest.approx(np.interp(at, [0, *points], [-1.0, *row]))
