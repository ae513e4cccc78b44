"""Small trainings of Stable-Baselines3 with a planted fault each, and healthy ones."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import torch


@dataclass(frozen=True)
class Case:
    """A training. fault: the rule that should speak, "" for a healthy one."""

    name: str
    fault: str
    env: str = "CartPole-v1"
    envs: int = 8
    total: int = 16_384
    every: int = 2
    stagger: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


_USUAL = {"n_steps": 64, "batch_size": 128, "n_epochs": 4}
_SHORT = {"n_steps": 16, "batch_size": 64, "n_epochs": 4, "gamma": 0.9, "learning_rate": 1e-3}
_PENDULUM = {"env": "Pendulum-v1", "envs": 16, "total": 12_800, "every": 5}

CASES = (
    Case("same starts", "same_starts", **_PENDULUM, settings=_SHORT),
    Case("one env", "few_envs", envs=1, total=8192, settings={**_USUAL, "n_steps": 256}),
    Case("60 epochs", "late_epochs", total=12_288, settings={**_USUAL, "n_epochs": 60}),
    Case("ragged tail", "ragged", settings={**_USUAL, "batch_size": 120}),
    Case("batch too large", "few_updates", every=1, settings={**_USUAL, "n_steps": 512}),
    Case("dead critic", "dead_critic", settings={**_USUAL, "vf_coef": 0.0}),
    Case("healthy CartPole", "", settings=_USUAL),
    Case("healthy CartPole, 10 epochs", "", settings={**_USUAL, "n_epochs": 10}),
    Case("healthy CartPole, 32 envs", "", envs=32, settings={**_USUAL, "n_steps": 16}),
    Case("healthy Pendulum, staggered", "", **_PENDULUM, stagger=True, settings=_SHORT),
)


def said(case: Case, seed: int) -> dict[str, Any]:
    """The summary of one training of a case."""
    from stable_baselines3 import PPO

    from nbyt.integrations.sb3 import GradientProbe

    torch.set_num_threads(1)
    probe = GradientProbe(every=case.every)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PPO("MlpPolicy", _envs(case, seed), seed=seed, device="cpu", **case.settings)
        model.learn(case.total, callback=probe)
    model.get_env().close()
    return probe.summary().as_dict()


def _envs(case: Case, seed: int) -> Any:
    from stable_baselines3.common.env_util import make_vec_env

    if not case.stagger:
        return make_vec_env(case.env, case.envs, seed=seed)
    limits = iter(np.random.default_rng(seed).integers(1, 201, case.envs))
    return make_vec_env(
        lambda: FirstCut(gymnasium.make(case.env), int(next(limits))), case.envs, seed=seed
    )


class FirstCut(gymnasium.Wrapper):
    """Cuts the first episode after so many steps."""

    def __init__(self, env: gymnasium.Env, limit: int) -> None:
        super().__init__(env)
        self._left = limit

    def step(self, action: Any) -> Any:
        """Step, and cut once."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._left -= 1
        return observation, reward, terminated, truncated or self._left == 0, info
