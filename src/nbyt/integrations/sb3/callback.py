"""GradientProbe: a callback that measures the gradient of a Stable-Baselines3 training."""

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbyt.errors import UsageError
from nbyt.integrations.base import BaseProbe, probe_record
from nbyt.integrations.sb3.envs import Given, env_name, host_env
from nbyt.integrations.sb3.frozen_policy import (
    FrozenSB3Policy,
    batch_of,
    facts_of,
    head_of,
    loss_of,
)
from nbyt.integrations.sb3.minibatches import MinibatchWatch, batch_gradient
from nbyt.integrations.sb3.package import module, version
from nbyt.integrations.sb3.policy import (
    engine_of,
    preserve_policy,
    require_as_trained,
    require_measurable,
)
from nbyt.measure.live import BatchMeasurement, measure_batch, pieces
from nbyt.measure.probe import examine
from nbyt.measure.request import Request, Resources, make_request
from nbyt.numbers import CHAIN_COUNT, PROBABILITY, SIZES, STEPS, require
from nbyt.rng import require_seed

# SB3's table on the screen shows these; TensorBoard, CSV and W&B get all, with their intervals.
_SHOWN = ("actor_ess_ratio", "actor_noise_scale", "actor_alignment")
_POOLED = ("bias_factor", "alignment", "cosine")


def log_batch(logger: Any, measured: BatchMeasurement) -> None:
    """Log every estimate of the batch."""
    for objective, gradient in measured.gradients.items():
        for name, number in gradient.as_dict().items():
            _record(logger, f"{objective}_{name}", number)


def log_pool(logger: Any, pool: dict[str, Any], steps: int) -> None:
    """Log how the training's own layout compares with the true gradient."""
    for layout in pool["layouts"]:
        if layout["steps"] == steps:
            for objective in ("actor", "critic", "total"):
                for name in _POOLED:
                    _record(logger, f"{objective}_{name}", layout[objective][name])
    _record(logger, "explained_variance", pool["explained_variance"])


