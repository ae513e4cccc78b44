"""The controller moves T towards what probes agree on; a probe is right, step by step."""

import jax
import numpy as np
import pytest

from nbyt.collect.device import collect, start
from nbyt.collect.rollout import next_value
from nbyt.envs import resolve
from nbyt.policy.actor_critic import build
from nbyt.train.adaptive import LayoutController, controller_for, probe_rollout
from nbyt.train.plan import PPOSettings
from nbyt.train.sources import coefficients_of

LENGTHS = (1, 2, 4, 8)


def _probes(means, *, count=24, noise=1.0, seed=0):
    generator = np.random.default_rng(seed)
    common = generator.normal(size=(count, 1))  # what makes a whole rollout hard
    return np.asarray(means) + common + noise * generator.normal(size=(count, len(means)))


@pytest.mark.parametrize(("means", "goes_to"), [((0, 0, 3, 0), 2), ((9, 9, 0, 0), 3)])
def test_it_goes_one_step_towards_a_neighbour_that_is_ahead(means, goes_to):
    decision = LayoutController().decide(_probes(means), 3, 24, LENGTHS)
    assert decision.place == goes_to
    assert bool(decision.reason) == (goes_to != 3)


def test_the_reason_names_both_lengths_and_the_probes():
    reason = LayoutController().decide(_probes((0, 0, 3, 0)), 3, 24, LENGTHS).reason
    assert "after 4 steps" in reason and "after 8" in reason and "24 looks" in reason


@pytest.mark.parametrize(("count", "since"), [(11, 11), (24, 11)])
def test_few_probes_change_nothing(count, since):
    assert (
        LayoutController().decide(_probes((0, 0, 9, 0), count=count), 3, since, LENGTHS).place == 3
    )


def test_noise_alone_seldom_moves_it():
    moved = [
        LayoutController().decide(_probes((0, 0, 0, 0), seed=seed), 2, 24, LENGTHS).place != 2
        for seed in range(1000)
    ]
    # Two neighbours, each ahead by two standard errors in 2.5 to 3 of 100 cases.
    assert 0.02 < np.mean(moved) < 0.09


def test_probes_of_long_ago_do_not_count():
    before, now = _probes((0, 0, 9, 0), count=100), _probes((0, 0, -9, 0))
    assert LayoutController().decide(np.vstack([before, now]), 3, 24, LENGTHS).place == 3


def test_longer_runs_look_back_further():
    assert controller_for(100).window == 24
    assert controller_for(10_000).window == 500


ENVS, STEPS, PROBED = 3, 16, (1, 4, 8)
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
    for steps in PROBED:
        own = _standardised(_advantages(rollout, SETTINGS.gamma, SETTINGS.lam, steps), valid)
        gradient = np.einsum("tn,tnp->np", own, scores)
        pairs = [gradient[a] @ reference[b] for a in range(ENVS) for b in range(ENVS) if a != b]
        expected.append(sum(pairs) / valid.sum() ** 2)
    found = probe_rollout(policy, params, rollout, coefficients_of(SETTINGS), PROBED)
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-6)
