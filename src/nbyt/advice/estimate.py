"""Predict what an advice will cost: env steps, and seconds from a short trial."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nbyt.train.costs import ROUNDS, SPLITS
from nbyt.advice.request import EFFORTS, AdviceRequest, Effort
from nbyt.collect.segment import burn_in, horizon
from nbyt.envs.protocol import HostEnv
from nbyt.errors import EnvError, UsageError
from nbyt.train.timing import update_seconds

# Seconds that no trial shows: imports and compiling, and the statistics of stages and diagnoses.
_FIXED, _STAGE, _DIAGNOSIS = 10.0, 6.0, 16.0
_DIAGNOSIS_POOLS = 3
# Gradients of every T take longer than one of PPO's passes over the same samples.
_PASSES = 1.5
_TRIAL_SECONDS = 1.0
_TRIAL_STEPS = 2_000


@dataclass(frozen=True)
class Pace:
    """Seconds of one env step, and of one sample's pass through the learner."""

    step: float
    sample: float = 0.0


@dataclass(frozen=True)
class Forecast:
    """Env steps of each part, and the seconds of all."""

    training: int
    pools: int
    timing: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the data that --dry-run prints."""
        return {
            "training_steps": self.training,
            "pool_steps": self.pools,
            "timing_steps": self.timing,
            "seconds": round(self.seconds),
        }


def forecast(request: AdviceRequest, pace: Pace, *, trained: bool, timed: bool) -> Forecast:
    """Predict the cost of a request, with or without training stages and timing updates."""
    effort = request.effort
    targets = request.stages * effort.trainings
    longest = max(request.steps[-1], 1024)
    chain = longest + horizon(request.settings.gamma) + 2 * burn_in(request.env.time_limit)
    diagnosed = {"none": 0, "one": 1, "all": targets}[effort.diagnosed]
    pools = (targets * effort.chains + diagnosed * _DIAGNOSIS_POOLS * effort.chains // 2) * chain
    training = request.total * effort.trainings if trained else 0
    timing = SPLITS * (ROUNDS + 2) * request.batch if timed else 0
    learning = (training + timing) * request.epochs + _PASSES * pools
    seconds = _FIXED + _STAGE * targets + _DIAGNOSIS * diagnosed
    seconds += (training + pools + timing) * pace.step + learning * pace.sample
    return Forecast(training, pools, timing, seconds)


def startable(env: Any, most: int, vector: str = "sync", *, batch: int = 2**31) -> int:
    """Return how many host envs can be started and reset at once: `most`, halved until it works.

    No more are tried than a layout of the batch can have.
    """
    if not isinstance(env, HostEnv):
        return most
    _try_start(env, 1, vector)  # what fails alone is not for want of room
    tried = wanted = min(most, batch)
    while tried > 1:
        try:
            _try_start(env, tried, vector)
            break
        except (EnvError, OSError, MemoryError):
            tried //= 2
    return most if tried == wanted else tried


def _try_start(env: HostEnv, envs: int, vector: str) -> None:
    running = env.start(envs, vector=vector)
    try:
        running.reset(list(range(envs)))
    finally:
        running.close()


def step_pace(env: Any) -> Pace:
    """Time the steps of one host env in this process; a device env takes no time of its own."""
    if not isinstance(env, HostEnv):
        return Pace(0.0)
    env.action_space.seed(0)
    running = env.start(1, vector="sync")
    try:
        running.reset([0])
        began, count = time.perf_counter(), 0
        while count < _TRIAL_STEPS and time.perf_counter() - began < _TRIAL_SECONDS:
            running.step(np.array([env.action_space.sample()]))
            count += 1
        return Pace((time.perf_counter() - began) / count)
    finally:
        running.close()


def full_pace(request: AdviceRequest, steps: Pace) -> Pace:
    """Add the pace of learning, from one update of the layout that is trained first."""
    layout = request.layout(request.trained[0])
    taken = update_seconds(request.env, request.settings, layout, vector=request.vector)
    learning = max(taken - layout.batch * steps.step, 0.0)
    return replace(steps, sample=learning / (layout.batch * layout.epochs))


def affordable(request: AdviceRequest, limit: float, *, trained: bool, timed: bool) -> Forecast:
    """Predict the cost of a request; raise a UsageError if it takes longer than `limit` seconds."""
    pace = step_pace(request.env)
    # A slow env is refused before it has to make a whole update.
    require_time(request, pace, limit, trained=trained, timed=timed)
    return require_time(request, full_pace(request, pace), limit, trained=trained, timed=timed)


def require_time(
    request: AdviceRequest, pace: Pace, limit: float, *, trained: bool, timed: bool
) -> Forecast:
    expected = forecast(request, pace, trained=trained, timed=timed)
    if expected.seconds <= limit:
        return expected
    quick = forecast(_quick(request), pace, trained=trained, timed=timed)
    offer = (
        f"take --effort quick (about {in_words(quick.seconds)}), "
        if request.effort.name != "quick"
        else "take a smaller --total or --batch, "
    )
    steps = expected.training + expected.pools + expected.timing
    raise UsageError(
        f"this would take about {in_words(expected.seconds)}: {steps:,} env steps of "
        f"{1000 * pace.step:.2g} ms, and {1000 * pace.sample:.2g} ms for a sample in the learner",
        where="time",
        fix=f"{offer}or allow it with --time-limit {in_words(1.3 * expected.seconds)}",
    )


def in_words(seconds: float) -> str:
    """Format a time as the command line reads it: 40s, 12m, 3h."""
    for size, word in ((3600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{-(-seconds // size):.0f}{word}"
    return f"{seconds:.0f}s"


def _quick(request: AdviceRequest) -> AdviceRequest:
    effort: Effort = EFFORTS["quick"]
    return replace(
        request,
        effort=effort,
        stages=min(request.stages, effort.stages),
        trained=request.trained[:1],
    )
