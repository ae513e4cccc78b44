"""Laws of PPO's losses, against per-sample gradients and the formulas written out."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from nbyt.objective.ppo import Batch, Coefficients, actor_loss, critic_loss, mean, normalised
from nbyt.policy.actor_critic import build
from nbyt.policy.networks import parse_network

SIZE = 24


def coefficients(**changed: float) -> Coefficients:
    """Settings without entropy bonus, with those that the test changes."""
    plain = {
        "gamma": 0.99,
        "lam": 0.95,
        "clip": 0.2,
        "value_clip": 0.3,
        "entropy_coefficient": 0.0,
        "value_coefficient": 1.0,
    }
    return Coefficients(**{k: jnp.float32(v) for k, v in {**plain, **changed}.items()})


@cache
def actor_critic(kind: str):
    """A small policy of that kind of action, with parameters that are not its fresh ones."""
    actions = {"discrete": Discrete(3), "box": Box(-1, 1, (2,))}[kind]
    policy = build(Box(-1, 1, (4,)), actions, parse_network("8"))
    leaves, tree = jax.tree.flatten(policy.init(None))
    generator = np.random.default_rng(0)
    drawn = [jnp.asarray(generator.normal(size=x.shape) / 2, jnp.float32) for x in leaves]
    return policy, jax.tree.unflatten(tree, drawn)


@partial(jax.jit, static_argnames=("policy",))
def on_policy_batch(policy, params) -> Batch:
    """A batch whose old log-probabilities are the policy's own, so that every ratio is 1."""
    observation = jax.random.normal(jax.random.key(50), (SIZE, 4))
    parameters = policy.parameters(params, observation)
    action = policy.head.sample(parameters, policy.head.noise(jax.random.key(51), (SIZE,)))
    advantage, target, shift = jax.random.normal(jax.random.key(52), (3, SIZE))
    value = policy.value(params, observation)
    log_prob = policy.head.log_prob(parameters, action)
    return Batch(
        observation, action, log_prob, value + shift, advantage, target * 2, jnp.ones(SIZE)
    )


@partial(jax.jit, static_argnames=("policy",))
def actor_gradient(policy, params, batch, chosen):
    return jax.grad(lambda p: actor_loss(policy, p, batch, chosen)[0])(params)


@partial(jax.jit, static_argnames=("policy",))
def critic_gradient(policy, params, batch, chosen):
    return jax.grad(lambda p: critic_loss(policy, p, batch, chosen, value_clip=True)[0])(params)


def assert_trees_close(first, second, **tolerance) -> None:
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_allclose(a, b, **tolerance)


