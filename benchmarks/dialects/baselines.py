"""Stable-Baselines3 and SBX: mini-batches as their rollout buffer gives them out."""

from collections.abc import Iterator, Mapping
from typing import Any

from stable_baselines3.common.env_util import make_vec_env

from benchmarks.dialects.counted import Counted


def sb3(settings: Mapping[str, Any]) -> Counted:
    """Stable-Baselines3's PPO; gradient steps are calls of its optimiser."""
    from stable_baselines3 import PPO

    counted, model = _built(PPO, settings)
    if model is None:
        return counted
    optimiser = model.policy.optimizer
    step = optimiser.step

    def counting(*given: Any, **named: Any) -> Any:
        counted.step()
        return step(*given, **named)

    optimiser.step = counting
    model.learn(settings["total_timesteps"])
    return counted


def sbx(settings: Mapping[str, Any]) -> Counted:
    """SBX's PPO; gradient steps are those that its actor's state remembers."""
    from sbx import PPO

    counted, model = _built(PPO, settings)
    if model is None:
        return counted
    model.learn(settings["total_timesteps"])
    counted.gradient_steps = int(model.policy.actor_state.step)
    return counted


def _built(algorithm: Any, settings: Mapping[str, Any]) -> tuple[Counted, Any]:
    """A model whose mini-batches are counted; None if it refuses the settings."""
    counted = Counted()
    given = {key: settings[key] for key in ("n_steps", "batch_size", "n_epochs")}
    env = make_vec_env("CartPole-v1", n_envs=settings["n_envs"], seed=0)
    try:
        model = algorithm("MlpPolicy", env, seed=0, device="cpu", **given)
    except AssertionError as error:
        counted.refusal = str(error)
        return counted, None
    train, get = model.train, model.rollout_buffer.get

    def training() -> None:
        counted.begin_update()
        train()

    def getting(size: int | None = None) -> Iterator[Any]:
        for minibatch in get(size):
            counted.see(len(minibatch.advantages))
            yield minibatch

    model.train, model.rollout_buffer.get = training, getting
    return counted, model
