"""One function per library: train one seed, give the learning curve and the final returns.

A curve has one point per update: how many training episodes ended in it, and their mean return.
"""

import gc
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import gymnasium
import jax
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.parity.play import Choose, episode_returns
from benchmarks.parity.tasks import EVALUATION_EPISODES, Task
from nbyt.layout import Layout
from nbyt.policy.actor_critic import ActorCritic, Params, Stage
from nbyt.policy.files import read_stage
from nbyt.rng import stream
from nbyt.store.files import METRICS, STAGE
from nbyt.store.run import open_run
from nbyt.training.loop import train
from nbyt.training.plan import PPOPlan, PPOSettings

# Far from every training seed, so that no evaluation starts where a training env did.
_EVALUATION_SEED = 1_000_000


class Learning(NamedTuple):
    """One trained seed: episodes and their mean return (None without) per update, and the end."""

    episodes: list[int]
    mean_return: list[float | None]
    final_returns: list[float]


def train_nbyt(task: Task, seed: int) -> Learning:
    """One seed of nbyt's PPO, through the Gymnasium env on the host."""
    layout = Layout(task.envs, task.steps, task.minibatch, task.epochs)
    settings = nbyt_settings(task)
    plan = PPOPlan(f"gym:{task.env}", layout, task.total, seed, settings, (task.updates,))
    with TemporaryDirectory() as name:
        folder = open_run(Path(name) / "run", plan.identity())
        train(plan, folder)
        rows = folder.read(METRICS)
        stage = read_stage(folder.path_of(STAGE, 1))
    return Learning(
        [int(row["episodes"]) for row in rows],
        [row["mean_return"] for row in rows],
        _evaluate(task, _nbyt_chooser(stage, seed), seed),
    )


def train_sb3(task: Task, seed: int) -> Learning:
    """One seed of Stable-Baselines3's PPO."""
    torch.set_num_threads(1)
    # Neither changes a number: no checks of every distribution, no search for garbage in JAX.
    torch.distributions.Distribution.set_default_validate_args(False)
    gc.freeze()
    envs = DummyVecEnv([lambda: Monitor(gymnasium.make(task.env))] * task.envs)
    model = PPO("MlpPolicy", envs, seed=seed, device="cpu", **sb3_settings(task))
    watch = _EpisodesByUpdate()
    model.learn(task.total, callback=watch)
    envs.close()
    means = [float(np.mean(ended)) if ended else None for ended in watch.returns]
    choose = partial(_sb3_choose, model)
    return Learning([len(e) for e in watch.returns], means, _evaluate(task, choose, seed))


PEERS: dict[str, Callable[[Task, int], Learning]] = {"nbyt": train_nbyt, "sb3": train_sb3}


def nbyt_settings(task: Task) -> PPOSettings:
    """The task's hyper-parameters as nbyt takes them."""
    return PPOSettings(
        gamma=task.gamma,
        lam=task.lam,
        learning_rate=task.learning_rate,
        clip=task.clip,
        entropy_coefficient=task.entropy_coefficient,
        # nbyt weighs half the squared error, SB3 the whole.
        value_coefficient=2 * task.squared_error_coefficient,
        max_grad_norm=task.max_grad_norm,
        clip_jointly=True,
        network="x".join(str(width) for width in task.widths),
    )


def sb3_settings(task: Task) -> dict[str, Any]:
    """The task's hyper-parameters as SB3 takes them."""
    return {
        "n_steps": task.steps,
        "batch_size": task.minibatch,
        "n_epochs": task.epochs,
        "learning_rate": task.learning_rate,
        "gamma": task.gamma,
        "gae_lambda": task.lam,
        "clip_range": task.clip,
        "ent_coef": task.entropy_coefficient,
        "vf_coef": task.squared_error_coefficient,
        "max_grad_norm": task.max_grad_norm,
        "policy_kwargs": {
            "net_arch": list(task.widths),
            # The same Adam in one kernel, a third faster; SB3 sets its eps only if we set nothing.
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
    }


class _EpisodesByUpdate(BaseCallback):
    """Returns of the training episodes that ended in each rollout."""

    def __init__(self) -> None:
        super().__init__()
        self.returns: list[list[float]] = []

    def _on_rollout_start(self) -> None:
        self.returns.append([])

    def _on_step(self) -> bool:
        ended = (info["episode"]["r"] for info in self.locals["infos"] if "episode" in info)
        self.returns[-1].extend(ended)
        return True


def _evaluate(task: Task, choose: Choose, seed: int) -> list[float]:
    return episode_returns(task.env, choose, EVALUATION_EPISODES, _EVALUATION_SEED + seed)


def _nbyt_chooser(stage: Stage, seed: int) -> Choose:
    key = stream(jax.random.key(seed), "parity.evaluate")
    times = count()
    return lambda rows: np.asarray(
        _nbyt_choose(stage.policy, stage.params, rows, stream(key, "step", next(times)))
    )


@partial(jax.jit, static_argnames=("policy",))
def _nbyt_choose(policy: ActorCritic, params: Params, rows: jax.Array, key: jax.Array) -> jax.Array:
    noise = policy.head.noise(key, rows.shape[:1])
    return policy.head.to_env(policy.head.sample(policy.parameters(params, rows), noise))


def _sb3_choose(model: PPO, rows: np.ndarray) -> np.ndarray:
    return model.predict(rows, deterministic=False)[0]
