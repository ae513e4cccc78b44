"""A look against the same number computed step by step."""

import jax
import numpy as np
import pytest

from nbyt.collect.device import collect, start
from nbyt.collect.rollout import next_value
from nbyt.envs import resolve
from nbyt.policy.actor_critic import build
from nbyt.train.adaptive import probe_rollout
from nbyt.train.plan import PPOSettings
from nbyt.train.sources import coefficients_of

ENVS, STEPS, LENGTHS = 3, 16, (1, 4, 8)
SETTINGS = PPOSettings(network="5", gamma=0.9, lam=0.8)


@pytest.fixture(scope="module")
def seen():
    env = resolve("CartPole-v1")
    policy = build(env.observation_space, env.action_space, SETTINGS.parsed_network)
    params = policy.init(jax.random.key(1))
    runner = start(env, ENVS, jax.random.key(2))
    _, rollout, _ = collect(env, policy, params, runner, jax.random.key(3), STEPS)
    # One row is no experience, as after the end of an episode in some vector envs.
    return policy, params, rollout._replace(valid=rollout.valid.at[5, 1].set(False))


def _advantages(rollout, gamma, lam, steps):
    reward, value, following = (
        np.asarray(x, float) for x in (rollout.reward, rollout.value, next_value(rollout))
    )
    ended = np.asarray(rollout.terminated | rollout.truncated)
    valid = np.asarray(rollout.valid)
    found = np.zeros((STEPS, ENVS))
    for env in range(ENVS):
        for time in reversed(range(STEPS)):
            if not valid[time, env]:
                continue
            cut = ended[time, env] or (time + 1) % steps == 0
            later = 0.0 if cut else found[time + 1, env]
            delta = reward[time, env] + gamma * following[time, env] - value[time, env]
            found[time, env] = delta + gamma * lam * later
    return found[: STEPS // 2]


def _standardised(advantage, valid):
    own = advantage[valid]
    return np.where(valid, (advantage - own.mean()) / own.std(), 0.0)


def _scores(policy, params, rollout):
    def chance(actor, observation, action):
        own = params._replace(actor=actor)
        return policy.head.log_prob(policy.parameters(own, observation[None]), action[None])[0]

    rows = STEPS // 2
    gradient = jax.vmap(jax.vmap(jax.grad(chance), (None, 0, 0)), (None, 0, 0))
    found = gradient(params.actor, rollout.observation[:rows], rollout.action[:rows])
    leaves = [np.asarray(leaf, float).reshape(rows, ENVS, -1) for leaf in jax.tree.leaves(found)]
    return np.concatenate(leaves, axis=-1)


def test_agreement_is_the_product_of_different_envs_gradients(seen):
    policy, params, rollout = seen
    valid = np.asarray(rollout.valid)[: STEPS // 2]
    scores = _scores(policy, params, rollout)
    waited = _standardised(_advantages(rollout, SETTINGS.gamma, 1.0, STEPS), valid)
    reference = np.einsum("tn,tnp->np", waited, scores)
    expected = []
    for steps in LENGTHS:
        own = _standardised(_advantages(rollout, SETTINGS.gamma, SETTINGS.lam, steps), valid)
        gradient = np.einsum("tn,tnp->np", own, scores)
        pairs = [gradient[a] @ reference[b] for a in range(ENVS) for b in range(ENVS) if a != b]
        expected.append(sum(pairs) / valid.sum() ** 2)
    found = probe_rollout(policy, params, rollout, coefficients_of(SETTINGS), LENGTHS)
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-6)
