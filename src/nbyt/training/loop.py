"""The loop around learning: resume, watch, keep stages and checkpoints, evaluate.

All effects of a training run are here; what it computes is in `ppo` and in `dqn`.
"""

import time
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from nbyt.collect import Progress
from nbyt.collect.evaluate import LONGEST, Evaluation, episode_returns
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.errors import EnvError, RunInterruptedError, StoreError
from nbyt.policy.actor_critic import Params, Stage
from nbyt.policy.files import (
    from_tensors,
    read_stage,
    stage_files,
    to_tensors,
)
from nbyt.processes.signals import StopRequest, stop_on_signal
from nbyt.results import decode
from nbyt.results.training import TrainedStage
from nbyt.stats import Estimate, mean
from nbyt.store.files import CHECKPOINT, METRICS, RESULT, STAGE
from nbyt.store.paths import at_work
from nbyt.store.run import Folder
from nbyt.training.algorithms.registry import Algorithm, Row, UpdateMetrics, build_algorithm
from nbyt.training.plan import AnyPlan

_CHECKPOINT_SECONDS = 15.0
# A large replay buffer takes seconds to save; saving takes at most this part of the time.
_SAVING_SHARE = 0.05
# Updates that may be under way before their numbers are looked at: enough to keep the device busy,
# few enough that a NaN is found at once.
_AHEAD = 2


class Listener(Protocol):
    """An observer of a run: a progress bar, a tracker."""

    def on_update(self, row: Row) -> None:
        """Take a row of the metrics table; rows come in order."""


# What is under way, how much of it is done, and how much there is.


@dataclass(frozen=True)
class Watch:
    """A listener that reports progress under a name."""

    progress: Progress
    what: str
    updates: int

    def on_update(self, row: Row) -> None:
        self.progress(self.what, row["update"], self.updates)


