"""A Stable-Baselines3 model, frozen as it is now, in copies of its env; and its settings."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict

from nbyt.collect.pool import Pool, collect_host_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import HostEnv
from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_policy import undisturbed, weights_of, without_gradients
from nbyt.integrations.sb3.envs import env_name
from nbyt.integrations.sb3.package import version
from nbyt.integrations.sb3.policy import (
    Packing,
    engine_of,
    policy_input,
    preserve_policy,
    torch_policy,
)
from nbyt.measure.frozen_policy import hashed
from nbyt.measure.live import LiveBatch, Loss
from nbyt.results.probes import ProbeLog
from nbyt.results.values import Layout
from nbyt.rng import seeds


def loss_of(model: Any) -> Loss:
    """Return the coefficients of the model's loss; SB3 does not halve the squared error."""
    return Loss(
        value_coefficient=2 * float(model.vf_coef),
        entropy_coefficient=float(model.ent_coef),
        normalise=bool(model.normalize_advantage),
    )


def batch_of(model: Any) -> LiveBatch:
    """Return the rollout that the model's buffer was just filled with."""
    buffer, space = model.rollout_buffer, model.observation_space
    observation = buffer.observations
    if isinstance(space, Dict):
        # The buffer gives a number an axis of its own, which the space does not have.
        shapes = {name: part.shape or () for name, part in space.spaces.items()}
        rows = buffer.advantages.shape
        observation = {name: observation[name].reshape(*rows, *shapes[name]) for name in shapes}
    packed = Packing(space).pack(observation)
    return LiveBatch(packed, np.array(buffer.actions), np.array(buffer.advantages))


def sizes_of(model: Any) -> dict[str, Any]:
    """Return the sizes of the model's training, by the names of `Evidence`."""
    batch = model.n_steps * model.n_envs
    return {
        "envs": model.n_envs,
        "steps": model.n_steps,
        "minibatch": getattr(model, "batch_size", batch),
        "epochs": getattr(model, "n_epochs", 1),
    }


def log_of(model: Any, *, every: int, parameters: dict[str, int]) -> ProbeLog:
    """Return what probes.json says about the training."""
    batch = model.n_steps * model.n_envs
    minibatch = getattr(model, "batch_size", batch)
    return ProbeLog(
        title=f"{type(model).__name__} on {env_name(model)}",
        library=version(),
        algorithm=type(model).__name__,
        env=env_name(model),
        layout=Layout(
            envs=model.n_envs,
            steps=model.n_steps,
            batch=batch,
            minibatch=minibatch,
            minibatches=-(-batch // minibatch),
            epochs=getattr(model, "n_epochs", 1),
        ),
        settings={
            **_objective(model),
            "learning_rate": _constant(model.learning_rate),
            "clip": _constant(getattr(model, "clip_range", None)),
            "max_grad_norm": float(model.max_grad_norm),
            "policy": type(model.policy).__name__,
        },
        parameters=parameters,
        advantages="normalised" if model.normalize_advantage else "raw",
        every=every,
    )


def facts_of(model: Any) -> dict[str, Any]:
    """Return the facts of a stage, for the model as it is now."""
    normalise = "minibatch" if model.normalize_advantage else "off"
    return {
        "updates": model.num_timesteps // (model.n_steps * model.n_envs),
        "steps": model.num_timesteps,
        "layout": {"envs": model.n_envs, "steps": model.n_steps},
        "settings": {**_objective(model), "normalise_advantages": normalise},
    }


def _objective(model: Any) -> dict[str, float]:
    loss = loss_of(model)
    return {
        "gamma": float(model.gamma),
        "lambda": float(model.gae_lambda),
        "value_coefficient": loss.value_coefficient,
        "entropy_coefficient": loss.entropy_coefficient,
    }


def _constant(schedule: Any) -> float | str | None:
    """Return the value of a setting that never changes, or "a schedule"."""
    if not callable(schedule):
        return None if schedule is None else float(schedule)
    ends = [float(schedule(left)) for left in (1.0, 0.5, 0.0)]
    return ends[0] if len(set(ends)) == 1 else "a schedule"


class SB3HostPolicy:
    """The model's policy as a pool's actor and critic; it draws from torch's generator."""

    def __init__(self, model: Any) -> None:
        self._model, self._policy = model, torch_policy(model)

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> "SB3HostPolicy":
        """Return itself: torch's generator goes on from segment to segment."""
        return self

    def act(self, observation: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Return actions as the policy drew them, and as the envs take them."""
        model = self._model
        rows = policy_input(model, self._policy, observation)
        with without_gradients():
            action = model.policy.get_distribution(rows).get_actions().cpu().numpy()
        if not isinstance(model.action_space, Box):
            return action, action
        action = action.reshape(len(action), *model.action_space.shape)
        if model.policy.squash_output:
            return action, model.policy.unscale_action(action)
        return action, np.clip(action, model.action_space.low, model.action_space.high)

    def values(self, observation: np.ndarray) -> np.ndarray:
        """Return the critic's values of observations [L, n, ...]."""
        steps, envs = observation.shape[:2]
        flat = observation.reshape(steps * envs, *observation.shape[2:])
        rows = policy_input(self._model, self._policy, flat)
        with without_gradients():
            return self._model.policy.predict_values(rows).cpu().numpy().reshape(steps, envs)


@dataclass(frozen=True)
class FrozenSB3Policy:
    """A model that is not trained while it is measured; its own envs are not stepped."""

    model: Any
    env: HostEnv
    passes_time_limits: ClassVar[bool] = False  # pools of Gymnasium's envs stop at them

    @property
    def id(self) -> str:
        return self.env.id

    @cached_property
    def facts(self) -> dict[str, Any]:
        return facts_of(self.model)

    @cached_property
    def engine(self) -> TorchEngine:
        return engine_of(self.model)

    @property
    def reward_unit(self) -> float:
        """Return what VecNormalize divides rewards by, 1 without it."""
        normalised = self.model.get_vec_normalize_env()
        if normalised is None or not normalised.norm_reward:
            return 1.0
        return float(math.sqrt(normalised.ret_rms.var + normalised.epsilon))

    @property
    def fingerprint(self) -> str:
        return hashed(weights_of(self.model.policy))

    def collect(self, plan: PoolPlan, progress: Callable[[int, int], None]) -> Pool:
        """Collect the pool of a plan, with random numbers of its own."""
        role = f"sb3.pool.{plan.round}.{plan.synchronised}"
        with undisturbed(seeds(plan.seed, role, 1)[0]), preserve_policy(self.model.policy):
            return collect_host_pool(self.env, SB3HostPolicy(self.model), plan, progress)
