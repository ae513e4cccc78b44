"""Envs in a loop: their arrays, their faults, and the time that they may take."""

import signal
import time

import corridor
import numpy as np
import pytest
from gymnasium.spaces import Box
from starting import start

from nbyt.envs import gymnasium_suite
from nbyt.errors import EnvError


def test_steps_are_fresh_arrays_and_actions_are_left_alone() -> None:
    class Greedy(corridor.Corridor):
        """Keeps one observation array and writes into its action."""

        def __init__(self) -> None:
            super().__init__(box=True)
            self.action_space = Box(-1, 1, (1,), np.float32)
            self.shared = np.zeros(2, np.float32)

        def step(self, action):
            action[0] = 9.0
            return super().step(1)

        def observe(self):
            self.shared[:] = super().observe()
            return self.shared

    running = start(Greedy, 1)
    first = running.reset([0])
    before = first.copy()
    action = np.full((1, 1), 0.5, np.float32)
    steps = [running.step(action) for _ in range(3)]
    np.testing.assert_array_equal(first, before)
    np.testing.assert_array_equal(action, [[0.5]])
    assert [step.observation[0, 1] for step in steps] == [1.0, 2.0, 0.0]
    np.testing.assert_array_equal(steps[2].final_observation, [[1.0, 3.0]])


@pytest.mark.parametrize("broken", ["reset", "close"])
def test_an_env_that_raises_in_reset_or_close_is_named(broken: str) -> None:
    class Broken(corridor.Corridor):
        pass

    def fail(self, **_):
        raise OSError("no such world")

    setattr(Broken, broken, fail)
    env = gymnasium_suite.GymnasiumEnv("x:y", corridor.make)
    env.observation_space  # noqa: B018 (the facts come from a good env, then the factory turns)
    env._factory = Broken
    running = env.start(2)
    with pytest.raises(EnvError, match=f"OSError: no such world in {broken}"):
        running.reset([0, 1]) if broken == "reset" else running.close()


def test_many_slow_envs_are_not_a_hang() -> None:
    class Slow(corridor.Corridor):
        def step(self, action):
            time.sleep(0.2)
            return super().step(action)

    running = start(Slow, 8, step_seconds=1.2)
    running.reset(list(range(8)))
    assert running.step(np.zeros(8, int)).valid.all()


def test_an_alarm_of_the_user_is_left_alone() -> None:
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        mine = signal.getsignal(signal.SIGALRM)
        running = start(corridor.make, 1)
        running.reset([0])
        running.step(np.zeros(1, int))
        assert signal.getsignal(signal.SIGALRM) is mine
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("reward", ["much", [1.0, 2.0], np.ones(1)])
def test_rewards_that_are_not_numbers_are_refused(reward) -> None:
    class Odd(corridor.Corridor):
        def step(self, action):
            return self.observe(), reward, False, False, {}

    running = start(Odd, 2)
    running.reset([0, 1])
    with pytest.raises(EnvError, match="returned as reward"):
        running.step(np.array([0, 0]))


def test_observations_of_another_shape_are_refused_not_broadcast() -> None:
    class Odd(corridor.Corridor):
        def step(self, action):
            return np.zeros(1, np.float32), 0.0, False, False, {}

    running = start(lambda: Odd(box=True), 2)
    running.reset([0, 1])
    with pytest.raises(EnvError, match="returned as observation"):
        running.step(np.array([0, 0]))
