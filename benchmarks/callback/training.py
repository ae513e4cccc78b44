"""The same Stable-Baselines3 training, with the probe and without, a few rollouts at a time."""

import time
import warnings
from dataclasses import dataclass
from typing import Any

from nbyt.layout import Layout


@dataclass(frozen=True)
class Task:
    """What is trained; everything else is Stable-Baselines3's default."""

    env: str
    envs: int
    steps: int

    @property
    def batch(self) -> int:
        """Samples of a rollout."""
        return Layout(self.envs, self.steps).batch


TASKS = (
    Task("CartPole-v1", 8, 256),
    Task("CartPole-v1", 1, 2048),
    Task("HalfCheetah-v5", 1, 2048),
)


class Training:
    """A training that goes on from round to round, probed or not; two of them learn the same."""

    def __init__(self, task: Task) -> None:
        import torch

        torch.set_num_threads(1)
        # Said at the end of every learn(), and here each is a part of a training.
        warnings.filterwarnings("ignore", "no gradient was measured")
        self._task = task
        # Imports and first calls are paid once in a process, however long the training.
        self._learn(_model(task), _probe(every=1), 1)
        self._model, self._probe = _model(task), _probe()

    def train(self, rollouts: int, probed: bool) -> float:
        """Seconds that the next rollouts took."""
        return self._learn(self._model, self._probe if probed else None, rollouts)

    def probes(self) -> list[float]:
        """Seconds of each measurement so far."""
        return [record["seconds"] for record in self._probe.records]

    def fingerprint(self) -> str:
        """A hash of the weights."""
        from nbyt.gradients.engines.torch_policy import weights_of
        from nbyt.measure.frozen_policy import hashed

        return hashed(weights_of(self._model.policy))

    def _learn(self, model: Any, callback: Any, rollouts: int) -> float:
        began = time.perf_counter()
        model.learn(rollouts * self._task.batch, callback=callback, reset_num_timesteps=False)
        return time.perf_counter() - began


def _model(task: Task) -> Any:
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    envs = make_vec_env(task.env, task.envs, seed=0)
    return PPO("MlpPolicy", envs, n_steps=task.steps, seed=0, device="cpu")


def _probe(**settings: Any) -> Any:
    from nbyt.integrations.sb3 import GradientProbe

    return GradientProbe(**settings)
