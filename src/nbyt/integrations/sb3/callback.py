"""GradientProbe: a callback that measures the gradient of a Stable-Baselines3 training."""

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbyt.errors import UsageError
from nbyt.integrations.loops import History
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
from nbyt.measure.chains import Resources
from nbyt.measure.live import BatchMeasurement, measure_batch, pieces
from nbyt.measure.probe import examine
from nbyt.measure.request import Request, make_request
from nbyt.numbers import CHAIN_COUNT, PROBABILITY, SIZES, STEPS, require
from nbyt.rng import require_seed

# Numbers for Stable-Baselines3's own logger, from where TensorBoard, CSV and W&B have them.
#
# The table on the screen shows the few that one looks at; files get all, with their intervals.

_SHOWN = ("actor_ess_ratio", "actor_noise_scale", "actor_alignment")
_POOLED = ("bias_factor", "alignment", "cosine")


def log_batch(logger: Any, measured: BatchMeasurement) -> None:
    """Nothing; the logger then has every estimate of the batch."""
    for objective, gradient in measured.gradients.items():
        for name, number in gradient.as_dict().items():
            _record(logger, f"{objective}_{name}", number)


def log_pool(logger: Any, pool: dict[str, Any], steps: int) -> None:
    """Nothing; the logger then has the training's own layout beside the true gradient."""
    for layout in pool["layouts"]:
        if layout["steps"] == steps:
            for objective in ("actor", "critic", "total"):
                for name in _POOLED:
                    _record(logger, f"{objective}_{name}", layout[objective][name])
    _record(logger, "explained_variance", pool["explained_variance"])


def log_minibatches(logger: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Nothing; the logger then has the first and the last epoch of the update, and its extremes."""
    if not rows:
        return
    for word, epoch in (("first", rows[0]["epoch"]), ("last", rows[-1]["epoch"])):
        own = [row for row in rows if row["epoch"] == epoch]
        for name in ("cosine", "clip_fraction", "approximate_kl"):
            known = [row[name] for row in own if row[name] is not None]
            if known:
                _put(logger, f"minibatch_{name}_{word}", sum(known) / len(known))
    _put(logger, "ratio_low", min(row["ratio_low"] for row in rows))
    _put(logger, "ratio_high", max(row["ratio_high"] for row in rows))


def _record(logger: Any, name: str, number: dict[str, Any]) -> None:
    for end in ("value", "low", "high"):
        if number[end] is not None:
            _put(logger, name if end == "value" else f"{name}_{end}", number[end])


def _put(logger: Any, name: str, value: float) -> None:
    logger.record(f"nbyt/{name}", value, exclude=None if name in _SHOWN else "stdout")


_Callback: Any = module("common.callbacks").BaseCallback


class GradientProbe(_Callback):  # type: ignore[misc, valid-type]
    """Measures every so many rollouts; the training learns what it would learn without.

    every: rollouts from one measurement to the next. minibatches: watch each mini-batch of the
    measured updates too. pool: so many chains of the frozen policy, in copies of the envs, give a
    reference: bias and alignment, for the price of running them. steps: T to measure there, the
    training's own without. env: a function that makes an env, or an id, where the model's own
    cannot be copied. out: a folder that keeps everything, for `nbyt report`. share: the most of
    the training's time that measuring may take; one that would take more waits for its next turn.
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
        super().__init__(verbose)
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
        self._history: History | None = None

    def _init_callback(self) -> None:
        """All that may be refused is refused here, before anything is trained."""
        require_measurable(self.model)
        self._engine = engine_of(self.model)
        require_as_trained(self.model, self._engine)
        loss_of(self.model)
        pieces(self.model.n_envs, self.model.n_steps)
        with preserve_policy(self.model.policy):
            sizes = self._engine.sizes
            if self._pool:
                self._request(0)
                _ = host_env(self.model, self._env).action_space  # refused here, if at all
        if self._out is not None:
            head = head_of(self.model, every=self.every, parameters=sizes)
            title = f"{type(self.model).__name__} on {env_name(self.model)}"
            self._history = History(self._out, title=title, library=version(), **head)

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        self._finish()

    def _on_rollout_end(self) -> None:
        self._rollouts += 1
        # Counted by the model, so that a training that goes on in another process goes on here.
        update = self.model.num_timesteps // (self.model.n_steps * self.model.n_envs)
        if update % self.every == 0 and self._affordable():
            self._measure(update)
            self._measured_at = time.perf_counter()

    def _affordable(self) -> bool:
        """Whether measuring again, if it takes as long as last time, stays within its share."""
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
        if self._history is not None:
            page = self._history.write_page()
            if self.verbose:
                self.logger.info(f"nbyt: {page}")

    def _measure(self, update: int) -> None:
        """One record; that of the mini-batches follows when the update is made."""
        began, model = time.perf_counter(), self.model
        batch, loss = batch_of(model), loss_of(model)
        with preserve_policy(model.policy):
            measured = measure_batch(self._engine, batch, loss)
            if self._minibatches:
                direction = batch_gradient(self._engine, batch, loss)
        pool = self._measure_pool(update) if self._pool else None
        returns = [float(episode["r"]) for episode in model.ep_info_buffer or ()]
        self.records.append(
            {
                "update": update,
                "samples": model.num_timesteps,
                "mean_return": sum(returns) / len(returns) if returns else None,
                **measured.as_dict(),
                "minibatches": None,
                "pool": pool,
                "seconds": time.perf_counter() - began,
            }
        )
        self._keep()
        log_batch(self.logger, measured)
        if pool is not None:
            log_pool(self.logger, pool, model.n_steps)
        if self._minibatches:
            self._watch = MinibatchWatch(model, direction)

    def _measure_pool(self, update: int) -> dict[str, Any]:
        """The frozen policy's gradient beside the true one, in copies of the envs."""
        with preserve_policy(self.model.policy):
            frozen_policy = FrozenSB3Policy(self.model, host_env(self.model, self._env))
            resources = Resources(envs=self._pool)
            found = examine(frozen_policy, self._request(update), phase=False, resources=resources)
        data = found.as_dict()
        return {
            "chains": found.chains,
            "steps": found.request.chain_steps,
            "explained_variance": data["critic"]["explained_variance"],
            "mean_return": data["mean_return"],
            "layouts": data["layouts"],
            "warnings": list(found.warnings),
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
        """Take leave of the update that was watched, and keep the record."""
        if self._watch is not None:
            self._watch.stop()
            self.records[-1]["minibatches"] = self._watch.rows
            log_minibatches(self.logger, self._watch.rows)
            self._watch = None
            self._keep()

    def _keep(self) -> None:
        if self._history is not None:
            self._history.add(self.records[-1])
