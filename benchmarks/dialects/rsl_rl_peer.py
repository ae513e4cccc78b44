"""rsl_rl: mini-batches as its storage gives them out, gradient steps as calls of its optimiser."""

import contextlib
import io
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

from benchmarks.dialects.counted import Counted

_MODEL = {"class_name": "rsl_rl.models.MLPModel", "hidden_dims": [8], "activation": "elu"}


class _Walk(VecEnv):
    """A point that is pushed; an episode lasts ten steps."""

    def __init__(self, num_envs: int) -> None:
        self.num_envs, self.num_actions, self.max_episode_length = num_envs, 1, 10
        self.device, self.cfg = "cpu", {}
        self.episode_length_buf = torch.zeros(num_envs, dtype=torch.long)
        self.place = torch.zeros(num_envs, 2)

    def get_observations(self) -> TensorDict:
        return TensorDict({"policy": self.place.clone()}, batch_size=[self.num_envs])

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict]:
        self.place[:, :1] += actions.detach().clamp(-1, 1)
        self.episode_length_buf += 1
        ended = self.episode_length_buf >= self.max_episode_length
        self.place[ended] = 0.0
        self.episode_length_buf[ended] = 0
        return self.get_observations(), -self.place[:, 0].abs(), ended.float(), {}


def rsl_rl(settings: Mapping[str, Any]) -> Counted:
    """rsl_rl's PPO with its on-policy runner."""
    counted = Counted()
    names = ("num_mini_batches", "num_learning_epochs")
    sizes = {name: settings[name] for name in names if name in settings}
    config = {
        "num_steps_per_env": settings["num_steps_per_env"],
        "save_interval": 10**9,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "algorithm": {"class_name": "rsl_rl.algorithms.PPO", **sizes},
        "actor": {**_MODEL, "distribution_cfg": {"class_name": "GaussianDistribution"}},
        "critic": dict(_MODEL),
    }
    with contextlib.redirect_stdout(io.StringIO()):
        runner = OnPolicyRunner(_Walk(settings["num_envs"]), config, log_dir=None, device="cpu")
        _count(runner.alg, counted)
        runner.learn(settings["num_learning_iterations"])
    return counted


def _count(algorithm: Any, counted: Counted) -> None:
    """Count what the algorithm does from now on."""
    storage, step = algorithm.storage, algorithm.optimizer.step
    minibatches = storage.mini_batch_generator

    def giving(*given: Any, **named: Any) -> Iterator[Any]:
        counted.begin_update()
        for one in minibatches(*given, **named):
            counted.see(len(one.actions))
            yield one

    def stepping(*given: Any, **named: Any) -> Any:
        counted.step()
        return step(*given, **named)

    storage.mini_batch_generator, algorithm.optimizer.step = giving, stepping
