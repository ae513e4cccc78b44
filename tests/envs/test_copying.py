"""Law: after load_state, the same actions give the same observations and rewards, bit for bit."""

import gymnasium
import numpy as np
import pytest
from gymnasium import Env
from gymnasium.wrappers import FrameStackObservation, NormalizeObservation

from nbyt.envs.copying import copyable, load_state, save_state
from nbyt.errors import EnvUsageError

CLASSIC = ["CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0", "MountainCarContinuous-v0"]
TOY = ["FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "Taxi-v4", "Blackjack-v1"]
MUJOCO = [
    "Ant-v5",
    "HalfCheetah-v5",
    "Hopper-v5",
    "Humanoid-v5",
    "HumanoidStandup-v5",
    "InvertedDoublePendulum-v5",
    "InvertedPendulum-v5",
    "Pusher-v5",
    "Reacher-v5",
    "Swimmer-v5",
    "Walker2d-v5",
]


def run(env: Env, actions: list) -> list:
    """Everything the env says along `actions`, with the resets that ends require."""
    said: list = []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        said.append((np.array(observation), reward, terminated, truncated))
        if terminated or truncated:
            said.append((np.array(env.reset()[0]), 0.0, False, False))
    return said


def assert_same(first: list, second: list) -> None:
    assert len(first) == len(second)
    for (observation, *rest), (again, *rest_again) in zip(first, second, strict=True):
        np.testing.assert_array_equal(observation, again)
        assert rest == rest_again


def actions_of(env: Env, count: int) -> list:
    env.action_space.seed(1)
    return [env.action_space.sample() for _ in range(count)]


@pytest.mark.parametrize("name", CLASSIC + TOY + MUJOCO)
def test_loaded_state_has_the_same_future(name: str, tmp_path, monkeypatch) -> None:
    if name in MUJOCO:
        pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings into the working directory
    env = gymnasium.make(name)
    assert copyable(env)
    env.reset(seed=3)
    actions = actions_of(env, 30)
    run(env, actions[:10])
    state = save_state(env)
    first = run(env, actions[10:])
    load_state(env, state)
    assert_same(first, run(env, actions[10:]))
    other = gymnasium.make(name)  # a fresh env takes the state as well, twice
    for _ in range(2):
        other.reset(seed=99)
        load_state(other, state)
        assert_same(first, run(other, actions[10:]))


def test_time_limit_is_part_of_the_state() -> None:
    env = gymnasium.make("Pendulum-v1", max_episode_steps=15)
    env.reset(seed=0)
    actions = actions_of(env, 14)
    run(env, actions[:10])
    state = save_state(env)
    run(env, actions[:3])
    load_state(env, state)
    ends = [truncated for *_, truncated in run(env, actions[:5])]
    assert ends == [False, False, False, False, True, False]


@pytest.mark.parametrize("wrap", [NormalizeObservation, lambda env: FrameStackObservation(env, 2)])
def test_wrappers_with_hidden_state_are_not_copyable(wrap) -> None:
    env = wrap(gymnasium.make("CartPole-v1"))
    assert not copyable(env)
    env.reset(seed=0)
    with pytest.raises(EnvUsageError, match="cannot be copied"):
        save_state(env)


def test_a_users_own_env_is_not_copyable() -> None:
    class Mine(Env):
        pass

    assert not copyable(Mine())


def test_a_state_of_another_env_is_refused() -> None:
    cartpole = gymnasium.make("CartPole-v1")
    cartpole.reset(seed=0)
    with pytest.raises(EnvUsageError, match="not saved from"):
        load_state(cartpole.unwrapped, save_state(cartpole))
