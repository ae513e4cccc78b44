"""The sticky context: covariance where it is known to be, and in closed form."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from problems import double_stage, probabilities, values_of

from nbyt import exact
from nbyt.exact.scores import scores
from nbyt.exact.values import policy_values

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


HORIZONS = [1, 4, 32, 128]

# policy, critic as a share of the true values, |G*|, variance 32x4 and 4x32, ratio, covariance in
# percent (two), |bias| / |G*| (two), ESS / samples of the critic's gradient (two)
TABLE_FROZENLAKE = """
uniform 1 3.706e-5 7.493e-7  2.237e-6  2.99 -.63 -.11 0     0    .720 .429
uniform 0 3.706e-5 7.687e-7  2.298e-6  2.99 -.77 -.20 .780  .510 .723 .440
mid     1 5.482e-4 1.0634e-5 3.7321e-5 3.51 -.29 -.22 0     0    .703 .340
mid     0 5.482e-4 2.5235e-6 3.6512e-5 14.5 .02  .18  .992  .763 .645 .329
late    1 3.121e-4 5.9695e-6 2.4064e-5 4.03 -.21 -.15 0     0    .685 .308
late    0 3.121e-4 1.0369e-6 4.4333e-5 42.8 .00  .02  1.000 .860 .649 .329
"""
ROWS = [line.split() for line in TABLE_FROZENLAKE.split("\n") if line]


@cache
def problem(policy: str, critic: float):
    """Env and stage; the critic has that share of the true values, in double precision."""
    control = exact.frozenlake(policy)
    logits = np.asarray(control.stage.params.actor["logits"], float)
    true = policy_values(control.env, probabilities(control.stage), 0.99).state
    return control.env, double_stage(logits, critic * true)


@cache
def moments(policy: str, critic: float, steps: int, lam: float = 0.95, start: str = "stationary"):
    return exact.moments(*problem(policy, critic), steps=steps, gamma=0.99, lam=lam, start=start)


def assert_written(text: str, value: float) -> None:
    """The value, rounded to the digits of the text, is the text."""
    digits, _, power = text.partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    assert abs(value - float(text)) <= 0.5000001 * unit, (text, value)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_row_of_the_table(row) -> None:
    policy, critic, *written = row
    short, long = (moments(policy, float(critic), steps) for steps in (4, 32))
    size = np.linalg.norm(short.actor.reference)
    ratio = (long.actor.variance / 4) / (short.actor.variance / 32)
    found = [
        size,
        short.actor.variance / 32,
        long.actor.variance / 4,
        ratio,
        *(100 * m.actor.covariance / m.actor.variance for m in (short, long)),
        *(np.sqrt(m.actor.bias.squared) / size for m in (short, long)),
        *(m.critic.ess_ratio for m in (short, long)),
    ]
    for text, value in zip(written, found, strict=True):
        assert_written(text, value)
    assert abs(short.actor.covariance) < 0.01 * short.actor.variance
    assert abs(long.actor.covariance) < 0.01 * long.actor.variance


@pytest.mark.parametrize(
    ("policy", "success", "length"),
    [("uniform", ".0019", "32.1"), ("mid", ".375", "117.0"), ("late", ".821", "106.4")],
)
def test_the_policies_succeed_as_often_and_live_as_long(policy, success, length) -> None:
    env, stage = problem(policy, 1)
    paid = env.outcomes._replace(reward=np.ones_like(env.outcomes.reward))
    counting = replace(env, outcomes=paid)
    assert_written(success, policy_values(env, probabilities(stage), 1.0).state[0])
    assert_written(length, policy_values(counting, probabilities(stage), 1.0).state[0])


@pytest.mark.parametrize(("steps", "envs", "written"), [(4, 32, ".028"), (32, 4, ".008")])
def test_two_batches_hardly_agree(steps, envs, written) -> None:
    """With an exact critic the cosine to expect of two batches is also the alignment."""
    found = moments("mid", 1, steps).actor
    assert_written(written, round(found.noise_factor(envs), 4))
    assert found.alignment(envs) == pytest.approx(found.noise_factor(envs), rel=1e-10)


@pytest.mark.parametrize(
    ("critic", "batch", "steps", "written"),
    [
        (1, 128, 4, ".0275"),
        (1, 128, 32, ".0080"),
        (1, 8192, 4, ".644"),
        (1, 8192, 32, ".340"),
        (1, 8192, 128, ".288"),
        (0, 8192, 4, ".001"),
        (0, 8192, 32, ".037"),
        (0, 8192, 128, ".055"),
        (0, 2**20, 4, ".043"),
        (0, 2**20, 128, ".655"),
    ],
)
def test_alignment_at_equal_batch(critic, batch, steps, written) -> None:
    found = moments("mid", critic, steps).actor
    assert_written(written, found.alignment(batch // steps))
    factors = found.bias_factor * found.noise_factor(batch // steps)
    assert found.alignment(batch // steps) == pytest.approx(factors, rel=1e-12)


@pytest.mark.parametrize("policy", ["uniform", "mid", "late"])
@pytest.mark.parametrize(("critic", "best"), [(1, 1), (0.5, 1), (0, 128)])
def test_the_best_horizon_is_decided_by_the_critic_not_by_the_batch(policy, critic, best) -> None:
    for batch in (128, 8192, 2**20):
        found = [moments(policy, critic, t).actor.alignment(batch // t) for t in HORIZONS]
        assert HORIZONS[int(np.argmax(found))] == best


@pytest.mark.parametrize(
    ("lam", "written"),
    [
        (0.0, ("6.1e-4", "6.2e-4", "6.3e-4")),
        (0.95, ("1.36e-3", "4.78e-3", "6.09e-3")),
        (1.0, ("1.50e-3", "1.08e-2", "2.74e-2")),
    ],
)
def test_variance_grows_with_lambda(lam, written) -> None:
    for steps, text in zip((4, 32, 128), written, strict=True):
        assert_written(text, steps * moments("mid", 1, steps, lam).actor.variance)


@pytest.mark.parametrize(
    ("lam", "written"), [(0.95, (".996", ".999", "1.002")), (0.0, (".986", ".926", ".885"))]
)
def test_shared_parameters_show_covariance_once_the_noise_is_small(lam, written) -> None:
    """Logits linear in 17 features: the row, the column, and 1."""
    env, stage = problem("mid", 1)
    row, column = np.divmod(np.arange(64), 8)
    seen = np.concatenate([np.eye(8)[row], np.eye(8)[column], np.ones((64, 1))], axis=1)
    scores = np.eye(4)[None] - probabilities(stage)[:, None]
    actor = np.einsum("sj,sab->sajb", seen, scores).reshape(64, 4, 17 * 4)
    features = exact.Features(actor, seen)
    for steps, text in zip((4, 32, 128), written, strict=True):
        found = exact.moments(env, stage, steps=steps, gamma=0.99, lam=lam, features=features)
        assert_written(text, found.actor.ess_ratio)


@pytest.mark.parametrize(("steps", "written"), [(4, "1.25"), (32, ".68"), (128, ".22")])
def test_envs_that_all_start_together_are_biased_by_their_phase(steps, written) -> None:
    found = moments("mid", 1, steps, start="reset").actor
    assert_written(written, np.sqrt(found.bias.squared) / np.linalg.norm(found.reference))
    np.testing.assert_allclose(found.bias.phase, found.bias.vector, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("critic", "steps", "written"),
    [
        (1, 4, {"sampling": "4.1", "own_step": "41.0", "credit": "55.3", "coupling": "-.4"}),
        (1, 32, {"sampling": "1.5", "own_step": "11.7", "credit": "87.4", "coupling": "-.5"}),
        (1, 32, {"environment": "95.8", "policy": "3.2"}),
        (0, 32, {"sampling": "20.1", "own_step": "5.2", "credit": "74.7"}),
    ],
)
def test_sources_in_percent(critic, steps, written) -> None:
    env, stage = problem("mid", critic)
    found = exact.sources(env, stage, steps=steps, gamma=0.99, lam=0.95).actor
    for name, text in written.items():
        assert_written(text, 100 * getattr(found, name) / found.variance)


def test_an_exact_critic_in_single_precision_has_no_reference() -> None:
    control = exact.frozenlake("late")
    found = exact.moments(control.env, control.stage, steps=8, gamma=0.99, lam=0.95)
    assert values_of(control.stage).dtype == float
    assert 0 < np.linalg.norm(found.critic.reference) < found.critic.grain
    for value in (found.critic.cosine, found.critic.bias_factor, found.critic.alignment(4)):
        assert value is None
    assert found.actor.cosine == pytest.approx(1, abs=1e-9)


def test_controls_are_reproducible_and_say_what_they_show() -> None:
    controls = [exact.sticky(), exact.frozenlake("uniform"), exact.taxi(), exact.garnet(6, 2, 0)]
    for control in controls:
        assert control.sentence.endswith(".") and len(control.sentence) < 200
        assert all(control.batch % steps == 0 for steps in control.steps)
    first, second, other = exact.garnet(6, 2, 0), exact.garnet(6, 2, 0), exact.garnet(6, 2, 1)
    np.testing.assert_array_equal(first.env.transition, second.env.transition)
    assert (first.env.transition != other.env.transition).any()
    assert ((first.env.transition > 0).sum(axis=2) == 3).all()
    asked = {"steps": 4, "gamma": first.gamma, "lam": first.lam}
    found = exact.moments(first.env, first.stage, **asked)
    assert 0 < found.actor.alignment(32) < 1 and found.actor.bias.squared > 0
