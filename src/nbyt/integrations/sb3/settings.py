"""A Stable-Baselines3 model's settings in nbyt's words."""

from typing import Any

import numpy as np
from gymnasium.spaces import Dict

from nbyt.integrations.sb3.envs import env_name
from nbyt.integrations.sb3.policy import Packing
from nbyt.measure.live import LiveBatch, Loss


def loss_of(model: Any) -> Loss:
    """The numbers of the model's loss; SB3 does not halve the squared error."""
    return Loss(
        value_coefficient=2 * float(model.vf_coef),
        entropy_coefficient=float(model.ent_coef),
        normalise=bool(model.normalize_advantage),
    )


def batch_of(model: Any) -> LiveBatch:
    """The rollout that the model's buffer was just filled with."""
    buffer, space = model.rollout_buffer, model.observation_space
    observation = buffer.observations
    if isinstance(space, Dict):
        # The buffer gives a number an axis of its own, which the space does not have.
        rows = buffer.advantages.shape
        observation = {
            name: observation[name].reshape(*rows, *(part.shape or ()))
            for name, part in space.spaces.items()
        }
    packed = Packing(space).pack(observation)
    return LiveBatch(packed, np.array(buffer.actions), np.array(buffer.advantages))


def head_of(model: Any, *, every: int, parameters: dict[str, int]) -> dict[str, Any]:
    """What a training's history says about it."""
    batch = model.n_steps * model.n_envs
    minibatch = getattr(model, "batch_size", batch)
    return {
        "algorithm": type(model).__name__,
        "env": env_name(model),
        "layout": {
            "envs": model.n_envs,
            "steps": model.n_steps,
            "batch": batch,
            "minibatch": minibatch,
            "minibatches": -(-batch // minibatch),
            "epochs": getattr(model, "n_epochs", 1),
        },
        "settings": _described(model),
        "parameters": parameters,
        "advantages": "normalised" if model.normalize_advantage else "raw",
        "every": every,
    }


def facts_of(model: Any) -> dict[str, Any]:
    """What a stage says about its training, of a model as it is now."""
    settings = {
        **_objective(model),
        "normalise_advantages": "minibatch" if model.normalize_advantage else "off",
    }
    return {
        "updates": model.num_timesteps // (model.n_steps * model.n_envs),
        "steps": model.num_timesteps,
        "layout": {"envs": model.n_envs, "steps": model.n_steps},
        "settings": settings,
    }


def _objective(model: Any) -> dict[str, float]:
    loss = loss_of(model)
    return {
        "gamma": float(model.gamma),
        "lambda": float(model.gae_lambda),
        "value_coefficient": loss.value_coefficient,
        "entropy_coefficient": loss.entropy_coefficient,
    }


def _described(model: Any) -> dict[str, Any]:
    """The numbers of its objective and of its optimiser."""
    return {
        **_objective(model),
        "learning_rate": _constant(model.learning_rate),
        "clip": _constant(getattr(model, "clip_range", None)),
        "max_grad_norm": float(model.max_grad_norm),
        "policy": type(model.policy).__name__,
    }


def _constant(schedule: Any) -> Any:
    """The value of a setting that never changes, "a schedule" for one that does."""
    if not callable(schedule):
        return schedule
    ends = [float(schedule(left)) for left in (1.0, 0.5, 0.0)]
    return ends[0] if len(set(ends)) == 1 else "a schedule"
