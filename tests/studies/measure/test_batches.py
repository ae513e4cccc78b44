"""Fresh batches, and the gradients of their steps and of transitions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from nbyt import exact
from nbyt.collect.pool import Pool
from nbyt.envs import resolve
from nbyt.policy.actor_critic import Stage, build
from nbyt.policy.networks import parse_network
from nbyt.policy.q_policy import build_q, weights_of
from nbyt.training.dqn import DQNSettings, rates_of
from nbyt.training.losses import Transitions, dqn_loss
from nbyt_studies.comparisons import batch_gram, expected_cosine
from nbyt_studies.measure.batches import (
    STEP_SIZES,
    batch_advantages,
    best_gain,
    collect_batches,
    contributions,
    fragment_means,
    lagged_products,
    losses_after,
    td_contributions,
)

ENV = resolve("gymnax:Pendulum-v1")


def _stage() -> Stage:
    policy = build(ENV.observation_space, ENV.action_space, parse_network("8x8"))
    return Stage(policy, policy.init(jax.random.key(0)), {"env": ENV.id})


STAGE = _stage()


@pytest.fixture(scope="module")
def pools() -> list[Pool]:
    """Three batches of 2 x 12 and three of 4 x 6."""
    return collect_batches(ENV, STAGE, [(2, 12), (4, 6)], batches=3, seed=5)


def _advantages(pool: Pool, envs: int, *, normalise: bool = False) -> np.ndarray:
    return batch_advantages(pool, gamma=0.9, lam=0.95, envs=envs, normalise=normalise)


def test_each_layout_has_chains_of_its_own(pools: list[Pool]) -> None:
    assert [pool.reward.shape for pool in pools] == [(12, 6), (6, 12)]
    starts = np.concatenate([pool.observation[0] for pool in pools])
    assert len(np.unique(starts, axis=0)) == 18
    again = collect_batches(ENV, STAGE, [(2, 12), (4, 6)], batches=3, seed=5)
    np.testing.assert_array_equal(pools[1].reward, again[1].reward)
    other = collect_batches(ENV, STAGE, [(2, 12), (4, 6)], batches=3, seed=5, round=1)
    assert not np.isclose(pools[1].reward, other[1].reward).any()


def test_a_chains_mean_contribution_is_the_gradient_of_ppos_loss(pools: list[Pool]) -> None:
    pool = pools[0]
    advantage = _advantages(pool, 2)

    def gain(actor: object) -> jax.Array:
        own, seen = STAGE.params._replace(actor=actor), jnp.asarray(pool.observation)
        chosen = STAGE.policy.parameters(own, seen)
        log_prob = STAGE.policy.head.log_prob(chosen, jnp.asarray(pool.action))
        return jnp.mean(advantage * log_prob)

    truth = jax.grad(gain)(STAGE.params.actor)
    square = sum(float(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(truth))
    steps = contributions(STAGE, pool, advantage)
    whole = steps.mean(axis=(0, 1))
    assert whole @ whole == pytest.approx(square, rel=1e-4)
    scale = np.abs(steps).max()
    means = fragment_means(STAGE, pool, np.stack([advantage, 2 * advantage]))
    np.testing.assert_allclose(means[0], steps.mean(axis=0), atol=1e-5 * scale)
    np.testing.assert_allclose(means[1], 2 * means[0], atol=1e-5 * scale)


def test_lagged_products_are_those_of_written_out_scores(pools: list[Pool]) -> None:
    pool = pools[0]
    scores = contributions(STAGE, pool, np.ones((12, 6)))
    found = lagged_products(STAGE, pool, (1, 5))
    scale = float(np.max(found.square))
    np.testing.assert_allclose(found.square, np.sum(scores**2, axis=-1), atol=1e-5 * scale)
    for lag in (1, 5):
        within = np.sum(scores[:-lag] * scores[lag:], axis=-1)
        np.testing.assert_allclose(found.within[lag], within, atol=1e-5 * scale)
    for lag in (0, 1, 5):
        other = np.roll(scores, -1, axis=1)[lag:]
        across = np.sum(scores[: 12 - lag] * other, axis=-1)
        np.testing.assert_allclose(found.across[lag], across, atol=1e-5 * scale)


def test_normalised_advantages_have_mean_zero_and_spread_one_in_each_batch(
    pools: list[Pool],
) -> None:
    own = _advantages(pools[1], 4, normalise=True).reshape(6, 3, 4)
    np.testing.assert_allclose(own.mean(axis=(0, 2)), 0, atol=1e-6)
    np.testing.assert_allclose(own.std(axis=(0, 2)), 1, atol=1e-6)


def test_agreement_of_batches_is_what_the_oracle_says() -> None:
    control = exact.sticky(0.1)
    steps, envs, batches = 8, 4, 64
    (pool,) = collect_batches(control.env, control.stage, [(envs, steps)], batches=batches, seed=0)
    advantage = batch_advantages(pool, gamma=control.gamma, lam=control.lam, envs=envs)
    rollouts = contributions(control.stage, pool, advantage).mean(axis=0)
    truth = exact.moments(
        control.env, control.stage, steps=steps, gamma=control.gamma, lam=control.lam
    ).actor
    variance = float(np.var(rollouts, axis=0, ddof=1).sum())
    assert variance == pytest.approx(truth.variance, rel=0.25)
    found = expected_cosine(batch_gram(rollouts @ rollouts.T, envs))
    expected = truth.noise_factor(envs)
    assert found.low is not None and found.high is not None and expected is not None
    assert found.low < expected < found.high


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
