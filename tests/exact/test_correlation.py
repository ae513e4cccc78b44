"""Lags, phase and long run: against rollouts all written out, and in their limits."""

import enumeration
import numpy as np
import pytest
from modes import ENTROPY, GAMMA, LAM, VALUE, enumerated, gradients, mode_of, part_of
from problems import (
    MODES,
    PARTS,
    cycle,
    random_problem,
)

from nbyt import exact
from nbyt.errors import UsageError


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


ENV, STAGE = random_problem(0, 3, 2)


@pytest.mark.parametrize(("steps", "count"), [(4, 4), (4, -1), (None, -1)])
def test_lags_beyond_the_rollout_are_refused(steps, count) -> None:
    with pytest.raises(UsageError, match="count must be a whole number"):
        exact.lags(ENV, STAGE, steps=steps, count=count, gamma=0.9, lam=0.8)


def test_an_endless_rollout_has_no_start() -> None:
    with pytest.raises(UsageError, match="forgotten its start"):
        exact.lags(ENV, STAGE, steps=None, count=2, gamma=0.9, lam=0.8, start="reset")