def log_minibatches(logger: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Log the first and the last epoch of the update, and its extremes."""
    if not rows:
        return
    for which, epoch in (("first", rows[0]["epoch"]), ("last", rows[-1]["epoch"])):
        in_epoch = [row for row in rows if row["epoch"] == epoch]
        for name in ("cosine", "clip_fraction", "approximate_kl"):
            known = [row[name] for row in in_epoch if row[name] is not None]
            if known:
                _put(logger, f"minibatch_{name}_{which}", sum(known) / len(known))
    _put(logger, "ratio_low", min(row["ratio_low"] for row in rows))
    _put(logger, "ratio_high", max(row["ratio_high"] for row in rows))


def _record(logger: Any, name: str, number: dict[str, Any]) -> None:
    for end in ("value", "low", "high"):
        if number[end] is not None:
            _put(logger, name if end == "value" else f"{name}_{end}", number[end])


def _put(logger: Any, name: str, value: float) -> None:
    logger.record(f"nbyt/{name}", value, exclude=None if name in _SHOWN else "stdout")


_Callback: Any = module("common.callbacks").BaseCallback


class GradientProbe(BaseProbe, _Callback):  # type: ignore[misc, valid-type]
    """Measure the gradients of a Stable-Baselines3 training, as its callback.

    The training learns exactly what it would learn without it.

    Parameters
    ----------
    every
        Rollouts from one measurement to the next.
    minibatches
        Also watch each mini-batch of the measured updates.
    pool
        Chains of the frozen policy, in copies of the envs, that give a reference: bias and
        alignment, for the price of running them. 0 for none.
    steps
        The T to measure with the pool; the training's own by default.
    env
        A function that makes an env, or an id, if the model's own cannot be copied.
    out
        A folder that keeps everything, for `nbyt report`.
    share
        The largest share of the training's time that measuring may take. A measurement that would
        take more waits for its next turn.
    seed
        Seed of the pool's chains.
    verbose
        1 to log where the page is.

    Examples
    --------
    >>> from stable_baselines3 import PPO
    >>> probe = GradientProbe(every=1)
    >>> model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, seed=0).learn(128, callback=probe)
    >>> [record["update"] for record in probe.records]
    [1, 2]
    >>> sorted(probe.records[0]["gradients"])
    ['actor', 'critic', 'total']
    """

    def __init__(
        self,
        every: int = 10,
        *,
        minibatches: bool = True,
        pool: int = 0,
        steps: Any = None,
        env: Given | None = None,
        out: Path | str | None = None,
        share: float | None = None,
        seed: int = 0,
        verbose: int = 0,
    ) -> None:
        _Callback.__init__(self, verbose)
        require(STEPS, every=every)
        require(CHAIN_COUNT, pool=pool or None)  # 0: no pool
        require(SIZES, steps=steps)
        require(PROBABILITY, share=share)
        if share in (0, 1):
            raise UsageError(f"share is {share}", where="share", fix="between 0 and 1, such as .05")
        self.every, self.share = every, share
        self.records: list[dict[str, Any]] = []
        self._minibatches, self._pool, self._steps = minibatches, pool, steps
        self._env, self._out, self._seed = env, out, require_seed(seed)
        self._rollouts, self._measured_at = 0, 0.0
        self._watch: MinibatchWatch | None = None

    def _init_callback(self) -> None:
        """Refuse what cannot be measured, before anything is trained."""
        require_measurable(self.model)
        self._engine = engine_of(self.model)
        require_as_trained(self.model, self._engine)
        loss_of(self.model)
        pieces(self.model.n_envs, self.model.n_steps)
        with preserve_policy(self.model.policy):
            sizes = self._engine.sizes
            if self._pool:
                self._request(0)
                _ = host_env(self.model, self._env).action_space
        if self._out is not None:
            head = head_of(self.model, every=self.every, parameters=sizes)
            title = f"{type(self.model).__name__} on {env_name(self.model)}"
            self._open_folder(self._out, title=title, library=version(), **head)

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        self._finish()

    def _on_rollout_end(self) -> None:
        self._rollouts += 1
        # Counted by the model, so that the count goes on when another process resumes training.
        update = self.model.num_timesteps // (self.model.n_steps * self.model.n_envs)
        if update % self.every == 0 and self._affordable():
            self._measure(update)
            self._measured_at = time.perf_counter()

    def _affordable(self) -> bool:
        """Return True if measuring, should it take as long as last time, stays within its share."""
        if self.share is None or not self.records:
            return True
        trained = time.perf_counter() - self._measured_at
        return self.records[-1]["seconds"] * (1 - self.share) <= trained * self.share

    def _on_training_end(self) -> None:
        self._finish()
        if not self.records:
            warnings.warn(
                f"no gradient was measured: the training made {self._rollouts} rollouts, and every "
                f"{self.every}th is measured",
                stacklevel=2,
            )
        page = self.write_page()
        if page is not None and self.verbose:
            self.logger.info(f"nbyt: {page}")

    def _measure(self, update: int) -> None:
        """Add a record; its mini-batches follow when the update is done."""
        began, model = time.perf_counter(), self.model
        batch, loss = batch_of(model), loss_of(model)
        with preserve_policy(model.policy):
            measured = measure_batch(self._engine, batch, loss)
            if self._minibatches:
                direction = batch_gradient(self._engine, batch, loss)
        pool = self._measure_pool(update) if self._pool else None
        returns = [float(episode["r"]) for episode in model.ep_info_buffer or ()]
        self.records.append(
            probe_record(
                measured,
                update=update,
                samples=model.num_timesteps,
                mean_return=sum(returns) / len(returns) if returns else None,
                seconds=time.perf_counter() - began,
                pool=pool,
            )
        )
        self._save(self.records[-1])
        log_batch(self.logger, measured)
        if pool is not None:
            log_pool(self.logger, pool, model.n_steps)
        if self._minibatches:
            self._watch = MinibatchWatch(model, direction)

    def _measure_pool(self, update: int) -> dict[str, Any]:
        """Measure the frozen policy against the true gradient, in copies of the envs."""
        with preserve_policy(self.model.policy):
            frozen_policy = FrozenSB3Policy(self.model, host_env(self.model, self._env))
            resources = Resources(envs=self._pool)
            probed = examine(frozen_policy, self._request(update), phase=False, resources=resources)
        data = probed.as_dict()
        return {
            "chains": probed.chains,
            "steps": probed.request.chain_steps,
            "explained_variance": data["critic"]["explained_variance"],
            "mean_return": data["mean_return"],
            "layouts": data["layouts"],
            "warnings": list(probed.warnings),
        }

    def _request(self, update: int) -> Request:
        model = self.model
        steps = model.n_steps if self._steps is None else self._steps
        return make_request(
            facts_of(model),
            batch=model.n_steps * model.n_envs,
            steps=steps,
            chains=self._pool,
            seed=self._seed + update,  # other chains every time
        )

    def _finish(self) -> None:
        """Stop watching the update, and save its record."""
        if self._watch is not None:
            self._watch.stop()
            self.records[-1]["minibatches"] = self._watch.rows
            log_minibatches(self.logger, self._watch.rows)
            self._watch = None
            self._save(self.records[-1])
