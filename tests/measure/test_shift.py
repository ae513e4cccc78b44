"""How far an update moves: divergences by hand, and the same luck for two stages."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nbyt.envs import resolve
from nbyt.policy import table
from nbyt.policy.actor_critic import build
from nbyt.policy.distributions import Categorical, Gaussian
from nbyt.policy.networks import Network
from nbyt.policy.stage import Stage
from nbyt_studies.measure.updates import actor_step, divergence, policy_divergence, visited


def test_divergence_of_choices_by_hand() -> None:
    p, q = np.array([0.2, 0.8]), np.array([0.5, 0.5])
    found = divergence(Categorical(2), jnp.log(p) + 3.0, jnp.log(q))
    assert float(found) == pytest.approx(float((p * np.log(p / q)).sum()), rel=1e-5)


def test_divergence_of_normals_is_the_mean_log_ratio() -> None:
    head = Gaussian((2,), (-1.0, -1.0), (1.0, 1.0))
    first, second = jnp.array([0.1, -0.4, 0.0, -0.5]), jnp.array([0.3, 0.2, 0.2, 0.1])
    noise = head.noise(jax.random.key(0), (200_000,))
    actions = head.sample(first, noise)
    ratio = head.log_prob(first, actions) - head.log_prob(second, actions)
    error = float(ratio.std()) / np.sqrt(len(ratio))
    assert float(divergence(head, first, second)) == pytest.approx(
        float(ratio.mean()), abs=4 * error
    )


def test_a_stage_compared_with_itself_and_with_another() -> None:
    first, second = table(np.zeros((3, 2)), np.zeros(3)), table(np.eye(3, 2), np.zeros(3))
    states = np.array([[0, 1], [2, 2]])
    assert np.array_equal(policy_divergence(first, first, states), np.zeros((2, 2)))
    assert (policy_divergence(first, second, states)[0] > 0).all()
    assert np.array_equal(actor_step(first, second), np.eye(3, 2).ravel())


def test_the_same_seed_is_the_same_luck() -> None:
    env = resolve("gymnax:CartPole-v1")
    policy = build(env.observation_space, env.action_space, Network("mlp", (4,)))
    stage = Stage(policy, policy.init(jax.random.key(0)), {})
    sizes = {"chains": 3, "points": 2, "apart": 5}
    one, again, other = (visited(env, stage, **sizes, seed=s) for s in (0, 0, 1))
    assert one.shape == (3, 2, 4)
    assert np.array_equal(one, again) and not np.array_equal(one, other)
