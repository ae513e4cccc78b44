"""GradientProbe: a callback that measures the gradient of a Stable-Baselines3 training."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import convert
from msgspec.structs import asdict, replace

from nbyt.errors import UsageError
from nbyt.integrations.base import BaseProbe, probe_record
from nbyt.integrations.evidence import Ages, Evidence, rollout_facts
from nbyt.integrations.rules import Summary, summarise
from nbyt.integrations.sb3.envs import Given, host_env
from nbyt.integrations.sb3.frozen_policy import (
    FrozenSB3Policy,
    batch_of,
    facts_of,
    log_of,
    loss_of,
    sizes_of,
)
from nbyt.integrations.sb3.minibatches import MinibatchWatch, batch_gradient
from nbyt.integrations.sb3.package import module
from nbyt.integrations.sb3.policy import (
    engine_of,
    preserve_policy,
    require_as_trained,
    require_measurable,
)
from nbyt.measure.live import measure_batch, pieces
from nbyt.measure.probe import examine
from nbyt.measure.request import Request, Resources, make_request
from nbyt.numbers import CHAIN_COUNT, PROBABILITY, SEED, SIZES, STEPS, require
from nbyt.results.probes import Minibatch, ProbedPool, ProbeRecord
from nbyt.results.values import Data, Estimate, given, plain

# SB3's table on the screen shows these.
_SHOWN = ("actor_ess_ratio", "actor_noise_scale", "actor_alignment")
# TensorBoard, CSV and W&B get these, and with verbose=2 all, with their intervals.
_LOGGED = (
    *(f"{one}_{name}" for one in ("actor", "critic") for name in ("ess_ratio", "noise_scale")),
    *("minibatch_cosine_first", "minibatch_cosine_last"),
    *("actor_alignment", "critic_alignment"),  # with a pool
)
_ALL = 2
_POOLED = ("bias_factor", "alignment", "cosine")


def log_record(logger: Any, record: ProbeRecord, steps: int, verbose: int = _ALL) -> None:
    """Log estimates of the batch; with a pool, how the layout at `steps` compares with it."""
    for objective, gradient in asdict(record.gradients).items():
        for name, number in asdict(gradient).items() if given(gradient) else ():
            _log(logger, f"{objective}_{name}", number, verbose)
    if record.pool is None:
        return
    for layout in record.pool.layouts:
        if layout.steps == steps:
            for objective in ("actor", "critic", "total"):
                for name in _POOLED:
                    number = getattr(getattr(layout, objective), name)
                    _log(logger, f"{objective}_{name}", number, verbose)
    _log(logger, "explained_variance", record.pool.explained_variance, verbose)


def log_minibatches(logger: Any, rows: Sequence[Minibatch], verbose: int = _ALL) -> None:
    """Log the first and the last epoch of the update, and its extremes."""
    if not rows:
        return
    for which, epoch in (("first", rows[0].epoch), ("last", rows[-1].epoch)):
        for name in ("cosine", "clip_fraction", "approximate_kl"):
            values = [getattr(row, name) for row in rows if row.epoch == epoch]
            known = [value for value in values if value is not None]
            if known:
                _put(logger, f"minibatch_{name}_{which}", sum(known) / len(known), verbose)
    _put(logger, "ratio_low", min(row.ratio_low for row in rows), verbose)
    _put(logger, "ratio_high", max(row.ratio_high for row in rows), verbose)


def _log(logger: Any, name: str, number: Estimate, verbose: int) -> None:
    ends = {name: number.value, f"{name}_low": number.low, f"{name}_high": number.high}
    for end, value in ends.items():
        if value is not None:
            _put(logger, end, value, verbose)


def _put(logger: Any, name: str, value: float, verbose: int) -> None:
    if verbose < _ALL and name not in _LOGGED:
        return
    logger.record(f"nbyt/{name}", value, exclude=None if name in _SHOWN else "stdout")


_Callback: Any = module("common.callbacks").BaseCallback


class GradientProbe(BaseProbe, _Callback):  # type: ignore[misc, valid-type]
    """Measure the gradients of a Stable-Baselines3 training, as its callback.

    The training learns exactly what it would learn without it. When it ends, a warning says what to
    change, if the training itself has shown it; `summary()` says it at any time.

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
        1 to log where the page is; 2 also to log every number with its interval, and not only the
        six that matter most.

    Examples
    --------
    >>> from stable_baselines3 import PPO
    >>> probe = GradientProbe(every=1)
    >>> model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, seed=0).learn(128, callback=probe)
    >>> [record["update"] for record in probe.records]
    [1, 2]
    >>> sorted(probe.records[0]["gradients"])
    ['actor', 'critic', 'total']
    >>> print(probe.summary())
    2 updates measured, 64 samples each. Too few to say what a batch is worth.
    - the whole training is 2 updates of 64 samples: use a smaller batch (fewer steps, or fewer \
envs), or a larger budget.
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
        self._records: list[ProbeRecord] = []
        self._minibatches, self._pool, self._steps = minibatches, pool, steps
        self._env, self._out, self._seed = env, out, SEED.check(seed, "seed")
        self._rollouts, self._measured_at = 0, 0.0
        self._watch: MinibatchWatch | None = None
        self._evidence, self._ages = Evidence(1, 1), Ages()
        self._told: set[tuple[str, str]] = set()  # a training that goes on is told once

    def summary(self) -> Summary:
        """Say what batches were worth, and what to change, from what was seen so far."""
        self._evidence.records = self._records
        return summarise(self._evidence)

    @property
    def records(self) -> list[Data]:
        """The records of all measured updates, as `nbyt report` reads them."""
        return [plain(record) for record in self._records]

    def _init_callback(self) -> None:
        """Refuse what cannot be measured, before anything is trained."""
        require_measurable(self.model)
        self._engine = engine_of(self.model)
        require_as_trained(self.model, self._engine)
        loss_of(self.model)
        pieces(self.model.n_envs, self.model.n_steps)
        self._evidence = replaced(self._evidence, **sizes_of(self.model))
        with preserve_policy(self.model.policy):
            sizes = self._engine.sizes
            if self._pool:
                self._request(0)
                _ = host_env(self.model, self._env).action_space
        if self._out is not None:
            self._open_folder(self._out, log_of(self.model, every=self.every, parameters=sizes))

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        self._finish()

    def _on_rollout_end(self) -> None:
        self._rollouts += 1
        self._look()
        # Counted by the model, so that the count goes on when another process resumes training.
        update = self.model.num_timesteps // (self.model.n_steps * self.model.n_envs)
        if update % self.every == 0 and self._affordable():
            self._measure(update)
            self._measured_at = time.perf_counter()

    def _look(self) -> None:
        """Add what the rollout shows to the evidence."""
        model, buffer = self.model, self.model.rollout_buffer
        starts = buffer.episode_starts.astype(bool)
        ended = np.array(model._last_episode_starts, bool)
        ages = self._ages.after(starts, ended)
        # The first row's flag belongs to the end of the rollout before.
        ends = int(starts[1:].sum() + ended.sum())
        self._evidence.rollouts.append(rollout_facts(ages, ends, buffer.values, buffer.returns))
        self._evidence.updates = model._total_timesteps // (model.n_steps * model.n_envs)

    def _affordable(self) -> bool:
        """Return True if measuring, should it take as long as last time, stays within its share."""
        if self.share is None or not self._records:
            return True
        trained = time.perf_counter() - self._measured_at
        return self._records[-1].seconds * (1 - self.share) <= trained * self.share

    def _on_training_end(self) -> None:
        self._finish()
        if not self._records:
            warnings.warn(
                f"no gradient was measured: the training made {self._rollouts} rollouts, and every "
                f"{self.every}th is measured",
                stacklevel=2,
            )
        summary = self.summary()
        if self.verbose:
            self.logger.info(f"nbyt: {summary}")
        fresh = [one for one in summary.findings if (one.rule, one.network) not in self._told]
        self._told |= {(one.rule, one.network) for one in fresh}
        if fresh and not self.verbose:
            said = "\n".join(f"- {one}" for one in fresh)
            warnings.warn(f"nbyt saw what to change in this training:\n{said}", stacklevel=2)
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
        record = probe_record(
            measured,
            update=update,
            samples=model.num_timesteps,
            mean_return=sum(returns) / len(returns) if returns else None,
            seconds=time.perf_counter() - began,
            pool=pool,
        )
        self._records.append(record)
        self._save(record)
        log_record(self.logger, record, model.n_steps, self.verbose)
        if self._minibatches:
            self._watch = MinibatchWatch(model, direction)

    def _measure_pool(self, update: int) -> ProbedPool:
        """Measure the frozen policy against the true gradient, in copies of the envs."""
        with preserve_policy(self.model.policy):
            frozen_policy = FrozenSB3Policy(self.model, host_env(self.model, self._env))
            resources = Resources(envs=self._pool)
            probed = examine(frozen_policy, self._request(update), phase=False, resources=resources)
        data = probed.as_dict()
        pool = {
            "chains": probed.chains,
            "steps": probed.request.chain_steps,
            "explained_variance": data["critic"]["explained_variance"],
            "mean_return": data["mean_return"],
            "layouts": data["layouts"],
            "warnings": probed.warnings,
        }
        return convert(pool, ProbedPool)

    def _request(self, update: int) -> Request:
        model = self.model
        return make_request(
            facts_of(model),
            batch=model.n_steps * model.n_envs,
            steps=model.n_steps if self._steps is None else self._steps,
            chains=self._pool,
            seed=self._seed + update,  # other chains every time
        )

    def _finish(self) -> None:
        """Stop watching the update, and save its record."""
        if self._watch is not None:
            self._watch.stop()
            rows, self._watch = tuple(self._watch.rows), None
            self._records[-1] = replace(self._records[-1], minibatches=rows)
            log_minibatches(self.logger, rows, self.verbose)
            self._save(self._records[-1])
