"""Watch every mini-batch of one update while Stable-Baselines3 makes its gradient steps.

Recorded before each gradient step: how far the policy has moved on the mini-batch's samples, and
how its gradient aligns with that of the whole batch. Nothing is changed: the buffer hands out
what it would, the optimiser steps as it would.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from msgspec.structs import replace

from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_policy import pointing
from nbyt.measure.live import LiveBatch, Loss
from nbyt.results.probes import Minibatch


def batch_gradient(engine: TorchEngine, batch: LiveBatch, loss: Loss) -> np.ndarray:
    observation, action, advantage = (x.reshape(-1, *x.shape[2:]) for x in batch)
    actor = advantage
    if loss.normalise:
        actor = (advantage - advantage.mean()) / max(advantage.std(), 1e-8)
    weights = {"actor": actor, "critic": loss.value_coefficient * advantage}
    if loss.entropy_coefficient:
        weights["entropy"] = np.full_like(advantage, loss.entropy_coefficient)
    return engine.gradient(observation, action, {p: w / w.size for p, w in weights.items()})


class MinibatchWatch:
    """Watches the model's next update; `rows` then holds what each mini-batch did, in order."""

    def __init__(self, model: Any, direction: np.ndarray) -> None:
        self.rows: list[Minibatch] = []
        self._model, self._direction, self._epoch = model, direction, -1
        self._train = _Replacement(model, "train", self._training)

    def _training(self) -> None:
        """Run one update; buffer, policy and optimiser are restored even if it fails."""
        self._train.restore()
        buffer, policy = self._model.rollout_buffer, self._model.policy
        self._get = _Replacement(buffer, "get", self._given)
        self._evaluate = _Replacement(policy, "evaluate_actions", self._evaluated)
        hook = policy.optimizer.register_step_pre_hook(self._stepping)
        try:
            self._model.train()
        finally:
            hook.remove()
            self._evaluate.restore()
            self._get.restore()

    def stop(self) -> None:
        """Stop waiting for an update that never came."""
        self._train.restore()

    def _given(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Yield the mini-batches of one epoch, as the buffer gives them."""
        self._epoch += 1
        for samples in self._get.original(*args, **kwargs):
            self._old = samples.old_log_prob
            yield samples

    def _evaluated(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the policy says of a mini-batch, and record how far it has moved."""
        outputs = self._evaluate.original(*args, **kwargs)
        moved = (outputs[1].detach() - self._old).cpu().numpy().astype(float)
        ratio, clip = np.exp(moved), clip_range(self._model)
        self.rows.append(
            Minibatch(
                epoch=self._epoch,
                ratio_low=float(ratio.min()),
                ratio_high=float(ratio.max()),
                clip_fraction=None if clip is None else float(np.mean(np.abs(ratio - 1) > clip)),
                approximate_kl=float(np.mean(ratio - 1 - moved)),
                cosine=None,
            )
        )
        return outputs

    def _stepping(self, *_: Any) -> None:
        if self.rows:
            cosine = pointing(self._model.policy, self._direction)
            self.rows[-1] = replace(self.rows[-1], cosine=cosine)


class _Replacement:
    """A function in place of an object's method, until it is restored."""

    def __init__(self, owner: Any, name: str, function: Callable[..., Any]) -> None:
        self.original = getattr(owner, name)
        self._owner, self._name, self._function = owner, name, function
        self._own = vars(owner).get(name)
        setattr(owner, name, function)

    def restore(self) -> None:
        """Restore the method, be it the object's or its class's."""
        if vars(self._owner).get(self._name) != self._function:
            return
        delattr(self._owner, self._name)
        if self._own is not None:
            setattr(self._owner, self._name, self._own)


def clip_range(model: Any) -> float | None:
    """Return PPO's clip range now; None for an algorithm without one."""
    clip = getattr(model, "clip_range", None)
    return float(clip(model._current_progress_remaining)) if callable(clip) else clip
