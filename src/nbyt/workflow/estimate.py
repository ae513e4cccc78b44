"""What an advice will cost, before it starts: env steps, and seconds where envs are slow."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nbyt.collect.segment import burn_in
from nbyt.envs.protocol import HostEnv
from nbyt.errors import UsageError
from nbyt.measure.request import horizon
from nbyt.workflow.costs import ROUNDS, SPLITS
from nbyt.workflow.effort import EFFORTS, Effort
from nbyt.workflow.question import Question

# Time for compiling and for gradients, whatever the env takes: seconds, and seconds a stage.
_FIXED, _STAGE = 15.0, 8.0
_LOOK_POOLS = 3
_TRIAL_SECONDS = 1.0
_TRIAL_STEPS = 2_000


@dataclass(frozen=True)
class Forecast:
    """Env steps of each part, and the seconds of all; the seconds of device envs are a guess."""

    training: int
    pools: int
    timing: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for --dry-run."""
        return {
            "training_steps": self.training,
            "pool_steps": self.pools,
            "timing_steps": self.timing,
            "seconds": round(self.seconds),
        }


def forecast(question: Question, *, trained: bool, timed: bool, step_seconds: float) -> Forecast:
    """What the question costs, if stages are trained for it and updates timed, or not."""
    effort, env = question.effort, question.env
    subjects = question.stages * effort.trainings
    longest = max(question.steps[-1], 1024)
    chain = longest + horizon(question.settings.gamma) + 2 * burn_in(env.time_limit)
    looks = {"none": 0, "one": 1, "all": subjects}[effort.looks]
    pools = subjects * effort.chains + looks * _LOOK_POOLS * effort.chains // 2
    training = question.total * effort.trainings if trained else 0
    timing = SPLITS * (ROUNDS + 2) * question.batch if timed else 0
    steps = training + pools * chain + timing
    seconds = _FIXED + _STAGE * (subjects + 2 * looks) + steps * step_seconds
    return Forecast(training, pools * chain, timing, seconds)


def step_seconds(env: Any) -> float:
    """Seconds of one step of one env of this process; 0 for device envs, which are quick."""
    if not isinstance(env, HostEnv):
        return 0.0
    env.action_space.seed(0)
    running = env.start(1, vector="sync")
    try:
        running.reset([0])
        began, count = time.perf_counter(), 0
        while count < _TRIAL_STEPS and time.perf_counter() - began < _TRIAL_SECONDS:
            running.step(np.array([env.action_space.sample()]))
            count += 1
        return (time.perf_counter() - began) / count
    finally:
        running.close()


def require_time(
    question: Question, expected: Forecast, limit: float, *, trained: bool, timed: bool, step: float
) -> None:
    """Nothing, or an error that says how long it would take and what would be quicker."""
    if expected.seconds <= limit:
        return
    quick = forecast(
        _with_effort(question, EFFORTS["quick"]), trained=trained, timed=timed, step_seconds=step
    )
    offer = (
        f"take --effort quick (about {in_words(quick.seconds)}), "
        if question.effort.name != "quick"
        else "take a smaller --total or --batch, "
    )
    raise UsageError(
        f"this would take about {in_words(expected.seconds)}: a step of the env takes "
        f"{1000 * step:.2g} ms, and {expected.training + expected.pools + expected.timing:,} are "
        "needed",
        where="time",
        fix=f"{offer}or allow it with --time-limit {in_words(1.3 * expected.seconds)}",
    )


def in_words(seconds: float) -> str:
    """A time as the command line reads it: 40s, 12m, 3h."""
    for size, word in ((3600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{-(-seconds // size):.0f}{word}"
    return f"{seconds:.0f}s"


def _with_effort(question: Question, effort: Effort) -> Question:
    return replace(
        question,
        effort=effort,
        stages=min(question.stages, effort.stages),
        trained=question.trained[:1],
    )