@pytest.mark.parametrize("kind", ["discrete", "box"])
def test_at_ratio_one_the_gradient_is_minus_the_mean_of_advantage_times_score(kind) -> None:
    policy, params = actor_critic(kind)
    batch = on_policy_batch(policy, params)

    def log_prob(p, observation, action):
        return policy.head.log_prob(policy.parameters(p, observation[None]), action[None])[0]

    per_sample = jax.vmap(jax.grad(log_prob), in_axes=(None, 0, 0))
    scores = jax.jit(per_sample)(params, batch.observation, batch.action)
    expected = jax.tree.map(lambda s: -jnp.tensordot(batch.advantage, s, axes=1) / SIZE, scores)
    found = actor_gradient(policy, params, batch, coefficients())
    assert max(float(jnp.abs(x).max()) for x in jax.tree.leaves(found)) > 0.01
    assert_trees_close(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["discrete", "box"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("ratio", [0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 2.0])
def test_clipping_stops_the_gradient_exactly_where_it_should(kind, sign, ratio) -> None:
    """No gradient above 1 + clip for a good action and below 1 - clip for a bad one; else full."""
    policy, params = actor_critic(kind)
    batch = on_policy_batch(policy, params)
    batch = batch._replace(
        log_prob=batch.log_prob - jnp.log(ratio), advantage=jnp.full(SIZE, sign, jnp.float32)
    )
    found = actor_gradient(policy, params, batch, coefficients(clip=0.2))
    stopped = (sign > 0 and ratio > 1.2) or (sign < 0 and ratio < 0.8)
    if stopped:
        assert all((x == 0).all() for x in jax.tree.leaves(found))
        return
    unclipped = actor_gradient(policy, params, batch, coefficients(clip=100.0))
    assert any((x != 0).any() for x in jax.tree.leaves(found))
    assert_trees_close(found, unclipped, rtol=1e-6)


def test_the_numbers_are_their_formulas() -> None:
    policy, params = actor_critic("discrete")
    batch = on_policy_batch(policy, params)
    shift = np.linspace(-0.5, 0.5, SIZE).astype(np.float32)
    batch = batch._replace(log_prob=batch.log_prob - shift)
    loss, numbers = actor_loss(
        policy, params, batch, coefficients(clip=0.2, entropy_coefficient=0.1)
    )
    ratio, advantage = np.exp(shift), np.asarray(batch.advantage)
    gain = np.minimum(ratio * advantage, np.clip(ratio, 0.8, 1.2) * advantage)
    logits = np.asarray(policy.parameters(params, batch.observation), float)
    chance = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    entropy = -(chance * np.log(chance)).sum(1).mean()
    np.testing.assert_allclose(numbers.policy_loss, -gain.mean(), rtol=1e-5)
    np.testing.assert_allclose(numbers.entropy, entropy, rtol=1e-5)
    np.testing.assert_allclose(loss, -gain.mean() - 0.1 * entropy, rtol=1e-5)
    np.testing.assert_allclose(numbers.approximate_kl, (ratio - 1 - shift).mean(), rtol=1e-4)
    np.testing.assert_allclose(numbers.clip_fraction, (np.abs(ratio - 1) > 0.2).mean(), rtol=1e-6)


@pytest.mark.parametrize("value_clip", [True, False])
def test_the_critics_loss_is_its_formula(value_clip) -> None:
    policy, params = actor_critic("discrete")
    batch = on_policy_batch(policy, params)
    chosen = coefficients(value_clip=0.3, value_coefficient=0.7)
    weighted, plain = critic_loss(policy, params, batch, chosen, value_clip=value_clip)
    value = np.asarray(policy.value(params, batch.observation), float)
    old, target = np.asarray(batch.value, float), np.asarray(batch.target, float)
    errors = []
    for now, before, wanted in zip(value, old, target, strict=True):
        near = min(max(now, before - 0.3), before + 0.3)
        both = [(now - wanted) ** 2, (near - wanted) ** 2]
        errors.append(max(both) if value_clip else both[0])
    np.testing.assert_allclose(plain, np.mean(errors) / 2, rtol=1e-5)
    np.testing.assert_allclose(weighted, 0.7 * np.mean(errors) / 2, rtol=1e-5)


def test_value_clipping_matters_in_the_test_above() -> None:
    policy, params = actor_critic("discrete")
    batch = on_policy_batch(policy, params)
    losses = [
        critic_loss(policy, params, batch, coefficients(), value_clip=c)[1] for c in (True, False)
    ]
    assert losses[0] > losses[1] * 1.01


def spoilt(batch: Batch) -> tuple[Batch, Batch]:
    """The first 10 rows alone, and all rows with the others marked as no experience."""
    alone = jax.tree.map(lambda x: x[:10], batch)
    wild = batch._replace(
        advantage=batch.advantage.at[10:].set(1e3),
        target=batch.target.at[10:].set(-1e3),
        valid=batch.valid.at[10:].set(0.0),
    )
    return alone, wild


def test_rows_that_are_no_experience_change_nothing() -> None:
    policy, params = actor_critic("box")
    chosen = coefficients(entropy_coefficient=0.01)
    alone, wild = spoilt(on_policy_batch(policy, params))
    results = []
    for batch in (alone, wild):
        loss, numbers = actor_loss(policy, params, batch, chosen)
        critic = critic_loss(policy, params, batch, chosen, value_clip=True)
        slopes = [f(policy, params, batch, chosen) for f in (actor_gradient, critic_gradient)]
        results.append((loss, numbers, critic, slopes, normalised(batch)[:10]))
    assert_trees_close(*results, rtol=1e-5, atol=1e-6)


def test_without_experience_the_losses_are_zero_and_finite() -> None:
    policy, params = actor_critic("discrete")
    batch = on_policy_batch(policy, params)
    batch = batch._replace(valid=jnp.zeros(SIZE))
    assert actor_loss(policy, params, batch, coefficients())[0] == 0
    assert critic_loss(policy, params, batch, coefficients(), value_clip=True)[0] == 0
    assert np.isfinite(normalised(batch)).all()


def test_normalised_advantages_have_mean_0_and_deviation_1_over_the_experience() -> None:
    policy, params = actor_critic("discrete")
    batch = on_policy_batch(policy, params)
    batch = batch._replace(valid=batch.valid.at[::3].set(0.0), advantage=batch.advantage * 50 + 7)
    kept = np.asarray(normalised(batch))[np.asarray(batch.valid) == 1]
    np.testing.assert_allclose([kept.mean(), kept.std()], [0, 1], atol=1e-5)
    raw = np.asarray(batch.advantage)[np.asarray(batch.valid) == 1]
    np.testing.assert_allclose(mean(batch.advantage, batch.valid), raw.mean(), rtol=1e-5)
    np.testing.assert_allclose(kept, (raw - raw.mean()) / raw.std(), atol=1e-4)
