"""Seeds in one program: each learns the same to the last bit, whoever keeps it company."""

import subprocess
import sys

import numpy as np
import pytest
from tests.training.counting_env import Counting, Long

from nbyt.collect.evaluate import episode_returns
from nbyt.envs import resolve
from nbyt.envs.gymnasium_suite import GymnasiumEnv
from nbyt.layout import Layout
from nbyt.training.algorithms.ppo import initial_learner
from nbyt.training.curves import (
    filled,
    train_curve,
    train_seeds,
    training_returns,
    untrained_returns,
)
from nbyt.training.plan import PPOPlan, PPOSettings

LAYOUT = Layout(envs=8, steps=8, minibatch=16, epochs=2)
SETTINGS = PPOSettings(network="table", learning_rate=0.05)


def _plans(*seeds: int, stages: tuple[int, ...] = (10, 20)) -> list[PPOPlan]:
    env = "tabular:FrozenLake-v1"
    return [PPOPlan(env, LAYOUT, 20 * LAYOUT.batch, seed, SETTINGS, stages) for seed in seeds]


@pytest.fixture(scope="module")
def together():
    return train_seeds(_plans(0, 1, 2), resolve("tabular:FrozenLake-v1"))


@pytest.mark.parametrize("company", [(1,), (1, 7), (2, 1)])
def test_a_seed_learns_the_same_in_any_company(together, company):
    env = resolve("tabular:FrozenLake-v1")
    found = train_seeds(_plans(*company), env)
    assert found[company.index(1)] == together[1]


_ON_DEVICES = """
import sys
from tests.training.test_curves import resolve, _plans, train_seeds
from nbyt.training import hardware
hardware.prepare("cpu", parts=int(sys.argv[1]), quiet=True)
curves = train_seeds(_plans(0, 1, 2, 3, 4), resolve("tabular:FrozenLake-v1"))
print(hardware.jax.device_count(), curves)
"""


def test_seeds_learn_the_same_on_any_number_of_cores(together):
    printed = []
    for devices in (2, 4, 8):
        command = [sys.executable, "-c", _ON_DEVICES, str(devices)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        count, _, curves = done.stdout.partition(" ")
        assert int(count) == devices
        printed.append(curves.strip())
    assert len(set(printed)) == 1
    assert printed[0].startswith(str(together)[:-1])


@pytest.mark.learns
def test_seeds_differ_and_learn_as_nbyt_train_does(together):
    env = resolve("tabular:FrozenLake-v1")
    assert len({curve.returns for curve in together}) == len(together)
    alone = train_curve(_plans(1)[0], env)
    assert alone.samples == together[1].samples
    assert alone.returns == pytest.approx(together[1].returns, abs=0.05)


def test_the_returns_of_training_are_those_of_the_episodes_that_ended_between_two_points() -> None:
    layout = Layout(4, 8, 32, 1)
    plan = PPOPlan("env", layout, 5 * layout.batch, 0, PPOSettings(), (2, 4, 5))
    counts, sums = [0, 2, 0, 0, 1], [0.0, 3.0, 0.0, 0.0, 7.0]
    assert training_returns(plan, counts, sums) == (1.5, None, 7.0)


def test_seeds_stop_after_the_last_point_of_a_longer_training() -> None:
    """What they learned by then is what the whole training had learned by then."""
    env, seen = resolve("tabular:FrozenLake-v1"), []
    plans = [_plans(1, stages=stages)[0] for stages in ((3, 6), (3, 6, 12))]
    part = train_seeds([plans[0]], env, seen.append)[0]
    whole = train_seeds([plans[1]], env)[0]
    assert seen == [1, 2, 3, 4, 5, 6]
    assert part.samples == (192, 384) == whole.samples[:2]
    assert part.returns == whole.returns[:2] and part.training == whole.training[:2]


def test_a_gap_in_a_curve_has_the_value_before_or_the_first() -> None:
    assert filled([None, None, 2.0, None, -1.0, None]) == (2.0, 2.0, 2.0, 2.0, -1.0, -1.0)
    assert filled([0.0, 1.0]) == (0.0, 1.0)


def _host_plan(*stages: int) -> PPOPlan:
    layout = Layout(envs=2, steps=4, minibatch=8, epochs=1)
    return PPOPlan("gym:counting", layout, 20 * layout.batch, 0, PPOSettings(network="4"), stages)


def test_a_curve_of_a_trainings_own_episodes_costs_no_step_but_its_own() -> None:
    """No evaluation episode is played, and training stops after the last point."""
    env, seen = GymnasiumEnv("gym:counting", Counting), []
    Counting.made = 0
    curve = train_curve(_host_plan(2, 4, 6), env, seen.append, evaluated=False)
    assert seen == [1, 2, 3, 4, 5, 6] and 0 < Counting.made <= 6 * 8
    assert curve.samples == (16, 32, 48) and curve.unfinished == 0
    assert curve.returns == filled(curve.training) == (5.0, 5.0, 5.0)
    Counting.made = 0
    evaluated = train_curve(_host_plan(2, 4, 6), env)
    assert Counting.made >= 3 * 5 * 20 and evaluated.training == curve.training


def test_where_no_episode_ended_the_last_policy_plays_some() -> None:
    Long.made = 0
    curve = train_curve(_host_plan(1, 2), GymnasiumEnv("gym:long", Long), evaluated=False)
    assert curve.training == (None, None) and curve.returns == (200.0, 200.0)
    assert 0 < Long.made - 2 * 8 <= 20 * 200  # played once


@pytest.mark.parametrize(
    ("env", "plans"),
    [
        (resolve("tabular:FrozenLake-v1"), _plans(3, 1, 4)),
        (GymnasiumEnv("gym:counting", Counting), [_host_plan(2, 4)]),
    ],
    ids=["device", "host"],
)
def test_untrained_returns_are_those_of_the_policies_that_trainings_begin_with(env, plans) -> None:
    found = untrained_returns(plans, env)
    assert len(found) == len(plans)
    for plan, one in zip(plans, found, strict=True):
        policy, learner = initial_learner(plan, env)
        alone = episode_returns(env, policy, learner.params, plan.seed)
        np.testing.assert_array_equal(one.returns, alone.returns)
        assert one.unfinished == alone.unfinished


def test_untrained_policies_play_as_many_episodes_as_asked() -> None:
    env, plans = resolve("tabular:FrozenLake-v1"), _plans(0, 1)
    assert [len(one.returns) for one in untrained_returns(plans, env, episodes=16)] == [16, 16]
