"""Where a model's envs come from: a copy, a spec, or the user; and what is refused."""

from functools import partial
from typing import Any

import gymnasium
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import TimeLimit
from sb3_toys import Locked, Picture, made, model_in
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecEnvWrapper,
    VecNormalize,
)

from nbyt.errors import UsageError
from nbyt.integrations.sb3.envs import env_name, host_env


def pole() -> gymnasium.Env:
    return made("CartPole-v1")


class Unrecorded(gymnasium.Wrapper):
    """A wrapper that no spec can tell of."""


def test_an_env_that_cannot_be_copied_is_made_by_its_spec_or_refused() -> None:
    with pytest.raises(UsageError, match=r"Locked.* cannot be copied") as refused:
        host_env(model_in(DummyVecEnv([Locked])))
    assert "pass env=" in refused.value.fix

    def registered() -> gymnasium.Env:
        env = made("CartPole-v1", 8)
        env.unwrapped.held = (step for step in range(3))
        return Monitor(env)

    assert host_env(model_in(DummyVecEnv([registered]))).time_limit == 8
    with pytest.raises(UsageError, match="cannot be copied"):
        host_env(model_in(DummyVecEnv([lambda: Unrecorded(registered())])))


def test_envs_in_other_processes_are_made_by_their_spec() -> None:
    """With the options they were made with; the worker goes on working."""
    vectors = SubprocVecEnv([lambda: Monitor(gymnasium.make("Pendulum-v1", g=2.0))])
    try:
        env = host_env(model_in(VecNormalize(vectors)))
        assert env.id == "Pendulum-v1" and env.time_limit == 200
        one = env.start_one()
        assert one.unwrapped.g == 2.0 and "Monitor" not in str(one)
        vectors.env_method("reset")
    finally:
        vectors.close()


class FromAbroad(SubprocVecEnv):
    """Answers like workers whose env says of itself what it is told to say."""

    def __init__(self, text: str) -> None:
        self.num_envs, self.waiting, self.closed = 1, False, True
        self.observation_space, self.action_space = Box(-1, 1, (2,)), Discrete(2)
        self.reset_infos, self.render_mode, self._text = [{}], None, text

    def env_method(self, method_name: str, *_: Any, **__: Any) -> list[Any]:
        assert method_name == "__str__", "only a text is always safe to ask for"
        return [self._text]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        raise AssertionError(attr_name)


@pytest.mark.parametrize(
    ("text", "why"),
    [("<Monitor<Own instance>>", "no spec"), ("<Scaled<TimeLimit<Pole<Pole-v1>>>>", "Scaled")],
)
def test_envs_in_other_processes_without_a_spec_are_refused(text, why) -> None:
    model = model_in(DummyVecEnv([pole]))
    model.env = FromAbroad(text)
    with pytest.raises(UsageError, match=why) as refused:
        host_env(model)
    assert "pass env=" in refused.value.fix
    assert env_name(model) in ("Own", "Pole-v1")


class Doubled(VecEnvWrapper):
    """A vec wrapper that nobody knows."""

    def reset(self) -> Any:
        return self.venv.reset()

    def step_wait(self) -> Any:
        seen, reward, ended, infos = self.venv.step_wait()
        return seen, 2 * reward, ended, infos


def test_an_unknown_vec_wrapper_is_refused_and_part_of_an_env_that_is_given() -> None:
    model = model_in(Doubled(VecNormalize(DummyVecEnv([partial(made, "Pendulum-v1")]))))
    with pytest.raises(UsageError, match="Doubled") as refused:
        host_env(model)
    assert "env=" in refused.value.fix and refused.value.exit_code == 2
    with pytest.warns(UserWarning, match="Doubled"):
        one = host_env(model, env=partial(made, "Pendulum-v1", 4)).start_one()
    assert isinstance(one.vec_env, VecNormalize)


def test_a_given_env_is_checked() -> None:
    model = model_in(DummyVecEnv([pole]))
    assert host_env(model, env="CartPole-v1").time_limit == 500
    assert host_env(model, env=lambda: TimeLimit(made("CartPole-v1"), 3)).time_limit == 3
    own, shared = model.get_env().envs[0], made("CartPole-v1")
    for env in (lambda: own, lambda: shared):
        with pytest.raises(UsageError, match="in use"):
            host_env(model, env=env)
    for env, why in (("Pendulum-v1", "policy takes"), (own, "neither"), ("No-v0", "built")):
        with pytest.raises(UsageError, match=why):
            host_env(model, env=env)
    model.env = None
    with pytest.raises(UsageError, match="no env"):
        host_env(model)
    assert host_env(model, env="CartPole-v1").start_one().observation_space.shape == (4,)


def test_a_model_without_an_env_sees_pictures_channels_first() -> None:
    model = model_in(DummyVecEnv([Picture]), "CnnPolicy")
    model.env = None
    assert host_env(model, env=Picture).start_one().observation_space.shape == (1, 36, 36)


def test_observations_that_sb3_cannot_read_are_refused() -> None:
    """Its one-hot code of 1 to 3 in three places fails at 3, and is wrong before."""

    class Shifted(Picture):
        observation_space = Discrete(3, start=1)

    with pytest.raises(UsageError, match="start at 0"):
        host_env(model_in(DummyVecEnv([Shifted])))