class _Clock:
    """A listener that measures speed after the first update, which includes compiling."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []

    def on_update(self, row: Row) -> None:
        self._seen[1:] = [(time.perf_counter(), row["steps"])]

    def steps_per_second(self) -> float | None:
        """Return environment steps a second after the first update; None without a second one."""
        if len(self._seen) < 2:
            return None
        (began, before), (ended, after) = self._seen
        return (after - before) / (ended - began)


class _Saving:
    """When the next checkpoint is due, by the clock and by what the last one cost."""

    def __init__(self) -> None:
        self._began = self._saved = time.monotonic()
        self._pause = _CHECKPOINT_SECONDS

    def due(self) -> bool:
        return time.monotonic() - self._saved > self._pause

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *error: object) -> None:
        self._saved = time.monotonic()
        cost = self._saved - self._began
        self._pause = max(_CHECKPOINT_SECONDS, cost / _SAVING_SHARE)


class Result(NamedTuple):
    """The result of a run; the speed is None where there was too little to time."""

    final_return: Estimate
    unfinished: int
    spoiled: int
    steps_per_second: float | None
    stages: list[str]


@dataclass
class Run:
    """A run under way."""

    plan: AnyPlan
    folder: Folder
    env: DeviceEnv | HostEnv
    algorithm: Algorithm
    updates_made: int = 0
    rows: list[Row] = field(default_factory=list)


def train(
    plan: AnyPlan,
    folder: Folder,
    listeners: tuple[Listener, ...] = (),
    *,
    weights: Params | None = None,
    env: DeviceEnv | HostEnv | None = None,
) -> Result:
    """Train as planned, from the start or from the folder's checkpoint.

    `weights` are those to begin with, instead of fresh ones; `env` is one that no id finds.
    """
    found = env or resolve(plan.env)
    with at_work(folder.path):
        run = Run(plan, folder, found, build_algorithm(plan, found, weights))
        clock = _Clock()
        try:
            _resume(run)
            with stop_on_signal() as request:
                _advance(run, (*listeners, clock), request)
        finally:
            run.algorithm.close()
        return _finish(run, _evaluate(run), clock.steps_per_second())


def _advance(run: Run, listeners: tuple[Listener, ...], request: StopRequest) -> None:
    plan, waiting, saving = run.plan, deque[UpdateMetrics](), _Saving()
    for made in run.algorithm.updates(run.updates_made + 1):
        run.updates_made = made.number
        waiting.append(made)
        at_stage = made.number in plan.stages
        request.listen()
        # Asked once: a request that comes in later than here is served after the next update.
        stop = request.made
        due = stop or saving.due()
        _report(run, waiting, listeners, leave=0 if due or at_stage else _AHEAD)
        if at_stage:
            _save_stage(run)
        if due and made.number < plan.updates:
            with saving:
                _save_checkpoint(run)
        if stop and made.number < plan.updates:
            raise RunInterruptedError(
                f"after update {made.number} of {plan.updates}; everything is saved",
                where=str(run.folder.path),
                fix="give the same command again to go on",
            )
    _report(run, waiting, listeners, leave=0)


def _report(
    run: Run, waiting: deque[UpdateMetrics], listeners: tuple[Listener, ...], *, leave: int
) -> None:
    """Pass on the rows of all but the last `leave` updates; what is saved was always read."""
    while len(waiting) > leave:
        row = run.algorithm.row(waiting.popleft())
        run.rows.append(row)
        for listener in listeners:
            listener.on_update(row)


def _save_stage(run: Run) -> None:
    plan, algorithm = run.plan, run.algorithm
    facts = {
        "algo": plan.algo,
        "env": run.env.id,
        "updates": run.updates_made,
        "steps": run.rows[-1]["steps"],
        "layout": plan.layout.as_dict(),
        "seed": plan.seed,
        "settings": plan.settings.as_dict(),
        "mean_return": run.rows[-1]["mean_return"],
        **algorithm.facts(),
    }
    number = plan.stages.index(run.updates_made) + 1
    run.folder.write(STAGE, stage_files(Stage(algorithm.policy, algorithm.params, facts)), number)


def _save_checkpoint(run: Run) -> None:
    run.folder.write(METRICS, run.rows)
    facts = {"updates": run.updates_made, "rows": len(run.rows)}
    run.folder.write(CHECKPOINT, (to_tensors(run.algorithm.state()), facts))


def _resume(run: Run) -> None:
    saved = run.folder.read(CHECKPOINT)
    if saved is None:
        return
    tensors, facts = saved
    run.algorithm.restore(from_tensors(run.algorithm.state(), tensors, str(run.folder.path)))
    run.updates_made = facts.updates
    rows = run.folder.read(METRICS) or []
    run.rows = [row for row in rows if _made_by(row, run.updates_made)]
    there = len(run.rows)
    if there != facts.rows:
        raise StoreError(
            f"metrics.csv has {there} rows for {run.updates_made} updates, not {facts.rows}",
            where=str(run.folder.path),
            fix="train into another --out, or with --force",
        )


def kept_stages(plan: AnyPlan, folder: Folder) -> list[Stage]:
    """Read the stages of a run that is complete; refuse any that is not one of its plan."""
    found = []
    for number, updates in enumerate(plan.stages, start=1):
        path = folder.path_of(STAGE, number) / "stage.json"
        stage = read_stage(path, plan.algo)
        made = decode(stage.facts, TrainedStage, path).updates
        if made != updates:
            raise StoreError(
                f"{path} is a stage after {made} updates, and this run keeps one after {updates}",
                where=str(path),
                fix="restore a copy of it, or train into another --out",
            )
        found.append(stage)
    return found


def _made_by(row: Row, updates: int) -> bool:
    """Return True for a row of an update up to that number; the table may have been edited."""
    update = row.get("update")
    return isinstance(update, int) and update <= updates


def _evaluate(run: Run) -> Evaluation:
    plan = run.plan
    seen = episode_returns(run.env, run.algorithm.policy, run.algorithm.params, plan.seed)
    if seen.spoiled and plan.settings.on_nonfinite == "stop":
        raise EnvError(
            f"env '{plan.env}' gave a reward that is not finite",
            where=f"{seen.spoiled} of {len(seen.returns)} final episodes, seed {plan.seed}",
            fix=f"run `nbyt check-env {plan.env}`, or train with --on-nonfinite drop",
        )
    return seen


def _finish(run: Run, seen: Evaluation, speed: float | None) -> Result:
    final = mean(seen.returns)
    result = {
        "env": run.env.id,
        "final_return": {**final.as_dict(), "replicates": final.replicates},
        "unfinished": seen.unfinished,
        "spoiled": seen.spoiled,
        "longest": LONGEST,
        "layout": run.plan.layout.as_dict(),
        "updates": run.plan.updates,
    }
    run.folder.write(METRICS, run.rows)
    run.folder.write(RESULT, result)
    run.folder.remove(CHECKPOINT)
    stages = [str(run.folder.path_of(STAGE, n + 1)) for n in range(len(run.plan.stages))]
    return Result(final, seen.unfinished, seen.spoiled, speed, stages)
