"""The picture of batch gradients, against exact means and variances."""

import numpy as np
import pytest

from nbyt.exact import garnet, moments
from nbyt.gradients.spec import AdvantageScale
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.measure.plane import draw_plane
from nbyt.measure.request import Resources, make_request


@pytest.fixture(scope="module")
def drawn() -> list[dict]:
    """Planes of a random MDP with a wrong critic, at two T."""
    control = garnet(6, 2, 0)
    request = make_request(
        control.stage.facts,
        batch=256,
        steps=[2, 32],
        gamma=control.gamma,
        lam=control.lam,
        chains=64,
        seed=5,
    )
    scale = AdvantageScale(np.zeros((2, 1)), np.ones((2, 1)), 0.0, 0.0, 1.0)
    return draw_plane(
        FrozenStage(control.env, control.stage),
        request,
        scale,
        (2, 32),
        Resources(),
        lambda what, done, total: None,
    )


def _exact(steps: int):
    control = garnet(6, 2, 0)
    given = {"steps": steps, "gamma": control.gamma, "lam": control.lam}
    return moments(control.env, control.stage, **given).actor


@pytest.mark.parametrize("place", [0, 1])
def test_the_mean_lies_where_the_exact_one_does(drawn: list[dict], place: int) -> None:
    own = drawn[place]
    exact = _exact(own["steps"])
    size = np.linalg.norm(exact.reference)
    along = np.vdot(exact.mean, exact.reference) / size**2
    across = np.sqrt(max(np.vdot(exact.mean, exact.mean) / size**2 - along**2, 0.0))
    assert own["mean"] == pytest.approx([along, across], abs=0.1)


@pytest.mark.parametrize("place", [0, 1])
def test_the_spread_is_part_of_the_exact_variance_and_that_of_the_points(
    drawn: list[dict], place: int
) -> None:
    own = drawn[place]
    exact = _exact(own["steps"])
    whole = float(exact.variance) / own["envs"] / np.vdot(exact.reference, exact.reference)
    spread = np.array(own["covariance"])
    assert 0 < np.trace(spread) < 1.1 * whole
    points = np.array(own["points"])
    assert len(points) == 80
    assert points.mean(0) == pytest.approx(own["mean"], abs=5 * np.sqrt(spread.max() / 80))
    assert np.trace(np.cov(points.T)) == pytest.approx(np.trace(spread), rel=0.5)
