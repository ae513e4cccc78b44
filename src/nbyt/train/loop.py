"""The loop around PPO: resume, watch, keep stages and checkpoints, evaluate.

All effects of a training run are here; what it computes is in `ppo`.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import jax

from nbyt.collect.evaluate import LONGEST, Evaluation, episode_returns
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.errors import EnvError, RunInterruptedError, TrainingError
from nbyt.policy import normalise
from nbyt.policy.actor_critic import ActorCritic, Params, build
from nbyt.policy.files import describe, from_tensors, shapes, stage_tensors, to_tensors
from nbyt.policy.stage import Stage
from nbyt.rng import stream
from nbyt.stats import Estimate, mean
from nbyt.store.run import RunFolder
from nbyt.store.tensors import match
from nbyt.train.device_source import DeviceSource
from nbyt.train.hardware import settle
from nbyt.train.host_source import HostSource
from nbyt.train.metrics import Row, row_of
from nbyt.train.plan import Plan
from nbyt.train.ppo import Learner, Update, new_learner, updates
from nbyt.train.signals import StopRequest, stop_on_signal

_CHECKPOINT_SECONDS = 15.0
# Updates that may be under way before their numbers are looked at: enough to keep the device busy,
# few enough that a NaN is found at once.
_AHEAD = 2


class Listener(Protocol):
    """Somebody who watches a run: a progress bar, a tracker."""

    def on_update(self, row: Row) -> None:
        """Called with every row of the metrics table, in order."""
        ...


@dataclass(frozen=True)
class Watch:
    """A listener that says, under a name, how many of all updates are made."""

    progress: Callable[[str, int, int], None]
    what: str
    updates: int

    def on_update(self, row: Row) -> None:
        """Say how many updates are made."""
        self.progress(self.what, row["update"], self.updates)


class _Clock:
    """A listener that measures speed from the first update on, which pays for compiling."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []

    def on_update(self, row: Row) -> None:
        """Note the time of the first update and of the latest."""
        self._seen[1:] = [(time.perf_counter(), row["steps"])]

    def steps_per_second(self) -> float | None:
        """Environment steps a second after the first update; None for one update or none."""
        if len(self._seen) < 2:
            return None
        (began, before), (ended, after) = self._seen
        return (after - before) / (ended - began)


class Result(NamedTuple):
    """What a run leaves behind; the speed is None where there was too little to time."""

    final_return: Estimate
    unfinished: int
    spoiled: int
    steps_per_second: float | None
    stages: list[str]


@dataclass
class Run:
    """A run under way."""

    plan: Plan
    folder: RunFolder
    env: DeviceEnv | HostEnv
    policy: ActorCritic
    source: DeviceSource | HostSource
    learner: Learner
    updates_made: int = 0
    rows: list[Row] = field(default_factory=list)


def train(
    plan: Plan,
    folder: RunFolder,
    listeners: tuple[Listener, ...] = (),
    *,
    weights: Params | None = None,
    env: DeviceEnv | HostEnv | None = None,
) -> Result:
    """Train as planned, from the beginning or from where the folder's checkpoint stands.

    `weights` are those to begin with, instead of fresh ones; `env` is one that no id finds.
    """
    run = _open(plan, folder, weights, env or resolve(plan.env))
    clock = _Clock()
    try:
        with stop_on_signal() as request:
            _advance(run, (*listeners, clock), request)
    finally:
        run.source.close()
    return _finish(run, _evaluate(run), clock.steps_per_second())


def beginning(plan: Plan, env: DeviceEnv | HostEnv) -> tuple[ActorCritic, Learner]:
    """The policy and the learner of a run before its first update."""
    settings = plan.settings
    policy = build(
        env.observation_space, env.action_space, settings.parsed_network, shared=settings.shared
    )
    key = stream(jax.random.key(plan.seed), "learner")
    return policy, new_learner(policy, settings, plan.layout, key)


def _open(plan: Plan, folder: RunFolder, weights: Params | None, env: DeviceEnv | HostEnv) -> Run:
    settings = plan.settings
    policy, learner = beginning(plan, env)
    if weights is not None:
        match(to_tensors(weights), shapes(learner.params), "--from")
        learner = learner._replace(params=weights)
    source: DeviceSource | HostSource
    if isinstance(env, HostEnv):
        source = HostSource(env, policy, settings, plan.layout, vector=plan.vector)
    else:
        source = DeviceSource(env, policy, settings, plan.layout)
    source.begin(learner, plan.seed)
    run = Run(plan, folder, env, policy, source, learner)
    _resume(run)
    return run


