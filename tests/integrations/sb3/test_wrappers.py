"""Vec wrappers around a model's env: those that cannot be copied, and that of pictures."""

from functools import partial
from typing import Any

import pytest
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnvWrapper, VecNormalize
from tests.integrations.sb3.sb3_toys import Picture, made, model_in

from nbyt.errors import UsageError
from nbyt.integrations.sb3.envs import host_env


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


def test_a_model_without_an_env_sees_pictures_channels_first() -> None:
    model = model_in(DummyVecEnv([Picture]), "CnnPolicy")
    model.env = None
    assert host_env(model, env=Picture).start_one().observation_space.shape == (1, 36, 36)
