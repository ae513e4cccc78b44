"""The oracle is right where every rollout can be written out: all numbers, all modes, to 1e-10.

Two states, two actions, three or four steps; deaths, time limits, filler rows, centring, entropy;
one reward for each next state, or two.
"""

from functools import cache
from itertools import product

import enumeration
import numpy as np
import pytest
from problems import PARTS, random_problem, two_rewards_problem

from nbyt import exact

GAMMA, LAM, VALUE, ENTROPY = 0.9, 0.8, 0.7, 0.3
MODES = list(product([None, 2], ["same-step", "next-step"], ["stationary", "reset"], [False, True]))
MODES += [
    (None, "same-step", "stationary", False, "two rewards"),
    (2, "next-step", "reset", True, "two rewards"),
]
mode_of = pytest.mark.parametrize("mode", MODES, ids=["-".join(map(str, m)) for m in MODES])
part_of = pytest.mark.parametrize("part", PARTS)


@cache
def enumerated(mode, steps=3):
    """The problem of a mode, the options it is asked with, and all of its rollouts."""
    time_limit, autoreset, start, centre, *two_rewards = mode
    problem = two_rewards_problem if two_rewards else random_problem
    env, stage = problem(7, 2, 2, time_limit=time_limit, ends=0.3)
    ends = env.outcomes.terminated
    assert ends.any() and not ends.all()
    base = {"steps": steps, "gamma": GAMMA, "lam": LAM, "start": start, "autoreset": autoreset}
    rollouts = enumeration.enumerate_rollouts(env, stage, **base)
    assert rollouts.probability.sum() == pytest.approx(1, abs=1e-12)
    extra = {"centre": centre, "value_coefficient": VALUE, "entropy_coefficient": ENTROPY}
    return env, stage, {**base, **extra}, rollouts


def gradients(mode, part):
    """Contributions [n, T, p] of every rollout."""
    _, stage, options, rollouts = enumerated(mode)
    scale, shift = enumeration.contributions(
        rollouts, stage, part, centre=options["centre"], value=VALUE, entropy=ENTROPY
    )
    return scale, shift, scale * rollouts.advantage[..., None] + shift


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


@mode_of
@part_of
def test_lag_covariances_are_sums_over_all_rollouts(mode, part) -> None:
    env, stage, options, rollouts = enumerated(mode)
    p = rollouts.probability
    g = gradients(mode, part)[2]
    centred = g - np.einsum("n,ntp->tp", p, g)
    products = np.einsum("n,ntp,nup->tu", p, centred, centred)
    expected = [np.diagonal(products, k).mean() for k in range(3)]
    found = getattr(exact.lags(env, stage, count=2, **options), part)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-9, atol=1e-13)


@mode_of
@part_of
def test_sources_are_sums_over_all_rollouts(mode, part) -> None:
    env, stage, options, rollouts = enumerated(mode)
    scale, shift, _ = gradients(mode, part)
    expected = enumeration.sources(rollouts, scale, shift)
    found = getattr(exact.sources(env, stage, **options), part)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-9, abs=1e-13), name


@pytest.mark.parametrize("autoreset", ["same-step", "next-step"])
@pytest.mark.parametrize("time_limit", [None, 2])
@part_of
def test_the_phase_of_two_updates_is_that_of_one_rollout_of_both(
    time_limit, autoreset, part
) -> None:
    """Update 2 of 2 steps each: rows 2 and 3 of all rollouts of 4 rows, advantages cut between."""
    env, stage, options, _ = enumerated((time_limit, autoreset, "reset", False))
    options = {**options, "steps": 2}
    both = enumeration.enumerate_rollouts(
        env,
        stage,
        **{k: options[k] for k in ("gamma", "lam", "start", "autoreset")},
        steps=4,
    )
    cut = [
        enumeration.gae(rows[:2], enumeration.values_of(stage), GAMMA, LAM)
        + enumeration.gae(rows[2:], enumeration.values_of(stage), GAMMA, LAM)
        for rows in both.rows
    ]
    scale, shift = enumeration.contributions(
        both, stage, part, centre=False, value=VALUE, entropy=ENTROPY
    )
    g = np.einsum("n,ntp->tp", both.probability, scale * np.array(cut)[..., None] + shift)
    means = g.reshape(2, 2, -1).mean(axis=1)
    found = getattr(exact.phase(env, stage, updates=2, **options), part)
    np.testing.assert_allclose(found.means, means, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.mean, means.mean(axis=0), rtol=0, atol=1e-12)
    expected = (means**2).sum(axis=1).mean() - (means.mean(axis=0) ** 2).sum()
    assert found.variance == pytest.approx(expected, rel=1e-9)