def _advance(run: Run, listeners: tuple[Listener, ...], request: StopRequest) -> None:
    plan, waiting, saved = run.plan, deque[Update](), time.monotonic()
    for update in updates(
        run.policy,
        plan.settings,
        plan.layout,
        run.source,
        run.learner,
        seed=plan.seed,
        first=run.updates_made + 1,
        last=plan.updates,
    ):
        run.learner, run.updates_made = update.learner, update.number
        waiting.append(update)
        at_stage = update.number in plan.stages
        # Asked once: a request that comes in later than here is served after the next update.
        stop = request.made
        due = stop or time.monotonic() - saved > _CHECKPOINT_SECONDS
        _look(run, waiting, listeners, leave=0 if due or at_stage else _AHEAD)
        if at_stage:
            _save_stage(run)
        if due and update.number < plan.updates:
            _save_checkpoint(run)
            saved = time.monotonic()
        if stop and update.number < plan.updates:
            raise RunInterruptedError(
                f"after update {update.number} of {plan.updates}; everything is saved",
                where=str(run.folder.path),
                fix="give the same command again to go on",
            )
    _look(run, waiting, listeners, leave=0)


def _look(run: Run, waiting: deque[Update], listeners: tuple[Listener, ...], *, leave: int) -> None:
    """Read the numbers of all but the last `leave` updates; nothing unread is ever saved."""
    while len(waiting) > leave:
        row = row_of(run.plan, waiting.popleft())
        run.rows.append(row)
        for listener in listeners:
            listener.on_update(row)


def _save_stage(run: Run) -> None:
    plan = run.plan
    facts = {
        "env": run.env.id,
        "updates": run.updates_made,
        "steps": run.updates_made * plan.layout.batch,
        "layout": plan.layout.as_dict(),
        "seed": plan.seed,
        "settings": plan.settings.as_dict(),
        "policy": describe(run.policy),
        "mean_return": run.rows[-1]["mean_return"],
        "reward_scale": _reward_scale(run),
    }
    number = plan.stages.index(run.updates_made) + 1
    stage = Stage(run.policy, run.learner.params, facts)
    run.folder.save_stage(number, stage_tensors(stage), facts)


def _reward_scale(run: Run) -> float | None:
    """What the critic's rewards are divided by; None where they are the env's own."""
    scale = run.learner.scale
    return None if scale is None else float(normalise.spread(scale.moments))


def _state(run: Run) -> dict[str, Any]:
    runner = run.source.runner if isinstance(run.source, DeviceSource) else ()
    return {"learner": run.learner, "runner": runner}


def _save_checkpoint(run: Run) -> None:
    run.folder.write_metrics(run.rows)
    run.folder.save_checkpoint(to_tensors(_state(run)), {"updates": run.updates_made})


def _resume(run: Run) -> None:
    """Put the run where its checkpoint stands, if there is one."""
    saved = run.folder.load_checkpoint()
    if saved is None:
        return
    tensors, facts = saved
    template = _state(run)
    match(tensors, shapes(template), str(run.folder.path))
    state = from_tensors(template, tensors)
    run.learner, run.updates_made = state["learner"], int(facts["updates"])
    if isinstance(run.source, DeviceSource):
        run.source.runner = settle(state["runner"])
    rows = run.folder.read_metrics()
    run.rows = [row for row in rows if row["update"] <= run.updates_made]
    if len(run.rows) != run.updates_made:
        raise TrainingError(
            f"metrics.csv has {len(run.rows)} rows for {run.updates_made} updates",
            where=str(run.folder.path),
            fix="train into another --out, or with --force",
        )


def _evaluate(run: Run) -> Evaluation:
    plan = run.plan
    seen = episode_returns(run.env, run.policy, run.learner.params, plan.seed)
    if seen.spoiled and plan.settings.on_nonfinite == "stop":
        raise EnvError(
            f"env '{plan.env}' gave a reward that is not finite",
            where=f"{seen.spoiled} of {len(seen.returns)} final episodes, seed {plan.seed}",
            fix=f"run `nbyt check-env {plan.env}`, or train with --on-nonfinite drop",
        )
    return seen


def _finish(run: Run, seen: Evaluation, speed: float | None) -> Result:
    final = mean(seen.returns)
    stages = [str(run.folder.stage_path(n + 1)) for n in range(len(run.plan.stages))]
    run.folder.write_metrics(run.rows)
    run.folder.write_result(
        {
            "env": run.env.id,
            "final_return": {**final.as_dict(), "replicates": final.replicates},
            "unfinished": seen.unfinished,
            "spoiled": seen.spoiled,
            "longest": LONGEST,
            "layout": run.plan.layout.as_dict(),
            "updates": run.plan.updates,
        }
    )
    run.folder.clear_checkpoint()
    return Result(final, seen.unfinished, seen.spoiled, speed, stages)
