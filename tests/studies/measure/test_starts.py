"""Starts: what actions are worth, beside a table, and distances that begin at one."""

import jax
import numpy as np
import pytest
from scipy.special import softmax

from nbyt import exact
from nbyt.envs import resolve
from nbyt.exact.values import policy_values
from nbyt.policy.actor_critic import Stage, build
from nbyt.policy.networks import Network
from nbyt_studies.measure.batches import collect_batches
from nbyt_studies.measure.starts import advantage_quality, separation
from nbyt_studies.post.experiments import critics


def test_the_quality_of_advantages_on_a_table_is_the_known_one() -> None:
    control = exact.garnet(4, 2, 3)
    env, stage, gamma = control.env, control.stage, control.gamma
    places = {"steps": (2, 8), "lambdas": (0.5, 1.0)}
    found = advantage_quality(env, stage, starts=20_000, horizon=48, gamma=gamma, seed=0, **places)
    law = softmax(np.asarray(stage.params.actor["logits"], float), axis=1)
    values = policy_values(env, law, gamma)
    (pool,) = collect_batches(env, stage, [(1, 48)], batches=4000, seed=0)
    true = (values.action - values.state[:, None])[pool.observation, pool.action]
    known = critics.known_quality(pool, true, places["steps"], places["lambdas"], gamma)
    assert len(found) == len(known) == 4
    for one, other in zip(found, known, strict=True):
        assert one["truth"] == pytest.approx(other["truth"], rel=0.1)
        assert one["variance"] == pytest.approx(other["variance"], rel=0.15)
        assert one["covariance"] == pytest.approx(other["covariance"], rel=0.15)


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
