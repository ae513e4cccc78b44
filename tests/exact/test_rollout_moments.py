"""Identities that hold for every problem, to 1e-10, and limits."""

from dataclasses import replace

import enumeration
import numpy as np
import pytest
from modes import ENTROPY, GAMMA, VALUE, enumerated, gradients, mode_of, part_of
from problems import (
    MODES,
    PARTS,
    double_stage,
    going_on,
    iterated_values,
    probabilities,
    random_problem,
    values_of,
)
from scipy import sparse

from nbyt import exact
from nbyt.exact.rollout_moments import Bias
from nbyt.exact.values import stationary

SEEDS = range(2)
ASKED = {"steps": 9, "gamma": 0.95, "lam": 0.9, "entropy_coefficient": 0.1}


@pytest.mark.parametrize("mode", MODES, ids=str)
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


@mode_of
@part_of
def test_moments_are_sums_over_all_rollouts(mode, part) -> None:
    env, stage, options, rollouts = enumerated(mode)
    p = rollouts.probability
    _, _, g = gradients(mode, part)
    found = getattr(exact.moments(env, stage, **options), part)
    mean = p @ g.mean(axis=1)
    single = [enumeration.variance(p, g[:, t]) for t in range(3)]
    np.testing.assert_allclose(found.mean, mean, rtol=0, atol=1e-12)
    assert found.variance == pytest.approx(enumeration.variance(p, g.mean(axis=1)), rel=1e-10)
    assert found.individual == pytest.approx(sum(single) / 9, rel=1e-10)
    squares = ((p @ g.reshape(len(p), -1)).reshape(g.shape[1:]) ** 2).sum(axis=1)
    assert found.step_mean_square == pytest.approx(squares.mean(), rel=1e-10)


@mode_of
@part_of
def test_reference_and_bias_follow_their_definitions(mode, part) -> None:
    env, stage, options, rollouts = enumerated(mode)
    policy = enumeration.probabilities(stage)
    begin = {(s, 0): p for s, p in enumerate(env.start)}
    law = enumeration.stationary(env, policy, begin, options["autoreset"])
    spread = enumeration.moments_of_advantage(rollouts)[1] if options["centre"] else 1.0
    expected = enumeration.reference(
        env, stage, part, law, spread, gamma=GAMMA, value=VALUE, entropy=ENTROPY
    )
    found = getattr(exact.moments(env, stage, **options), part)
    np.testing.assert_allclose(found.reference, expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.bias.vector, found.mean - expected, rtol=0, atol=1e-11)
    added = found.bias.advantage + found.bias.phase
    np.testing.assert_allclose(added, found.bias.vector, rtol=0, atol=1e-12)
