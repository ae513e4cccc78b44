"""Scores of networks are derivatives, and the moments built on them are those of all rollouts."""

import enumeration
import jax
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from problems import double_stage, random_problem

from nbyt import exact
from nbyt.exact.scores import scores
from nbyt.policy.actor_critic import ActorCritic, Params, Stage
from nbyt.policy.distributions import Categorical
from nbyt.policy.networks import Network

STATES, ACTIONS, WIDTH = 2, 2, 3
shared_or_not = pytest.mark.parametrize("shared", [False, True], ids=["separate", "shared"])


def network_stage(shared: bool) -> Stage:
    """A small MLP with random weights, its biases included."""
    network = Network("mlp", (WIDTH,))
    policy = ActorCritic("index", (STATES,), Categorical(ACTIONS), network, shared)
    params = policy.init(jax.random.key(0))
    generator = np.random.default_rng(0)
    drawn = jax.tree.map(lambda leaf: generator.normal(size=leaf.shape), params)
    return Stage(policy, drawn)


def forward(params: Params, state: int):
    """log pi and V of the MLP, written out."""
    outputs = []
    for part in (params.actor, params.critic):
        layer = (params.torso or part["layers"])[0]
        features = np.tanh(layer["w"][state] + layer["b"])
        outputs.append(part["head"]["w"] @ features + part["head"]["b"])
    logits, value = outputs
    return logits - np.log(np.exp(logits).sum()), value[0]


def differences(stage: Stage):
    """Derivatives [S, A, p] and [S, p] by moving each parameter a little both ways."""
    # The order of jax.flatten_util.ravel_pytree, which itself would round to single precision.
    flat = np.concatenate([leaf.ravel() for leaf in jax.tree.leaves(stage.params[:3])])
    np.testing.assert_allclose(flat, ravel_pytree(stage.params[:3])[0], rtol=1e-6)
    step = 1e-6
    actor, critic = np.zeros((STATES, ACTIONS, len(flat))), np.zeros((STATES, len(flat)))
    for i in range(len(flat)):
        for s in range(STATES):
            sides = []
            for sign in (1, -1):
                moved = flat + sign * step * np.eye(len(flat))[i]
                leaves = Params(*rebuilt(stage.params[:3], moved))
                sides.append(forward(leaves, s))
            actor[s, :, i] = (sides[0][0] - sides[1][0]) / (2 * step)
            critic[s, i] = (sides[0][1] - sides[1][1]) / (2 * step)
    return actor, critic


def rebuilt(template, flat):
    """The tree of `template` with the numbers of `flat`, in double precision."""
    leaves, tree = jax.tree.flatten(template)
    ends = np.cumsum([leaf.size for leaf in leaves])
    parts = np.split(flat, ends[:-1])
    shaped = [part.reshape(leaf.shape) for part, leaf in zip(parts, leaves, strict=True)]
    return jax.tree.unflatten(tree, shaped)


@shared_or_not
def test_scores_are_derivatives_in_the_order_of_the_parameters(shared) -> None:
    stage = network_stage(shared)
    found = scores(stage)
    actor, critic = differences(stage)
    np.testing.assert_allclose(found.actor.value, actor, atol=1e-8)
    np.testing.assert_allclose(
        found.critic.value, np.repeat(critic[:, None], ACTIONS, 1), atol=1e-8
    )
    for s in range(STATES):
        log_probs, value = forward(stage.params, s)
        np.testing.assert_allclose(found.policy[s], np.exp(log_probs), rtol=1e-12)
        assert found.values[s] == pytest.approx(value, rel=1e-12)


@shared_or_not
@pytest.mark.parametrize("centre", [False, True])
def test_moments_of_a_network_are_sums_over_all_rollouts(shared, centre) -> None:
    stage = network_stage(shared)
    env, _ = random_problem(7, STATES, ACTIONS, ends=0.3)
    outputs = [forward(stage.params, s) for s in range(STATES)]
    alike = double_stage([log_probs for log_probs, _ in outputs], [value for _, value in outputs])
    asked = {"steps": 3, "gamma": 0.9, "lam": 0.8, "start": "reset"}
    rollouts = enumeration.enumerate_rollouts(env, alike, autoreset="same-step", **asked)
    mean, spread = enumeration.moments_of_advantage(rollouts) if centre else (0.0, 1.0)
    actor, critic = differences(stage)
    place = np.array([[row.place[0] for row in rows] for rows in rollouts.rows])
    action = np.array([[row.action for row in rows] for rows in rollouts.rows])
    policy = enumeration.probabilities(alike)
    slope = -np.einsum("sa,sa,sap->sp", policy, np.log(policy), actor)
    advantage = rollouts.advantage[..., None]
    expected = {
        "actor": actor[place, action] * (advantage - mean) / spread,
        "critic": critic[place] * advantage,
    }
    expected["total"] = expected["actor"] + 0.7 * expected["critic"] + 0.3 * slope[place]
    found = exact.moments(
        env, stage, centre=centre, value_coefficient=0.7, entropy_coefficient=0.3, **asked
    )
    for part, g in expected.items():
        moments, p = getattr(found, part), rollouts.probability
        np.testing.assert_allclose(moments.mean, p @ g.mean(axis=1), atol=1e-7)
        variance = enumeration.variance(p, g.mean(axis=1))
        assert moments.variance == pytest.approx(variance, rel=1e-6)
        single = sum(enumeration.variance(p, g[:, t]) for t in range(3)) / 9
        assert moments.individual == pytest.approx(single, rel=1e-6)


def test_features_equal_to_a_tables_scores_change_nothing() -> None:
    """Dense features take another way through the code than a table's few entries."""
    env, stage = random_problem(9, 4, 3)
    policy = enumeration.probabilities(stage)
    actor = np.zeros((4, 3, 4, 3))
    actor[np.arange(4), :, np.arange(4)] = np.eye(3) - policy[:, None]
    features = exact.Features(actor.reshape(4, 3, 12), np.eye(4))
    asked = {"steps": 6, "gamma": 0.9, "lam": 0.8, "centre": True, "entropy_coefficient": 0.2}
    plain, given = (exact.moments(env, stage, features=f, **asked) for f in (None, features))
    for part in ("actor", "critic", "total"):
        one, other = getattr(plain, part), getattr(given, part)
        np.testing.assert_allclose(one.mean, other.mean, atol=1e-14)
        np.testing.assert_allclose(one.reference, other.reference, atol=1e-14)
        assert one.variance == pytest.approx(other.variance, rel=1e-11)
        assert one.individual == pytest.approx(other.individual, rel=1e-11)
    lags, dense = (exact.lags(env, stage, features=f, count=5, **asked) for f in (None, features))
    np.testing.assert_allclose(lags.total.covariance, dense.total.covariance, atol=1e-13)
