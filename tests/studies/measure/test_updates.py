"""What one update does, followed step by step."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.measure.auditing import cut_batch, frozen_batches, slots
from nbyt.minibatch import shuffle_and_chop
from nbyt.policy.actor_critic import Stage, build, table
from nbyt.policy.distributions import Categorical, Gaussian
from nbyt.policy.networks import Network
from nbyt.rng import numpy_stream
from nbyt.training.algorithms import ppo
from nbyt.training.plan import PPOSettings
from nbyt_studies.measure.batches import minibatch_gradients, subsample
from nbyt_studies.measure.updates import (
    actor_step,
    contribution_gap,
    divergence,
    follow_update,
    policy_divergence,
    visited,
)

LAYOUT = Layout(envs=4, steps=16, minibatch=16, epochs=2)
SETTINGS = PPOSettings(network="8", learning_rate=0.05)
NUMBERS = ppo.coefficients_of(SETTINGS)


@pytest.fixture(scope="module")
def frozen():
    """A small CartPole stage and two of its batches."""
    env = resolve("gymnax:CartPole-v1")
    policy = build(env.observation_space, env.action_space, SETTINGS.parsed_network)
    params = policy.init(jax.random.key(1))
    # Actions that are nearly uniform have scores that hardly differ: a policy with a mind.
    head = {**params.actor["head"], "w": 50 * params.actor["head"]["w"]}
    stage = Stage(policy, params._replace(actor={**params.actor, "head": head}))
    return stage, frozen_batches(env, stage, LAYOUT, SETTINGS, 2, seed=5)


def scores(stage: Stage, batch) -> np.ndarray:
    """Every step's score, written out [B, P]."""

    def log_prob(actor, observation, action):
        own = stage.params._replace(actor=actor)
        return stage.policy.head.log_prob(stage.policy.parameters(own, observation), action)

    each = jax.vmap(jax.grad(log_prob), (None, 0, 0))
    tree = each(stage.params.actor, batch.observation, batch.action)
    return np.concatenate([np.reshape(x, (LAYOUT.batch, -1)) for x in jax.tree.leaves(tree)], 1)


def test_batches_are_of_the_policy_and_of_different_envs(frozen) -> None:
    stage, (first, second) = frozen
    assert first.observation.shape == (LAYOUT.batch, 4)
    value = stage.policy.value(stage.params, first.observation)
    np.testing.assert_allclose(first.value, value, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(first.target, first.value + first.advantage, rtol=1e-6)
    assert not np.any(np.all(np.asarray(first.observation) == second.observation, axis=-1))


def test_at_ratio_1_the_loss_has_the_mean_contribution_and_elsewhere_not(frozen) -> None:
    stage, (batch, _) = frozen
    for settings in (SETTINGS, replace(SETTINGS, normalise_advantages="off")):
        inputs = (stage.policy, settings.form, stage.params)
        assert contribution_gap(*inputs, batch, NUMBERS) < 1e-5
        moved = batch._replace(log_prob=batch.log_prob + 0.1 * jnp.sign(batch.advantage))
        assert contribution_gap(*inputs, moved, NUMBERS) > 0.01


def test_a_followed_update_is_the_one_that_training_makes(frozen) -> None:
    stage, (batch, _) = frozen
    indices = shuffle_and_chop(LAYOUT, numpy_stream(0, "shuffle"))
    fresh = ppo.fresh_optimiser(SETTINGS, stage.params, "actor")
    rest = (batch, NUMBERS, jnp.float32(SETTINGS.learning_rate), indices)
    drift, optimiser = follow_update(
        stage.policy, SETTINGS.form, "actor", stage.params, fresh, *rest, every=4
    )
    weights = ppo.trained(stage.params, "actor")
    trained, state, seen = ppo.improve(
        stage.policy, SETTINGS.form, "actor", weights, None, fresh, *rest
    )
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, 1e-4, 1e-6), optimiser, state)
    np.testing.assert_allclose(drift.minibatch_clip_fraction.mean(), seen["clip_fraction"], 1e-5)
    parameters = stage.policy.parameters(stage.params._replace(**trained), batch.observation)
    ratio = np.exp(stage.policy.head.log_prob(parameters, batch.action) - batch.log_prob)
    np.testing.assert_allclose(drift.ratio[-1], np.abs(ratio - 1).mean(), rtol=1e-3)
    np.testing.assert_allclose(drift.clip_fraction[-1], np.mean(np.abs(ratio - 1) > 0.2), 1e-5)


