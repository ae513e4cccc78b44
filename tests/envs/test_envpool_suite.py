"""EnvPool envs: found, seeded one by one, filler rows masked."""

import sys

import numpy as np
import pytest

pytest.importorskip("envpool")

from nbyt.envs import envpool_suite, resolve
from nbyt.envs.protocol import HostEnv
from nbyt.errors import EnvUsageError, MissingExtraError


def test_a_known_env_is_a_host_env() -> None:
    env = envpool_suite.find("CartPole-v1")
    assert isinstance(env, HostEnv)
    assert (env.id, env.time_limit, env.copyable) == ("envpool:CartPole-v1", 500, False)
    assert env.observation_space.shape == (4,)
    assert env.start_one() is None
    assert envpool_suite.find("CliffWalking-v1").time_limit is None


def test_an_unknown_env_is_none() -> None:
    assert envpool_suite.find("Nope-v0") is None


def test_each_env_has_its_own_seed_whatever_the_count() -> None:
    env = envpool_suite.find("CartPole-v1")
    few = env.start(2).reset([5, 9])
    many = env.start(4)
    np.testing.assert_array_equal(few, many.reset([5, 9, 1, 2])[:2])
    np.testing.assert_array_equal(few[::-1], many.reset([9, 5, 1, 2])[:2])


def test_same_seeds_give_the_same_run_and_rows_are_not_reused() -> None:
    running = envpool_suite.find("CartPole-v1").start(3)
    actions = np.random.default_rng(0).integers(0, 2, (80, 3))
    runs = []
    for _ in range(2):
        first = running.reset([1, 2, 3])
        kept = [step.observation for step in map(running.step, actions)]
        runs.append(np.array([first, *kept]))
    np.testing.assert_array_equal(runs[0], runs[1])


def test_the_row_after_an_end_is_filler() -> None:
    running = envpool_suite.find("CartPole-v1").start(2)
    running.reset([1, 2])
    ended = np.zeros(2, bool)
    fillers = 0
    for _ in range(60):
        step = running.step(np.ones(2, np.int32))
        np.testing.assert_array_equal(step.valid, ~ended)
        assert (step.reward[~step.valid] == 0).all()
        fillers += int((~step.valid).sum())
        ended = step.terminated | step.truncated
        assert (step.final_observation is not None) == ended.any()
    assert fillers > 4
    running.close()


def test_the_number_of_seeds_is_the_number_of_envs() -> None:
    with pytest.raises(EnvUsageError, match="1 seeds for 2 envs"):
        envpool_suite.find("CartPole-v1").start(2).reset([1])


def test_without_envpool_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "envpool", None)
    monkeypatch.delitem(sys.modules, "nbyt.envs.envpool_suite")
    with pytest.raises(MissingExtraError, match=r"nbyt\[envpool\]"):
        resolve("envpool:CartPole-v1")
