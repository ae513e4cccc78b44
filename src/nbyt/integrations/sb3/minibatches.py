"""What every mini-batch of one update does, watched while Stable-Baselines3 makes its steps.

Looked at before each gradient step: how far the policy has moved on the mini-batch's samples, and
where its gradient points beside that of the whole batch. Nothing is changed: the buffer hands out
what it would, the optimiser steps as it would.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nbyt.gradients.torch_engine import TorchEngine
from nbyt.gradients.torch_policy import pointing
from nbyt.measure.live import LiveBatch, Loss


def batch_gradient(engine: TorchEngine, batch: LiveBatch, loss: Loss) -> np.ndarray:
    """The gradient of the whole batch before the first step: what all mini-batches stand for."""
    observation, action, advantage = (x.reshape(-1, *x.shape[2:]) for x in batch)
    actor = advantage
    if loss.normalise:
        actor = (advantage - advantage.mean()) / max(advantage.std(), 1e-8)
    weights = {"actor": actor, "critic": loss.value_coefficient * advantage}
    if loss.entropy_coefficient:
        weights["entropy"] = np.full_like(advantage, loss.entropy_coefficient)
    return engine.gradient(observation, action, {p: w / w.size for p, w in weights.items()})


class MinibatchWatch:
    """Watches one update; `rows` then holds what each mini-batch did, in order."""

    def __init__(self, model: Any, direction: np.ndarray) -> None:
        self.rows: list[dict[str, Any]] = []
        self._model, self._direction, self._epoch = model, direction, -1
        self._clip = clip_range(model)
        self._get: Callable[..., Any] = model.rollout_buffer.get
        self._evaluate: Callable[..., Any] = model.policy.evaluate_actions
        model.rollout_buffer.get = self._watched
        model.policy.evaluate_actions = self._evaluated
        self._hook = model.policy.optimizer.register_step_pre_hook(self._stepping)

    def stop(self) -> None:
        """Nothing; buffer, policy and optimiser are then as they were."""
        self._hook.remove()
        del self._model.rollout_buffer.get, self._model.policy.evaluate_actions

    def _watched(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """The mini-batches of one epoch, as the buffer gives them."""
        self._epoch += 1
        for samples in self._get(*args, **kwargs):
            self._old = samples.old_log_prob
            yield samples

    def _evaluated(self, *args: Any, **kwargs: Any) -> Any:
        """What the policy says of a mini-batch before its step, and how far it has moved."""
        found = self._evaluate(*args, **kwargs)
        moved = (found[1].detach() - self._old).cpu().numpy().astype(float)
        ratio, clip = np.exp(moved), self._clip
        self.rows.append(
            {
                "epoch": self._epoch,
                "ratio_low": float(ratio.min()),
                "ratio_high": float(ratio.max()),
                "clip_fraction": None if clip is None else float(np.mean(np.abs(ratio - 1) > clip)),
                "approximate_kl": float(np.mean(ratio - 1 - moved)),
                "cosine": None,
                "length": None,
            }
        )
        return found

    def _stepping(self, *_: Any) -> None:
        if self.rows:
            cosine, length = pointing(self._model.policy, self._direction)
            self.rows[-1].update(cosine=cosine, length=length)


def clip_range(model: Any) -> float | None:
    """PPO's clip range now; None for an algorithm without one."""
    clip = getattr(model, "clip_range", None)
    return float(clip(model._current_progress_remaining)) if callable(clip) else clip
