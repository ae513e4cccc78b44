"""Laws of the losses: PPO's against per-sample gradients and formulas, DQN's by hand."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.policy.actor_critic import build
from nbyt.policy.networks import Network, parse_network
from nbyt.policy.q_policy import build_q
from nbyt.training.losses import (
    Batch,
    Coefficients,
    Rates,
    Transitions,
    actor_loss,
    critic_loss,
    dqn_loss,
    explained_variance,
    mean,
    normalised,
)

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


POLICY = build_q(Discrete(3), Discrete(2), Network("table"))
WEIGHTS = {"logits": jnp.array([[1.0, 2.0], [0.5, -1.0], [3.0, 4.0]])}
RATES = Rates(*(jnp.float32(x) for x in (0.9, 1.0, 1.0, 0.0)))
TARGET = {"logits": jnp.array([[10.0, 20.0], [7.0, 5.0], [2.0, 1.0]])}


def rows(**changes: list) -> Transitions:
    values = {
        "observation": [0, 0, 1],
        "action": [1, 0, 1],
        "reward": [1.0, 0.0, 0.5],
        "terminated": [False, False, True],
        "next_observation": [1, 2, 0],
        "valid": [True, True, True],
    }
    return Transitions(**{name: jnp.array(x) for name, x in (values | changes).items()})


@pytest.mark.parametrize("double", [False, True])
def test_the_loss_is_the_mean_huber_of_the_td_errors(double: bool) -> None:
    # Without double the next value is the target's best; with it, the target's for our best.
    following = [7.0, 1.0 if double else 2.0, 0.0]
    goals = np.array([1.0, 0.0, 0.5]) + 0.9 * np.array(following)
    errors = np.array([2.0, 1.0, -1.0]) - goals
    huber = np.where(np.abs(errors) <= 1, errors**2 / 2, np.abs(errors) - 0.5)
    loss, seen = dqn_loss(POLICY, WEIGHTS, TARGET, rows(), RATES, double=double)
    assert np.allclose([loss, seen.td_error], [huber.mean(), np.abs(errors).mean()], rtol=1e-6)
    assert np.isclose(seen.mean_q, np.mean([2.0, 1.0, -1.0]))
    squared = RATES._replace(huber=jnp.float32(100.0))
    loss, _ = dqn_loss(POLICY, WEIGHTS, TARGET, rows(), squared, double=double)
    assert np.isclose(loss, (errors**2 / 2).mean())


def test_rows_that_are_no_experience_do_not_count() -> None:
    masked = rows(valid=[True, False, True])
    kept = jax.tree.map(lambda x: x[jnp.array([0, 2])], rows())
    for double in (False, True):
        some, _ = dqn_loss(POLICY, WEIGHTS, TARGET, masked, RATES, double=double)
        others, _ = dqn_loss(POLICY, WEIGHTS, TARGET, kept, RATES, double=double)
        assert np.isclose(some, others)


def test_no_gradient_reaches_the_goal() -> None:
    """Only the Q-value that was taken moves, also where the same weights choose the next action."""

    def loss(weights: dict) -> jax.Array:
        own = {"observation": [0], "next_observation": [0], "action": [1], "reward": [0.1]}
        one = rows(**own, terminated=[False], valid=[True])
        return dqn_loss(POLICY, weights, weights, one, RATES, double=True)[0]

    gradient = np.asarray(jax.grad(loss)(WEIGHTS)["logits"])
    assert np.allclose(gradient[0], [0.0, 2.0 - 0.1 - 0.9 * 2.0])
    assert not gradient[1:].any()


def critic_batch(value, target, valid) -> Batch:
    """A batch of which only what the explained variance needs is given."""
    value, target, valid = (jnp.asarray(x, jnp.float32) for x in (value, target, valid))
    return Batch(value, value, value, value, value, target, valid)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([2, 7, 40]))
def test_explained_variance_is_numpys(seed, size) -> None:
    generator = np.random.default_rng(seed)
    value, target = generator.normal(size=(2, size)).astype(np.float32)
    valid = generator.uniform(size=size) < 0.7
    valid[:2] = True
    found = jax.jit(explained_variance)(critic_batch(value, target, valid))
    kept, wanted = value[valid].astype(float), target[valid].astype(float)
    expected = 1 - np.var(wanted - kept) / np.var(wanted)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_explained_variance_of_a_perfect_a_constant_and_an_undefined_critic() -> None:
    target, ones = [1.0, 2.0, 4.0], [1.0] * 3
    assert explained_variance(critic_batch(target, target, ones)) == 1
    assert abs(explained_variance(critic_batch([9.0] * 3, target, ones))) < 1e-6
    assert np.isnan(explained_variance(critic_batch(target, [2.0] * 3, ones)))
