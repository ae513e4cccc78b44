"""Problems of real size: 200-step limits as states, 3,000 parameters, and where it stops."""

import numpy as np
import pytest

from nbyt import exact
from nbyt.envs import tabular
from nbyt.errors import UsageError
from nbyt.exact import limits
from nbyt.policy.actor_critic import table


def test_frozenlake_with_its_limit_is_the_long_chain_of_its_tables() -> None:
    """64 x 200 states. Without ends the two agree; with a true critic a limit brings no bias."""
    control = exact.frozenlake("mid")
    limited = tabular.find("FrozenLake8x8-v1")
    assert limited.time_limit == 200
    asked = {"steps": 3, "gamma": 0.99, "lam": 0.95}
    found = exact.moments(limited, control.stage, **asked).actor
    size = np.linalg.norm(found.reference)
    assert np.sqrt(found.bias.squared) < 1e-5 * size
    free = exact.moments(control.env, control.stage, **asked).actor
    assert found.variance == pytest.approx(free.variance, rel=0.2)
    # From a reset no rollout of 3 steps meets the limit, so there it cannot matter.
    one, other = (
        exact.moments(env, control.stage, start="reset", **asked).actor
        for env in (limited, control.env)
    )
    np.testing.assert_allclose(one.mean, other.mean, atol=1e-15)
    assert one.variance == pytest.approx(other.variance, rel=1e-12)


def test_taxi_has_3000_logits() -> None:
    control = exact.taxi()
    asked = {"steps": 4, "gamma": control.gamma, "lam": control.lam}
    found = exact.moments(control.env, control.stage, **asked).actor
    assert found.mean.shape == (3000,)
    assert np.sqrt(found.bias.squared) < 1e-4 * np.linalg.norm(found.reference)
    lags = exact.lags(control.env, control.stage, count=3, **asked).actor
    assert lags.variance == pytest.approx(found.variance, rel=1e-10)


def test_what_is_too_large_is_refused_before_it_is_begun() -> None:
    control = exact.taxi()
    env = tabular.find("Taxi-v4")
    with pytest.raises(UsageError, match=r"gradient of 3,000 parameters in [\d,]+ states") as error:
        exact.moments(env, control.stage, steps=4, gamma=0.99, lam=0.95)
    assert "numbers at a time" in error.value.message and "GB" in error.value.message
    assert "time_limit=None" in error.value.fix


def test_a_long_limit_is_refused_before_its_states_are_counted() -> None:
    one = np.ones((1, 1, 1))
    env = tabular.from_arrays(one, one, one < 0, [1.0], time_limit=limits.MOST_NUMBERS + 1)
    with pytest.raises(UsageError, match="states of env and time limit"):
        exact.moments(env, table([[0.0]], [0.0]), steps=1, gamma=0.9, lam=0.9)


@pytest.mark.parametrize("steps", [10**9])
def test_many_steps_are_refused(steps) -> None:
    control = exact.sticky()
    with pytest.raises(UsageError, match="the law of the state at every step"):
        exact.moments(control.env, control.stage, steps=steps, gamma=0.99, lam=0.95)
    with pytest.raises(UsageError, match="the law of the state at every update"):
        exact.phase(control.env, control.stage, steps=1, updates=steps, gamma=0.99, lam=0.95)


def test_sources_of_many_steps_are_refused() -> None:
    control = exact.frozenlake()
    asked = {"steps": 100_000, "gamma": 0.99, "lam": 0.95}
    with pytest.raises(UsageError, match="the sources of 100,000 steps"):
        _ = exact.sources(control.env, control.stage, **asked).actor
