"""Contributions of transitions: DQN's own gradient is their mean, and a step's gain is real."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from nbyt.envs import resolve
from nbyt.objective.dqn import Transitions, dqn_loss
from nbyt.policy.networks import parse_network
from nbyt.policy.q_policy import build_q, weights_of
from nbyt.train.dqn import DQNSettings, rates_of
from nbyt_studies.measure.td import STEP_SIZES, best_gain, losses_after, td_contributions

RATES = rates_of(DQNSettings(gamma=0.9, huber=2.0))
COUNT = 150  # more than one chunk, and not a whole number of them


@pytest.fixture(scope="module")
def frozen():
    """A small network, another as its target, and made-up transitions."""
    env = resolve("gymnax:CartPole-v1")
    policy = build_q(env.observation_space, env.action_space, parse_network("8", "tanh"))
    weights, target = (weights_of(policy.init(jax.random.key(seed))) for seed in (0, 1))
    draw = np.random.default_rng(0)
    seen = draw.normal(size=(2, COUNT, 4)).astype(np.float32)
    rows = Transitions(
        seen[0],
        draw.integers(2, size=COUNT).astype(np.int32),
        draw.normal(size=COUNT).astype(np.float32) * 3,
        draw.random(COUNT) < 0.2,
        seen[1],
        np.ones(COUNT, bool),
    )
    return policy, weights, target, jax.tree.map(jnp.asarray, rows)


@pytest.mark.parametrize("double", [False, True])
def test_the_loss_of_a_minibatch_has_their_mean_as_gradient(frozen, double) -> None:
    policy, weights, target, rows = frozen
    each = np.asarray(td_contributions(policy, weights, target, rows, RATES, double=double))
    places = np.array([3, 77, 77, 149, 0])
    minibatch = jax.tree.map(lambda x: x[places], rows)
    gradient = jax.grad(lambda w: dqn_loss(policy, w, target, minibatch, RATES, double=double)[0])(
        weights
    )
    np.testing.assert_allclose(
        each[places].mean(0), ravel_pytree(gradient)[0], rtol=1e-4, atol=1e-6
    )


def test_steps_along_the_whole_gradient_gain_and_against_it_lose(frozen) -> None:
    policy, weights, target, rows = frozen
    each = np.asarray(td_contributions(policy, weights, target, rows, RATES, double=True))
    whole = each.mean(0)
    both = np.stack([whole, 0 * whole, -whole])
    found = np.asarray(losses_after(policy, weights, target, rows, RATES, both, double=True))
    before = float(dqn_loss(policy, weights, target, rows, RATES, double=True)[0])
    np.testing.assert_allclose(found[1], before, rtol=1e-5)
    assert found.shape == (3, len(STEP_SIZES))
    assert best_gain(found[:1], before) > 0 > best_gain(found[2:], before)
    small = STEP_SIZES[6]
    assert before - found[0, 6] == pytest.approx(small * float(whole @ whole), rel=0.1)
