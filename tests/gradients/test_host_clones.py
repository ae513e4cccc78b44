"""Laws of clones on the host: they share with the rollout what those on the device do."""

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest
from tests.collect import toys
from tests.gradients.rings import DISCOUNT, differ, ring, stage

from nbyt.envs import gymnasium_suite
from nbyt.envs.lookup import resolve
from nbyt.gradients.clones import ClonePlan
from nbyt.gradients.host_clones import host_clones, why_not


def lake(*, slippery: bool) -> gymnasium_suite.GymnasiumEnv:
    """FrozenLake with a short time limit, on the host."""
    return gymnasium_suite.GymnasiumEnv(
        "tests:lake",
        lambda: gymnasium.make("FrozenLake-v1", is_slippery=slippery, max_episode_steps=7),
    )


@pytest.mark.parametrize("certain", [True, False])
def test_host_clones_share_what_they_should(certain) -> None:
    given = stage(16, 4, certain=certain)
    plan = ClonePlan(2, 8, 5, DISCOUNT, 0)
    made = list(host_clones(lake(slippery=False), given.policy, given.params, plan))
    assert len(made) == 2 and made[0].own.shape == (5, 8)
    for block in made:
        assert block.ended.any()
        np.testing.assert_allclose(block.echo, block.own, atol=1e-6)
        np.testing.assert_allclose(block.onward, block.first, atol=1e-6)
        assert differ(block.first, block.second) != certain
    if certain:
        np.testing.assert_allclose(made[0].first, made[0].own, atol=1e-6)


def test_host_clones_draw_new_answers() -> None:
    given = stage(16, 4, certain=True)
    plan = ClonePlan(1, 24, 4, DISCOUNT, 0)
    (made,) = host_clones(lake(slippery=True), given.policy, given.params, plan)
    np.testing.assert_allclose(made.onward[-1], made.own[-1], atol=1e-6)
    np.testing.assert_allclose(made.echo[-1], made.first[-1], atol=1e-6)
    for one, other in (("first", "second"), ("first", "own"), ("echo", "own"), ("onward", "own")):
        assert differ(getattr(made, one)[:-1], getattr(made, other)[:-1]), (one, other)
    # An answer of three is often the rollout's own: then the same randomness gives the same future.
    alike = [jnp.mean(jnp.abs(x - made.own)[:-1] < 1e-6) for x in (made.echo, made.first)]
    assert alike[0] > alike[1] + 0.15, alike


def test_an_env_that_cannot_be_copied_says_why() -> None:
    hidden = gymnasium_suite.GymnasiumEnv("tests:coin", toys.Coin)
    assert "'tests:coin' cannot be copied" in (why_not(hidden) or "")
    assert why_not(ring(slippery=True)) is None
    assert why_not(resolve("gym:CartPole-v1")) is None
