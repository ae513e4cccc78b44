"""What the start decides: the exact share on a table, and distances that begin at one."""

import jax
import numpy as np

from nbyt import exact
from nbyt.envs import resolve
from nbyt.policy.actor_critic import Stage, build
from nbyt.policy.networks import Network
from nbyt_studies.measure.starts import separation, start_share


def test_the_share_on_a_table_is_the_exact_one() -> None:
    control = exact.garnet(4, 2, 3)
    options = {"gamma": control.gamma, "lam": control.lam}
    found = start_share(
        control.env, control.stage, starts=300, again=4, steps=(2, 6), seed=0, **options
    )
    for steps, share in zip((2, 6), found, strict=True):
        parts = exact.sources(control.env, control.stage, steps=steps, centre=True, **options).actor
        truth = parts.start / parts.variance
        # 95 % intervals of two T from the same rollouts: twice the width is never left.
        slack = (share.high - share.low) / 2
        assert share.low - slack <= truth <= share.high + slack


def test_nearby_starts_begin_at_one_and_unrelated_ones_far_away() -> None:
    env = resolve("gymnax:CartPole-v1")
    policy = build(env.observation_space, env.action_space, Network("mlp", (8,)))
    stage = Stage(policy, policy.init(jax.random.key(1)), {"env": env.id})
    found = separation(env, stage, starts=24, steps=20, seed=0)
    assert found.growth.shape[1] == 20 and len(found.growth) == len(found.unrelated)
    np.testing.assert_allclose(found.growth[:, 0], 1.0)
    assert np.isfinite(found.growth).all()
    # Unrelated starts are much further apart than a thousandth of the spread.
    assert np.median(found.unrelated) > 50
    again = separation(env, stage, starts=24, steps=20, seed=0)
    assert np.array_equal(found.growth, again.growth)
