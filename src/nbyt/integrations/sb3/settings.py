"""A Stable-Baselines3 model's settings in nbyt's words."""

from typing import Any

from nbyt.integrations.sb3.batch import loss_of
from nbyt.integrations.sb3.envs import env_name
from nbyt.integrations.sb3.minibatches import constant


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
        "settings": described(model),
        "parameters": parameters,
        "advantages": "normalised" if model.normalize_advantage else "raw",
        "every": every,
    }


def facts_of(model: Any) -> dict[str, Any]:
    """What a stage says about its training, of a model as it is now."""
    loss = loss_of(model)
    return {
        "updates": model.num_timesteps // (model.n_steps * model.n_envs),
        "steps": model.num_timesteps,
        "layout": {"envs": model.n_envs, "steps": model.n_steps},
        "settings": {
            "gamma": float(model.gamma),
            "lambda": float(model.gae_lambda),
            "value_coefficient": loss.value_coefficient,
            "entropy_coefficient": loss.entropy_coefficient,
            "normalise_advantages": "minibatch" if loss.normalise else "off",
        },
    }


def described(model: Any) -> dict[str, Any]:
    """The numbers of its objective and of its optimiser."""
    return {
        "gamma": float(model.gamma),
        "lambda": float(model.gae_lambda),
        "learning_rate": constant(model.learning_rate),
        "clip": constant(getattr(model, "clip_range", None)),
        "value_coefficient": loss_of(model).value_coefficient,
        "entropy_coefficient": float(model.ent_coef),
        "max_grad_norm": float(model.max_grad_norm),
        "policy": type(model.policy).__name__,
    }