def test_a_followed_update_begins_at_the_batch_gradient(frozen) -> None:
    stage, (batch, _) = frozen
    indices = shuffle_and_chop(LAYOUT, numpy_stream(0, "shuffle"))
    fresh = ppo.fresh_optimiser(SETTINGS, stage.params, "actor")
    rest = (batch, NUMBERS, jnp.float32(SETTINGS.learning_rate), indices)
    drift, _ = follow_update(
        stage.policy, SETTINGS.form, "actor", stage.params, fresh, *rest, every=4
    )
    assert drift.ratio.shape == (3,) and drift.minibatch_cosine.shape == (8,)
    begin = [drift.ratio[0], drift.clip_fraction[0], drift.cosine[0], drift.length[0]]
    np.testing.assert_allclose(begin, [0, 0, 1, 1], atol=1e-5)
    own = scores(stage, batch)
    whole, part = (_normalised_mean(own, np.asarray(batch.advantage), i) for i in (..., indices[0]))
    cosine = whole @ part / np.linalg.norm(whole) / np.linalg.norm(part)
    np.testing.assert_allclose(drift.minibatch_cosine[0], cosine, rtol=1e-3)


def _normalised_mean(own: np.ndarray, advantage: np.ndarray, rows) -> np.ndarray:
    some = advantage[rows]
    return (some - some.mean()) / some.std() @ own[rows]


def test_minibatches_scatter_as_their_contributions_written_out_do(frozen) -> None:
    stage, (batch, _) = frozen
    indices = shuffle_and_chop(LAYOUT, numpy_stream(2, "shuffle")).reshape(2, 4, 16)
    weight = np.asarray(batch.advantage)
    found = subsample(stage.policy, stage.params, "actor", batch, weight, indices, joined=(1, 2, 4))
    own = scores(stage, batch) * weight[:, None]
    whole = own.mean(0)
    np.testing.assert_allclose(found.mean_square, (own**2).sum(-1).mean(), rtol=1e-4)
    np.testing.assert_allclose(found.gradient @ found.gradient, whole @ whole, rtol=1e-4)
    for scatter, count in zip(found.scatter, (1, 2, 4), strict=True):
        apart = own[indices].mean(2).reshape(2, 4 // count, count, -1).mean(2) - whole
        expected = (apart**2).sum(-1).mean(-1)
        np.testing.assert_allclose(scatter.square, expected, rtol=1e-4, atol=1e-8 * (whole @ whole))
        np.testing.assert_allclose(scatter.centre, 0, atol=1e-8 * (own**2).sum(-1).mean())
        np.testing.assert_allclose(scatter.along, 1, rtol=1e-4)
    written = minibatch_gradients(stage.policy, stage.params, "actor", batch, weight, indices[0])
    lengths = np.linalg.norm(own[indices[0]].mean(1), axis=-1)
    np.testing.assert_allclose(np.linalg.norm(written, axis=-1), lengths, rtol=1e-4)


def test_minibatches_of_any_sizes_are_weighted_means_of_contributions(frozen) -> None:
    """Sizes differ, one has a sample twice, and there is room for more mini-batches than given."""
    stage, (batch, _) = frozen
    contributions = scores(stage, batch) * np.asarray(batch.advantage)[:, None]
    minibatches = [np.arange(5), np.array([7, 7, 9]), np.arange(64), np.array([63])]
    found = cut_batch(
        stage.policy, stage.params, "actor", batch, batch.advantage, slots(minibatches, 6, 64)
    )
    each = np.stack([contributions[one].mean(0) for one in minibatches])
    whole = contributions.mean(0)
    assert found.gradient @ found.gradient == pytest.approx(whole @ whole, rel=1e-4)
    assert found.mean_square == pytest.approx((contributions**2).sum(-1).mean(), rel=1e-4)
    assert found.mean @ found.mean == pytest.approx(each.mean(0) @ each.mean(0), rel=1e-4)
    assert found.mean @ found.gradient == pytest.approx(each.mean(0) @ whole, rel=1e-4)
    assert found.square == pytest.approx((each**2).sum(-1).mean(), rel=1e-4)


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
