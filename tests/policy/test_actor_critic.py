"""Laws of the actor-critic: shapes, who learns from whom, the same actor in NumPy, and tables."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from nbyt.collect.host import parameters_in_numpy
from nbyt.errors import UsageError
from nbyt.policy import normalise
from nbyt.policy.actor_critic import build, table
from nbyt.policy.networks import parse_network

VECTOR = Box(-np.inf, np.inf, (2, 3))
HWC = Box(0, 255, (10, 12, 3), np.uint8)
CHW = Box(0, 255, (3, 10, 12), np.uint8)
INDEX = Discrete(7)
ACTIONS = {
    "discrete": (Discrete(4), 4),
    "multidiscrete": (MultiDiscrete([2, 3]), 5),
    "box": (Box(-1, 1, (2,)), 4),
}


@cache
def made(observation_name: str, actions: str, network: str, shared: bool, moments: bool):
    """A policy, parameters that are not its fresh ones, and a few observations."""
    space = {"vector": VECTOR, "hwc": HWC, "chw": CHW, "index": INDEX}[observation_name]
    policy = build(space, ACTIONS[actions][0], parse_network(network), shared=shared)
    leaves, tree = jax.tree.flatten(policy.init(None, normalise_observations=moments))
    generator = np.random.default_rng(0)
    # Positive, because moments have a variance among them.
    drawn = [jnp.asarray(generator.uniform(0.1, 0.6, x.shape), jnp.float32) for x in leaves]
    space.seed(0)
    observation = np.stack([space.sample() for _ in range(5)])
    return policy, jax.tree.unflatten(tree, drawn), jnp.asarray(observation)


SEEN = [
    ("vector", "auto", "mlp"),
    ("hwc", "auto", "cnn"),
    ("chw", "cnn", "cnn"),
    ("hwc", "16", "mlp"),
    ("index", "auto", "table"),
    ("index", "16", "mlp"),
]


@pytest.mark.parametrize("actions", ACTIONS)
@pytest.mark.parametrize(("observation", "network", "kind"), SEEN)
def test_shapes(observation, network, kind, actions) -> None:
    if kind == "table" and actions == "box":
        return
    policy, params, rows = made(observation, actions, network, False, False)
    assert policy.network.kind == kind
    width = ACTIONS[actions][1]
    for leading in ((5,), (1, 5)):
        batch = rows.reshape(*leading, *rows.shape[1:])
        assert policy.parameters(params, batch).shape == (*leading, width)
        assert policy.value(params, batch).shape == leading
    one = policy.parameters(params, rows[2])
    np.testing.assert_allclose(one, policy.parameters(params, rows)[2], rtol=1e-5, atol=1e-5)


def test_images_are_read_the_same_with_channels_first_or_last() -> None:
    last, params, rows = made("hwc", "discrete", "cnn", False, False)
    first, _, _ = made("chw", "discrete", "cnn", False, False)
    assert (last.channels_first, first.channels_first) == (False, True)
    turned = jnp.moveaxis(rows, -1, -3)
    np.testing.assert_allclose(
        first.parameters(params, turned), last.parameters(params, rows), rtol=1e-6
    )
    np.testing.assert_allclose(last.encode(params, rows), rows / 255.0, rtol=1e-6)


@partial(jax.jit, static_argnames=("policy",))
def gradients(policy, params, rows):
    """The slopes of the policy's output and of the critic's, each over all parameters."""
    acted = jax.grad(lambda p: (policy.parameters(p, rows) ** 2).sum())(params)
    valued = jax.grad(lambda p: (policy.value(p, rows) ** 2).sum())(params)
    return acted, valued


def size(tree) -> float:
    return sum(float(jnp.abs(x).sum()) for x in jax.tree.leaves(tree))


@pytest.mark.parametrize(
    ("observation", "network"), [("vector", "8x8"), ("hwc", "cnn"), ("index", "table")]
)
def test_separate_networks_learn_apart(observation, network) -> None:
    acted, valued = gradients(*made(observation, "discrete", network, False, False))
    assert size(acted.actor) > 0 and size(valued.critic) > 0
    assert size(acted.critic) == 0 and size(valued.actor) == 0
    assert acted.torso == valued.torso == ()


@pytest.mark.parametrize(("observation", "network"), [("vector", "8x8"), ("hwc", "cnn")])
def test_a_shared_torso_learns_from_both(observation, network) -> None:
    policy, params, rows = made(observation, "discrete", network, True, False)
    acted, valued = gradients(policy, params, rows)
    assert size(acted.torso) > 0 and size(valued.torso) > 0
    assert size(acted.critic) == 0 and size(valued.actor) == 0
    assert set(params.actor) == set(params.critic) == {"head"}


def test_a_table_is_never_shared() -> None:
    policy = build(INDEX, Discrete(4), parse_network("table"), shared=True)
    assert not policy.shared


def test_moments_standardise_what_both_networks_see() -> None:
    policy, params, rows = made("vector", "discrete", "8", False, True)
    by_hand = (rows.reshape(5, 6) - params.observation.mean) / jnp.sqrt(params.observation.variance)
    bare = params._replace(observation=None)
    seen = jnp.clip(by_hand, -10, 10).reshape(5, 2, 3)
    for function in (policy.parameters, policy.value):
        np.testing.assert_allclose(function(params, rows), function(bare, seen), rtol=1e-5)
        assert not np.allclose(function(params, rows), function(bare, rows), rtol=1e-2)


def test_only_vectors_have_moments() -> None:
    for space, network in ((INDEX, "table"), (INDEX, "8"), (HWC, "cnn")):
        policy = build(space, Discrete(4), parse_network(network))
        assert policy.init(None, normalise_observations=True).observation is None
    policy = build(VECTOR, Discrete(4), parse_network("8"))
    fresh = policy.init(None, normalise_observations=True).observation
    assert isinstance(fresh, normalise.RunningMoments) and fresh.mean.shape == (6,)


@pytest.mark.parametrize("activation", ["tanh", "relu", "swish"])
@pytest.mark.parametrize("actions", ACTIONS)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    ("observation", "network", "moments"),
    [
        ("vector", "8x8", False),
        ("vector", "8x8", True),
        ("index", "8", False),
        ("index", "table", False),
    ],
)
def test_the_actor_in_numpy_is_the_actor(
    observation, network, moments, shared, actions, activation
) -> None:
    if network == "table" and actions == "box":
        return
    policy, params, rows = made(observation, actions, network, shared, moments)
    words = parse_network(network, activation)
    policy = build(policy_space(observation), ACTIONS[actions][0], words, shared=shared)
    found = parameters_in_numpy(policy, jax.device_get(params), np.asarray(rows))
    assert isinstance(found, np.ndarray) and found.dtype == np.float32
    np.testing.assert_allclose(found, policy.parameters(params, rows), rtol=1e-5, atol=1e-5)


def policy_space(observation: str):
    return {"vector": VECTOR, "index": INDEX}[observation]


def test_fresh_parameters_start_near_uniform_and_depend_on_the_key() -> None:
    policy = build(VECTOR, Discrete(4), parse_network("16"))
    one, same, other = (policy.init(jax.random.key(seed)) for seed in (0, 0, 1))
    rows = made("vector", "discrete", "8", False, False)[2]
    assert float(jnp.abs(policy.parameters(one, rows)).max()) < 0.1
    assert not np.array_equal(one.actor["layers"][0]["w"], one.critic["layers"][0]["w"])
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(same), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one.actor["head"]["w"], other.actor["head"]["w"])


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    ("observation", "network"), [("vector", "8x8"), ("hwc", "cnn"), ("index", "table")]
)
def test_a_template_has_the_shapes_of_fresh_parameters(observation, network, shared) -> None:
    space = {"vector": VECTOR, "hwc": HWC, "index": INDEX}[observation]
    policy = build(space, Discrete(4), parse_network(network), shared=shared)
    template, fresh = policy.init(None), policy.init(jax.random.key(0))
    assert jax.tree.structure(template) == jax.tree.structure(fresh)
    for a, b in zip(jax.tree.leaves(template), jax.tree.leaves(fresh), strict=True):
        assert (a.shape, a.dtype, a.any()) == (b.shape, b.dtype, False)


@pytest.mark.parametrize(
    ("observation", "actions", "network", "message"),
    [
        (VECTOR, Discrete(2), "table", "a table needs numbered states"),
        (VECTOR, Discrete(2), "cnn", "a CNN needs images"),
        (INDEX, Discrete(2), "cnn", "a CNN needs images"),
        (INDEX, Box(-1, 1, (2,)), "table", "a table policy needs discrete actions"),
    ],
)
def test_networks_that_cannot_read_an_env_are_refused(
    observation, actions, network, message
) -> None:
    with pytest.raises(UsageError, match=message) as error:
        build(observation, actions, parse_network(network))
    assert error.value.where == "network" and "64x64" in error.value.fix


def test_a_table_by_hand_gives_its_numbers() -> None:
    stage = table([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [7.0, 8.0, 9.0])
    rows = jnp.array([2, 0])
    np.testing.assert_array_equal(stage.policy.parameters(stage.params, rows), [[4, 5], [0, 1]])
    np.testing.assert_array_equal(stage.policy.value(stage.params, rows), [9, 7])
    for logits, values in (([0.0, 1.0], [1.0]), ([[0.0, 1.0]], [1.0, 2.0])):
        with pytest.raises(UsageError, match="not a pair of tables"):
            table(logits, values)
