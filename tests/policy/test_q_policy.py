"""A policy by Q-values: the best action, and any other as often as epsilon says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from nbyt.collect.host import HostQActor
from nbyt.errors import UsageError
from nbyt.policy.networks import Network
from nbyt.policy.q_policy import build_q, greedy, law, uniform_weights, weights_of

SPACES = Box(-1, 1, (3,), np.float32), Discrete(4)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_the_law_in_both_libraries(epsilon: float) -> None:
    values = np.array([[0.0, 2.0, 1.0], [5.0, 5.0, 1.0]], np.float32)
    wanted = np.full((2, 3), epsilon / 3)
    wanted[[0, 1], [1, 0]] += 1 - epsilon  # a tie goes to the first
    for library in (np.asarray, jnp.asarray):
        assert np.allclose(np.exp(law(library(values), epsilon)), wanted, atol=1e-6)


def test_greedy_acting_takes_the_best_action() -> None:
    policy = build_q(*SPACES, Network("mlp", (8,), "relu"))
    params = policy.init(jax.random.key(0))
    seen = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    shown = jnp.asarray(seen)
    best = np.asarray(policy.values(params, shown)).argmax(axis=-1)
    noise = policy.head.noise(jax.random.key(1), (50,))
    assert np.array_equal(policy.head.sample(policy.parameters(params, shown), noise), best)
    assert np.allclose(policy.value(params, shown), policy.values(params, shown).max(axis=-1))
    actor = HostQActor(policy, weights_of(params), 0.0, np.random.default_rng(2))
    assert np.array_equal(actor.act(seen, 0)[1], best)


def test_the_host_explores_as_often_as_it_should() -> None:
    policy = build_q(*SPACES, Network("mlp", (8,), "relu"))
    params = policy.init(jax.random.key(0))
    seen = np.zeros((20_000, 3), np.float32)
    best = int(np.asarray(policy.values(params, jnp.asarray(seen[:1]))).argmax())
    actor = HostQActor(policy, weights_of(params), 0.4, np.random.default_rng(3))
    shares = np.bincount(actor.act(seen, 0)[0], minlength=4) / len(seen)
    wanted = np.full(4, 0.1)
    wanted[best] += 0.6
    assert np.abs(shares - wanted).max() < 4 * np.sqrt(0.25 / len(seen))


def test_epsilon_is_no_weight() -> None:
    weights = {"logits": jnp.zeros((2, 2))}
    assert set(weights_of(greedy(weights, 0.5))) == {"logits"}


def test_uniform_weights_fill_their_range() -> None:
    policy = build_q(*SPACES, Network("mlp", (200, 50), "relu"))
    weights = uniform_weights(policy, jax.random.key(1))
    for layer, inputs in zip([*weights["layers"], weights["head"]], (3, 200, 50), strict=True):
        for own in layer.values():
            largest = float(np.abs(own).max()) * inputs**0.5
            assert largest <= 1 and (own.size < 50 or largest > 0.9)
    template = weights_of(policy.init(None))
    assert jax.tree.map(jnp.shape, weights) == jax.tree.map(jnp.shape, template)
    assert not np.array_equal(
        weights["head"]["w"], uniform_weights(policy, jax.random.key(2))["head"]["w"]
    )


def test_continuous_actions_are_refused() -> None:
    with pytest.raises(UsageError, match="numbered actions"):
        build_q(SPACES[0], Box(-1, 1, (1,), np.float32), Network("auto"))
