"""Controls: every number that is measured stands with its exact one, and is near it."""

import numpy as np
import pytest

from nbyt.exact import garnet, moments
from nbyt.measure.control import beside_exact, exact_numbers
from nbyt.stats.pool import OBJECTIVES


def test_exact_numbers_are_those_of_n_envs() -> None:
    control = garnet(6, 2, 0)
    exact = moments(control.env, control.stage, steps=4, gamma=control.gamma, lam=control.lam).actor
    one, many = exact_numbers(exact, 1), exact_numbers(exact, 8)
    assert many["variance"] == pytest.approx(many["individual"] + many["covariance"])
    assert many["variance"] == pytest.approx(one["variance"] / 8)
    assert many["mse"] == pytest.approx(many["bias_sq"] + many["variance"])
    assert many["alignment"] > one["alignment"]


def test_a_measured_control_has_a_row_for_every_exact_number() -> None:
    measured, rows = beside_exact(garnet(4, 2, 0), chains=32)
    numbers = {row["number"] for row in rows}
    assert (
        len(rows) == len(measured.layouts) * len(OBJECTIVES) * len(numbers) and len(numbers) == 10
    )
    inside = [row["inside"] for row in rows if row["inside"] is not None]
    # Rows of one pool go together, so this is far below the 95 % of many pools.
    assert len(inside) > len(rows) / 2 and np.mean(inside) > 0.6
