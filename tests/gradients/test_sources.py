"""Measured sources against the exact oracle, and against whole vectors written out."""

import jax
import numpy as np
import pytest

from nbyt import exact
from nbyt.collect.device import stagger, start
from nbyt.envs import tabular
from nbyt.envs.lookup import resolve
from nbyt.errors import EnvUsageError, UsageError
from nbyt.gradients import clones, sources
from nbyt.gradients.sources import cost, measure_sources
from nbyt.policy.actor_critic import Stage, build, table
from nbyt.policy.networks import parse_network
from nbyt.stats.sources import SourceEstimates

PARTS = ("sampling", "own_step", "credit", "coupling", "variance", "environment", "policy")
GAMMA, STEPS = 0.95, 7


@pytest.fixture(autouse=True, scope="module")
def hurry():
    """Programs compiled in a hurry: these few calls need no fast ones."""
    options = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
    quick = {
        (clones, "start"): (start, ("env", "envs")),
        (clones, "stagger"): (stagger, ("env", "policy", "burn_in")),
        (clones, "clones"): (clones.clones, ("env", "policy", "steps")),
        (sources, "block_sources"): (sources.block_sources, ("policy",)),
    }
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), (function, static) in quick.items():
            compiled = jax.jit(function, compiler_options=options, static_argnames=static)
            patch.setattr(module, name, compiled)
        yield


@pytest.fixture(scope="module")
def task() -> tuple[tabular.TabularEnv, Stage]:
    """Three states with deaths, a time limit, and a critic that is wrong."""
    generator = np.random.default_rng(0)
    transition = generator.dirichlet(np.ones(3), (3, 2))
    reward = generator.normal(size=transition.shape)
    terminated = np.zeros(transition.shape, bool)
    terminated[:, 1, 2] = True
    env = tabular.from_arrays(transition, reward, terminated, [0.5, 0.5, 0.0], time_limit=30)
    return env, table(generator.normal(size=(3, 2)), generator.normal(size=3))


def measured(task, **options) -> dict[str, SourceEstimates]:
    env, stage = task
    settings = {"steps": STEPS, "gamma": GAMMA, "lam": 0.9, "rollouts": 3000, "seed": 1}
    return measure_sources(env, stage.policy, stage.params, **{**settings, **options})


def deviations(found: SourceEstimates, truth) -> dict[str, float]:
    """How many standard errors each part is off; intervals reach about two to each side."""
    parts = {name: (getattr(found, name), getattr(truth, name)) for name in PARTS}
    parts["trajectory"] = (found.trajectory, truth.noise_individual)
    parts["shared_luck"] = (found.shared_luck, truth.shared_luck)
    return {
        name: abs(one.value - exactly) / max((one.high - one.low) / 4, 1e-7)
        for name, (one, exactly) in parts.items()
    }


@pytest.mark.parametrize("lam", [0.9, 0.0])
def test_every_source_is_the_exact_one(task, lam) -> None:
    found = measured(task, lam=lam)
    truth = exact.sources(*task, steps=STEPS, gamma=GAMMA, lam=lam)
    for name in ("actor", "critic"):
        off = deviations(found[name], getattr(truth, name))
        assert max(off.values()) < 4, (name, off)
        assert found[name].own_step.low > 0 and found[name].variance.replicates >= 100
        parts = sum(getattr(found[name], part).value for part in PARTS[:4])
        np.testing.assert_allclose(parts, found[name].variance.value, rtol=1e-5)
    if lam == 0:
        assert found["actor"].credit.low < 0 < found["actor"].credit.high
        assert found["actor"].shared_luck.value == 0
    else:
        assert found["critic"].credit.low > 0
        assert found["critic"].environment_share.low > 0.5


def test_standardising_divides_noise_and_moves_sampling(task) -> None:
    """A constant taken off all advantages is no luck: only what was visited feels it."""
    raw, scaled = (
        measured(task, rollouts=64, **x)["actor"] for x in ({}, {"mean": 3.0, "spread": 2.0})
    )
    for name in ("own_step", "credit", "environment", "trajectory", "shared_luck"):
        single, quartered = getattr(raw, name).value, getattr(scaled, name).value
        np.testing.assert_allclose(quartered, single / 4, rtol=1e-3, atol=1e-6)
    assert scaled.sampling.value > raw.sampling.value


def test_squares_are_those_of_traces_written_out() -> None:
    generator = np.random.default_rng(0)
    f = generator.normal(size=(4, 9, 5)).astype(np.float32)
    ended = generator.random((4, 9)) < 0.3
    found = sources._squares(np.einsum("rtp,rsp->rts", f, f), ended, 0.8)
    trace = np.zeros((4, 5))
    for t in range(9):
        here = f[:, t]
        for got, expected in zip(
            found, (here * here, here * trace, (here + trace) ** 2), strict=True
        ):
            np.testing.assert_allclose(got[:, t], expected.sum(axis=1), rtol=1e-4, atol=1e-5)
        trace = np.where(ended[:, t, None], 0.0, 0.8 * (here + trace))


def test_cartpole_has_no_luck_but_that_of_actions() -> None:
    env = resolve("gymnax:CartPole-v1")
    policy = build(env.observation_space, env.action_space, parse_network("8"))
    heard = []
    found = measure_sources(
        env,
        policy,
        policy.init(jax.random.key(0)),
        steps=16,
        gamma=0.99,
        lam=0.95,
        rollouts=128,
        seed=0,
        progress=lambda made, total: heard.append((made, total)),
    )
    for one in found.values():
        assert one.sampling.low > 0 and one.credit.low > 0
        assert abs(one.own_step.value) < 1e-6 * one.variance.value
        assert abs(one.policy_share.value - 1) < 1e-6
    assert heard[-1][0] == heard[-1][1] >= cost(16, 128)


def test_host_clones_measure_the_same() -> None:
    generator = np.random.default_rng(1)
    stage = table(generator.normal(size=(16, 4)), generator.normal(size=16) / 3)
    found = measured((resolve("gym:FrozenLake-v1"), stage), steps=4, rollouts=64)
    truth = exact.sources(resolve("tabular:FrozenLake-v1"), stage, steps=4, gamma=GAMMA, lam=0.9)
    for name in ("actor", "critic"):
        off = deviations(found[name], getattr(truth, name))
        assert max(off.values()) < 4, (name, off)


def test_what_cannot_be_measured_is_refused(task) -> None:
    class Hidden:
        """A host env whose state nobody can see."""

        id, copyable, time_limit = "tests:hidden", False, None
        observation_space = action_space = None

        def start(self, envs, *, vector="sync"):
            raise AssertionError("never started")

        def start_one(self):
            return None

    with pytest.raises(EnvUsageError, match="cannot be copied"):
        measured((Hidden(), task[1]))
    with pytest.raises(UsageError, match="3 rollouts"):
        measured(task, rollouts=3)
    with pytest.raises(UsageError, match="divided by 0"):
        measured(task, spread=0)
