"""Identities that hold for every problem, to 1e-10, and limits."""

from dataclasses import replace

import numpy as np
import pytest
from problems import (
    PARTS,
    action_values,
    double_stage,
    going_on,
    iterated_values,
    probabilities,
    random_problem,
    values_of,
)
from scipy import sparse

from nbyt import exact
from nbyt.envs import tabular
from nbyt.exact.rollout_moments import Bias
from nbyt.exact.values import optimal_values, stationary

SEEDS = range(2)
ASKED = {"steps": 9, "gamma": 0.95, "lam": 0.9, "entropy_coefficient": 0.1}
MODES = [
    {},
    {"start": "reset"},
    {"centre": True},
    {"start": "reset", "autoreset": "next-step", "centre": True},
]
mode_of = pytest.mark.parametrize("mode", MODES, ids=str)


@mode_of
@pytest.mark.parametrize("time_limit", [None, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_variance_has_many_sums(seed, time_limit, mode) -> None:
    env, stage = random_problem(seed, 6, 3, time_limit=time_limit)
    moments = exact.moments(env, stage, **ASKED, **mode)
    sources = exact.sources(env, stage, **ASKED, **mode)
    lags = exact.lags(env, stage, count=8, **ASKED, **mode)
    for part in PARTS:
        m, s = getattr(moments, part), getattr(sources, part)
        shared = s.sampling - s.sampling_individual + s.shared_luck + s.coupling
        sums = {
            "terms": m.individual + m.covariance,
            "sources": s.sampling + s.own_step + s.credit + s.coupling,
            "origins": s.sampling + s.environment + s.policy + s.coupling,
            "draws": s.start + s.actions + s.transitions,
            "lags": getattr(lags, part).variance,
        }
        for name, total in sums.items():
            assert total == pytest.approx(m.variance, rel=1e-10), (part, name)
        assert s.sampling_individual + s.noise_individual == pytest.approx(m.individual, rel=1e-10)
        assert shared == pytest.approx(m.covariance, rel=1e-8, abs=1e-12)
        assert min(s.start, s.actions, s.transitions, s.sampling, s.own_step, s.policy) >= -1e-15
        added = m.bias.advantage + m.bias.phase
        np.testing.assert_allclose(added, m.bias.vector, rtol=0, atol=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize("lam", [0.0, 0.6, 1.0])
def test_advantage_bias_has_its_closed_form(steps, lam) -> None:
    """The series of the critic's error e under P, the transitions that end no episode."""
    gamma = 0.9
    env, stage = random_problem(5, 5, 2)
    policy = probabilities(stage)
    error = values_of(stage) - iterated_values(env, policy, gamma)
    going = going_on(env)
    flow = np.einsum("sa,sat->st", policy, going)
    # Under the stationary law of the walk with resets, every step has the same law.
    resets = np.einsum("sa,sat->s", policy, env.transition - going)
    law = stationary(sparse.csr_array(flow + np.outer(resets, env.start)))
    expected = np.zeros((5, 2))
    for h in range(1, steps + 1):
        power = [going @ np.linalg.matrix_power(flow, n) @ error for n in range(h)]
        excess = gamma * (gamma * lam) ** (h - 1) * power[h - 1]
        for n in range(1, h):
            excess += gamma * (1 - lam) * (gamma * lam) ** (n - 1) * power[n - 1]
        centred = excess - (policy * excess).sum(axis=1, keepdims=True)
        expected += law[:, None] * policy * centred / steps
    found = exact.moments(env, stage, steps=steps, gamma=gamma, lam=lam).actor.bias
    np.testing.assert_allclose(found.advantage, expected.ravel(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.phase, 0, atol=1e-15)


@pytest.mark.parametrize("time_limit", [None, 4])
@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_a_true_critic_has_no_advantage_bias(lam, time_limit) -> None:
    env, stage = random_problem(3, 4, 3, time_limit=time_limit)
    true = iterated_values(env, probabilities(stage), 0.9)
    stage = double_stage(stage.params.actor["logits"], true)
    for steps in (1, 5):
        found = exact.moments(env, stage, steps=steps, gamma=0.9, lam=lam)
        for part in (found.actor, found.critic):
            np.testing.assert_allclose(part.bias.advantage, 0, atol=1e-14)
            np.testing.assert_allclose(part.mean, part.reference, atol=1e-14)
        assert found.critic.alignment(3) is None
        assert found.actor.cosine == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_lambda_no_luck_is_credited_back(seed) -> None:
    env, stage = random_problem(seed, 5, 2)
    found = exact.sources(env, stage, steps=12, gamma=0.95, lam=0.0)
    for part in PARTS:
        parts = getattr(found, part)
        assert abs(parts.credit) < 1e-14 * parts.variance
        assert parts.policy == 0


@pytest.mark.parametrize("mode", [MODES[0], MODES[-1]], ids=str)
def test_long_run_variance_is_the_limit(mode) -> None:
    """T V(T) = limit + a / T + what decays like a power, so two lengths give the limit."""
    env, stage = random_problem(1, 5, 2)
    asked = {"gamma": 0.9, "lam": 0.8, "entropy_coefficient": 0.1, **mode}
    long_run = exact.long_run(env, stage, **asked)
    short, long = (exact.moments(env, stage, steps=t, **asked) for t in (100, 200))
    for part in PARTS:
        first, second = (t * getattr(m, part).variance for t, m in ((100, short), (200, long)))
        limit = getattr(long_run, part)
        # Centred, mean and spread of the advantages have an error of 1 / T too, and a square of it.
        close = 1e-5 if mode.get("centre") else 1e-9
        assert limit.variance == pytest.approx(2 * second - first, rel=close)
        assert abs(limit.variance - second) > 1e-7 * second
        individual = 200 * getattr(long, part).individual
        assert limit.individual == pytest.approx(individual, rel=2e-2)


def test_endless_lags_add_up_to_the_long_run_variance() -> None:
    env, stage = random_problem(2, 5, 2)
    lags = exact.lags(env, stage, steps=None, count=300, gamma=0.95, lam=0.9)
    long_run = exact.long_run(env, stage, gamma=0.95, lam=0.9)
    for part in PARTS:
        profile, limit = getattr(lags, part), getattr(long_run, part)
        total = profile.covariance[0] + 2 * profile.covariance[1:].sum()
        assert total == pytest.approx(limit.variance, rel=1e-10)
        assert profile.correlation[0] == 1 and profile.variance is None


def test_long_fragments_have_the_lags_of_an_endless_rollout_but_at_their_end() -> None:
    env, stage = random_problem(2, 5, 2)
    asked = {"gamma": 0.9, "lam": 0.8, "count": 3}
    endless = exact.lags(env, stage, steps=None, **asked).critic.covariance
    found = [
        (t - np.arange(4)) * exact.lags(env, stage, steps=t, **asked).critic.covariance
        for t in (200, 201)
    ]
    np.testing.assert_allclose(found[1] - found[0], endless, rtol=1e-9)


def test_a_limit_that_no_episode_reaches_changes_nothing() -> None:
    """Three states in a row; every episode ends after three steps at most."""
    transition, terminated = np.zeros((3, 2, 3)), np.zeros((3, 2, 3), bool)
    transition[0, 0, 1] = transition[1, :, 2] = transition[2, :, 0] = 1
    transition[0, 1] = [0, 0.5, 0.5]
    terminated[2] = True
    reward = np.random.default_rng(0).normal(size=(3, 2, 3))
    _, stage = random_problem(0, 3, 2)
    start = [0.6, 0.4, 0.0]
    for extra in ({"start": "reset"}, {"autoreset": "next-step"}, {}):
        free, limited = (
            exact.moments(
                tabular.from_arrays(transition, reward, terminated, start, time_limit=limit),
                stage,
                steps=7,
                gamma=0.9,
                lam=0.8,
                **extra,
            ).total
            for limit in (None, 4)
        )
        np.testing.assert_allclose(limited.mean, free.mean, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(limited.reference, free.reference, rtol=1e-12, atol=1e-15)
        assert limited.variance == pytest.approx(free.variance, rel=1e-12)


def cycle(length: int):
    """States that follow each other; the last one ends the episode."""
    transition = np.zeros((length, 2, length))
    transition[np.arange(length), :, (np.arange(length) + 1) % length] = 1
    terminated = np.zeros_like(transition, bool)
    terminated[-1] = True
    reward = np.random.default_rng(4).normal(size=(length, 2, 1)) * np.ones(length)
    env = tabular.from_arrays(transition, reward, terminated, np.eye(length)[0])
    _, stage = random_problem(4, length, 2)
    return env, stage


def test_episodes_of_fixed_length_never_drift_apart() -> None:
    """One-step updates go round the cycle for ever; updates of a whole cycle are all alike."""
    env, stage = cycle(4)
    asked = {"gamma": 0.9, "lam": 0.8}
    found = exact.phase(env, stage, steps=1, updates=12, **asked)
    for part in PARTS:
        means = getattr(found, part).means
        np.testing.assert_allclose(means[:4], means[8:], rtol=1e-12, atol=1e-15)
        spread = means[:4] - means[:4].mean(axis=0)
        expected = (spread**2).sum(axis=1).mean()
        assert getattr(found, part).variance == pytest.approx(expected, rel=1e-10)
        assert expected > 1e-6
    whole = exact.phase(env, stage, steps=4, updates=5, **asked)
    still = exact.phase(env, stage, steps=1, updates=5, start="stationary", **asked)
    assert whole.total.variance < 1e-25 and still.total.variance < 1e-25


def test_the_stationary_law_of_a_periodic_chain() -> None:
    env, stage = cycle(5)
    found = exact.moments(env, stage, steps=5, gamma=0.9, lam=0.8).critic
    lacking = iterated_values(env, probabilities(stage), 0.9) - values_of(stage)
    np.testing.assert_allclose(found.reference, lacking / 5, rtol=1e-12)


def test_the_stationary_law_is_the_null_vector() -> None:
    generator = np.random.default_rng(8)
    for size in (1, 2, 7):
        moves = generator.dirichlet(np.ones(size), size)
        moves = np.block(
            [[moves, np.zeros((size, 2))], [np.full((2, size), 1 / size), np.zeros((2, 2))]]
        )
        law = stationary(sparse.csr_array(moves))
        system = np.vstack([moves.T - np.eye(size + 2), np.ones(size + 2)])
        expected = np.linalg.lstsq(system, np.append(np.zeros(size + 2), 1.0))[0]
        np.testing.assert_allclose(law, expected, atol=1e-13)
        np.testing.assert_allclose(law[size:], 0, atol=1e-15)


def test_the_best_values_satisfy_bellmans_equation() -> None:
    env, _ = random_problem(6, 8, 3)
    found = optimal_values(env, 0.95)
    action = action_values(env, found.state, 0.95)
    np.testing.assert_allclose(found.action, action, atol=1e-12)
    np.testing.assert_allclose(found.state, action.max(axis=1), atol=1e-12)


def test_centring_leaves_the_actors_direction_and_the_critic() -> None:
    """On reward 1 a step with V = 0 centring takes most of the variance away, and no direction."""
    env, stage = random_problem(1, 4, 2, ends=0.1)
    paid = env.outcomes._replace(reward=np.ones_like(env.outcomes.reward))
    alive = replace(env, outcomes=paid)
    stage = double_stage(stage.params.actor["logits"], np.zeros(4))
    raw, centred = (
        exact.moments(alive, stage, steps=16, gamma=0.99, lam=0.95, centre=centre)
        for centre in (False, True)
    )
    assert raw.actor.cosine == pytest.approx(centred.actor.cosine, abs=1e-10)
    scale = np.linalg.norm(raw.actor.mean) / np.linalg.norm(centred.actor.mean)
    assert centred.actor.variance * scale**2 < 0.5 * raw.actor.variance
    np.testing.assert_allclose(raw.critic.mean, centred.critic.mean)
    assert raw.critic.variance == centred.critic.variance


def test_alignment_is_signed_and_error_is_bias_and_variance() -> None:
    right = np.array([3.0, 4.0])
    nothing = Bias(np.zeros(2), np.zeros(2), np.zeros(2))
    wrong = exact.GradientMoments(-2 * right, 50.0, 40.0, right, nothing, 1.0, 1e-9)
    assert wrong.cosine == pytest.approx(-1) and wrong.bias_factor == pytest.approx(-1)
    assert wrong.alignment(2) == pytest.approx(-100 / 125)
    assert wrong.covariance == 10 and wrong.ess_ratio == 0.8
    still = exact.GradientMoments(np.zeros(2), 50.0, 40.0, right, nothing, 1.0, 1e-9)
    assert still.cosine is None and still.alignment(2) == 0
    lost = Bias(right, right, 0 * right)
    biased = exact.GradientMoments(2 * right, 50.0, 50.0, right, lost, 1.0, 1e-9)
    assert biased.mse(5) == pytest.approx(25 + 10)
