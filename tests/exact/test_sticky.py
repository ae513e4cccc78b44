"""The sticky context: covariance where it is known to be, and in closed form."""

import numpy as np
import pytest

from nbyt import exact
from nbyt.exact.scores import scores

TABLE = {
    0.5: (1.000, 1.000, 1.000, 1.00),
    0.1: (0.475, 0.495, 0.514, 1.92),
    0.02: (0.359, 0.243, 0.174, 6.54),
}


@pytest.mark.parametrize("flip", TABLE)
def test_the_table_of_effective_samples(flip) -> None:
    control = exact.sticky(flip)
    *shares, tau = TABLE[flip]
    for steps, share in zip(control.steps, shares, strict=True):
        found = exact.moments(control.env, control.stage, steps=steps, gamma=0.99, lam=0.95)
        assert found.actor.ess_ratio == pytest.approx(share, abs=5e-4)
    found = exact.long_run(control.env, control.stage, gamma=0.99, lam=0.95)
    assert found.actor.tau == pytest.approx(tau, abs=5e-3)


def test_a_context_without_memory_has_no_covariance() -> None:
    control = exact.sticky(0.5)
    for steps in (2, 17):
        found = exact.moments(control.env, control.stage, steps=steps, gamma=0.99, lam=0.95).actor
        assert found.ess_ratio == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("flip", [0.02, 0.1, 0.3, 0.9])
def test_one_step_advantages_are_the_context_itself(flip) -> None:
    """With lambda 0 each contribution is +-1/4, by the context: a chain of two signs."""
    control = exact.sticky(flip)
    asked = {"gamma": 0.99, "lam": 0.0}
    memory = 1 - 2 * flip
    for steps in (None, 30):
        found = exact.lags(control.env, control.stage, steps=steps, count=9, **asked).actor
        np.testing.assert_allclose(found.correlation, memory ** np.arange(10), atol=1e-12)
    tau = exact.long_run(control.env, control.stage, **asked).actor.tau
    assert tau == pytest.approx((1 + memory) / (1 - memory), rel=1e-10)


def test_the_network_of_zeros_has_one_logit_for_both_contexts() -> None:
    """All scores but the last bias's are 0, and those do not depend on the context."""
    control = exact.sticky()
    actor, critic = (part.value for part in scores(control.stage)[2:4])
    np.testing.assert_array_equal(actor[0], actor[1])
    used = np.flatnonzero(np.abs(actor).sum(axis=(0, 1)))
    np.testing.assert_allclose(actor[0][:, used], np.eye(2) - 0.5)
    assert np.count_nonzero(critic[0, 0]) == 1
    one = np.array([[-0.5], [0.5]])
    features = exact.Features(np.stack([one, one]), np.ones((2, 1)))
    for steps in control.steps:
        asked = {"steps": steps, "gamma": control.gamma, "lam": control.lam}
        plain = exact.moments(control.env, control.stage, **asked)
        single = exact.moments(control.env, control.stage, features=features, **asked)
        # Two logits that move against each other are one logit of sqrt(2) the slope.
        assert plain.actor.variance == pytest.approx(2 * single.actor.variance, rel=1e-10)
        assert plain.critic.variance == pytest.approx(single.critic.variance, rel=1e-10)
        assert plain.actor.ess_ratio == pytest.approx(single.actor.ess_ratio, rel=1e-10)


def test_the_contexts_cancel_so_nothing_can_be_aligned() -> None:
    control = exact.sticky()
    found = exact.moments(control.env, control.stage, steps=8, gamma=0.99, lam=0.95)
    for part in (found.actor, found.critic, found.total):
        assert part.cosine is part.bias_factor is part.alignment(16) is None
        assert part.noise_factor(16) < 1e-12
