"""Trainings of new models like a live one: timed, and raced with other layouts."""

import copy
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from nbyt.collect import Progress
from nbyt.errors import UsageError
from nbyt.gradients.engines.torch_policy import torch, undisturbed
from nbyt.integrations.sb3.envs import Given, vec_env
from nbyt.integrations.sb3.package import module
from nbyt.layout import Layout
from nbyt.sweeps.cells import Job, Outcomes, Watch, as_nbyt_error
from nbyt.sweeps.grid import Cell, Grid
from nbyt.training.costs import Costs, spread_out, time_layouts, updates_of_a_turn
from nbyt.training.curves import Curve, filled

# An update takes long enough to be timed well, and long enough not to be timed often.
_ROUNDS = 3


def measure_costs(
    model: Any, env: Any, layouts: Sequence[Layout], trained: int | None, progress: Progress
) -> Costs:
    """Time updates of throw-away models like this one, at a few of the layouts.

    All envs of a model are in one process, in a DummyVecEnv.
    """
    with undisturbed(0):
        chosen, start = spread_out(layouts, trained), partial(_Throwaway, model, env)
        return time_layouts(chosen, start, rounds=_ROUNDS, progress=progress)


class _Throwaway:
    """A fresh model of the same kind at one layout, warmed up."""

    def __init__(self, model: Any, env: Any, layout: Layout) -> None:
        self.layout = layout
        self._envs = vec_env(model, env, layout.envs)
        self._model = model_like(model, self._envs, layout)
        self._updates = updates_of_a_turn(self._go(1))

    def seconds(self) -> float:
        """Return the seconds of one update, averaged over a turn."""
        return self._go(self._updates) / self._updates

    def close(self) -> None:
        self._envs.close()

    def _go(self, updates: int) -> float:
        began = time.perf_counter()
        self._model.learn(updates * self.layout.batch, reset_num_timesteps=False)
        return time.perf_counter() - began


def model_like(model: Any, envs: Any, layout: Layout, seed: int | None = None) -> Any:
    """Return a new model of the same class, policy and settings with another layout."""
    given: dict[str, Any] = {
        "n_steps": layout.steps,
        "gamma": model.gamma,
        "gae_lambda": model.gae_lambda,
        "learning_rate": model.learning_rate,
        "ent_coef": model.ent_coef,
        "vf_coef": model.vf_coef,
        "max_grad_norm": model.max_grad_norm,
        "policy_kwargs": copy.deepcopy(model.policy_kwargs),
        "device": model.device,
        "seed": seed,
        "verbose": 0,
    }
    if hasattr(model, "n_epochs"):
        given |= {
            "batch_size": layout.minibatch,
            "n_epochs": layout.epochs,
            "clip_range": model.clip_range,
            "target_kl": model.target_kl,
        }
    try:
        return type(model)(model.policy_class, envs, **given)
    except TypeError as error:
        raise UsageError(
            f"a second {type(model).__name__} cannot be made to train it: {error}",
            where="model",
            fix="race nbyt's own PPO instead, with nbyt.advise(env, ...)",
        ) from error


class SB3Runner:
    """Trains cells as new models like a live one, one after the other in this process."""

    def __init__(self, model: Any, env: Given | None) -> None:
        self._model, self._env = model, env

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Yield every cell with its outcome as soon as it is known."""
        for job in jobs:
            for cell in job:
                try:
                    yield cell, self._trained(grid, cell, job, watch)
                except Exception as error:  # the user's own env
                    yield cell, as_nbyt_error(grid.env.id, error)

    def _trained(self, grid: Grid, cell: Cell, job: Job, watch: Watch) -> Curve:
        plan = grid.plan(cell)
        # A model takes seeds of 32 bits, and adds the number of the env.
        seed = cell.seed % 2**31
        # What asks may measure the live policy, without gradients.
        with undisturbed(seed), torch.enable_grad():
            envs = vec_env(self._model, self._env, plan.layout.envs)
            try:
                model = model_like(self._model, envs, plan.layout, seed)
                listener = _returns_listener(lambda updates: watch(job, updates))
                # Schedules go by the whole training, which is not carried to its end.
                listener.last = plan.stages[-1] * plan.layout.batch
                model.learn(plan.updates * plan.layout.batch, callback=listener)
            finally:
                envs.close()
        return _curve(plan.stages, plan.layout.batch, listener.ended)


def _curve(points: Sequence[int], batch: int, ended: Sequence[tuple[int, float]]) -> Curve:
    """Return the mean returns of the episodes that ended between the points."""
    samples = tuple(number * batch for number in points)
    places = np.searchsorted(samples, [at for at, _ in ended])
    rows: list[list[float]] = [[] for _ in samples]
    for place, (_, value) in zip(places, ended, strict=True):
        if place < len(rows):
            rows[place].append(value)
    own = tuple(float(np.mean(row)) if row else None for row in rows)
    if not any(rows):
        raise UsageError(
            f"no episode ended in {samples[-1]:,} env steps, so there is no return to compare",
            where="total",
            fix="give a larger total=, or smaller max_envs=",
        )
    return Curve(samples, filled(own), 0, own)


def _returns_listener(watch: Any) -> Any:
    """Return a callback that collects the returns of ended episodes and stops at `last`."""

    class Returns(module("common.callbacks").BaseCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.ended: list[tuple[int, float]] = []
            self.last, self.updates = 0, 0

        def _on_rollout_start(self) -> None:
            watch(self.updates)
            self.updates += 1

        def _on_step(self) -> bool:
            for info in self.locals["infos"]:
                if "episode" in info:
                    self.ended.append((self.num_timesteps, float(info["episode"]["r"])))
            return self.num_timesteps < self.last

    return Returns()
