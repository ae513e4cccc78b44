"""Predict what an advice will cost, and fit its race into limits of samples and time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nbyt.advice.costs import UpdateCosts, known_costs, same_samples
from nbyt.advice.given import OwnRun, require_same
from nbyt.advice.race import EPISODES, Race
from nbyt.advice.request import AdviceRequest
from nbyt.collect.segment import burn_in, horizon
from nbyt.envs.protocol import HostEnv, most_envs
from nbyt.errors import EnvError, UsageError
from nbyt.stats.prior import Prior, load_prior
from nbyt.sweeps.grid import Cell
from nbyt.system import usable_cores
from nbyt.training.costs import ROUNDS, SPLITS, update_seconds

# Seconds that no trial shows: imports, compiling the program of an arm, and a measured stage.
_FIXED, _ARM, _STAGE, _DIAGNOSIS = 4.0, 1.5, 4.0, 16.0
_DIAGNOSIS_POOLS = 3
# Gradients of every T take longer than one of PPO's passes over the same samples.
_PASSES = 1.5
_TRIAL_SECONDS = 1.0
_TRIAL_STEPS = 2_000
# An evaluation plays episodes of at most so many steps, where the env has no limit of its own.
_EPISODE = 200


@dataclass(frozen=True)
class Pace:
    """Seconds of one env step, and of one sample's pass through the learner."""

    step: float
    sample: float = 0.0


@dataclass(frozen=True)
class Forecast:
    """Env steps of each part, and the seconds of all."""

    race: int
    pools: int
    timing: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the data that --dry-run prints."""
        return {
            "race_steps": self.race,
            "pool_steps": self.pools,
            "timing_steps": self.timing,
            "seconds": round(self.seconds),
        }


def planned_race(
    request: AdviceRequest,
    limits: tuple[int | None, float | None] = (None, None),
    runs: Sequence[OwnRun] = (),
) -> Race:
    """Return the race as far as it is known before updates are timed.

    limits: the most env steps and seconds that it may take. runs: whose trainings count.
    """
    require_same(request, runs)
    timed = request.objective == "samples" or request.costs.timed_here
    costs = None if timed else known_costs(request.costs, request.steps, request.batch)
    return make_race(request, costs, load_prior().without(request.env.id), limits, runs)


def make_race(
    request: AdviceRequest,
    costs: UpdateCosts | None,
    prior: Prior,
    limits: tuple[int | None, float | None],
    runs: Sequence[OwnRun] = (),
) -> Race:
    """Return the race that the budget and the limits pay for. costs: None for the same samples."""
    known = prior.under(request.steps, None if costs is None else costs.values, request.batch)
    schedule = known.schedule(request.trainings, request.own)
    updates = costs or same_samples(request.steps)
    return with_budget(Race(request, updates, known, schedule, tuple(runs)), *limits)


def total_for(request: AdviceRequest, seconds: float) -> int:
    """Return the env steps that a training with the usual T makes in so many seconds here."""
    known = load_prior().under(request.steps, None, request.batch)
    layout = request.layout(known.constant)
    update = update_seconds(request.env, request.settings, layout, vector=request.vector)
    return max(1, int(seconds / update)) * request.batch


def race_samples(race: Race, seeds: int) -> int:
    """Return the env steps of a race with so many seeds."""
    batch = race.request.batch
    return seeds * batch * sum(race.updates(steps)[1] for steps in race.schedule.arms)


def with_budget(race: Race, samples: int | None, seconds: float | None) -> Race:
    """Return the race with as many seeds as fit into limits of env steps and of time."""
    seeds = race.schedule.seeds
    one = race_samples(race, 1)
    if samples is not None:
        seeds = min(seeds, int(samples // one))
    if seconds is not None:
        pace = full_pace(race.request, step_pace(race.request.env))
        each = one * (pace.step + race.request.epochs * pace.sample) / _at_once(race.request)
        seeds = min(seeds, int(seconds / max(each, 1e-9)))
    return replace(race, schedule=race.schedule._replace(seeds=seeds))


def forecast(race: Race, pace: Pace, *, timed: bool) -> Forecast:
    """Predict the cost of a race and of what explains its answer; timed: costs are measured."""
    request, effort = race.request, race.request.effort
    seeds, arms = race.schedule.seeds, len(race.schedule.arms)
    stages = request.stages if seeds else 0
    longest = max(request.steps[-1], 1024)
    chain = longest + horizon(request.settings.gamma) + 2 * burn_in(request.env.time_limit)
    looks = effort.diagnosed and stages > 0
    pools = (stages * effort.chains + looks * _DIAGNOSIS_POOLS * effort.chains // 2) * chain
    trained = race_samples(race, seeds)
    timing = SPLITS * (ROUNDS + 2) * request.batch if timed else 0
    again = trained // max(1, seeds * arms) if stages else 0
    learning = (trained + again + timing) * request.epochs + _PASSES * pools
    steps = trained + again + pools + timing + _evaluated(race)
    seconds = _FIXED + _ARM * (arms * (seeds > 0) + SPLITS * timed)
    seconds += _STAGE * stages + _DIAGNOSIS * looks
    seconds += (steps * pace.step + learning * pace.sample) / _at_once(request)
    return Forecast(trained + again, pools, timing, seconds)


def _evaluated(race: Race) -> int:
    """Return the env steps of whole episodes at the points of the curves, on device envs."""
    if isinstance(race.request.env, HostEnv):
        return 0
    grid = race.grid(race.seeds)
    points = sum(len(grid.points_of(Cell(one.envs, one.steps, 0))) for one in grid.layouts)
    episode = min(race.request.env.time_limit or _EPISODE, 10 * _EPISODE)
    return EPISODES * points * race.schedule.seeds * episode


def _at_once(request: AdviceRequest) -> float:
    """Return how many trainings go side by side; a device's pace is that of all cores."""
    return usable_cores() if isinstance(request.env, HostEnv) else 1


def startable(env: Any, most: int, vector: str = "sync", *, batch: int = 2**31) -> int:
    """Return how many host envs can be started and reset at once: `most`, halved until it works.

    No more are tried than a layout of the batch can have.
    """
    if not isinstance(env, HostEnv):
        return most
    most = most_envs(env, most)
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
    """Add the pace of learning, from one update of the layout in the middle."""
    layout = request.layout(request.steps[len(request.steps) // 2])
    taken = update_seconds(request.env, request.settings, layout, vector=request.vector)
    learning = max(taken - layout.batch * steps.step, 0.0)
    return replace(steps, sample=learning / (layout.batch * layout.epochs))


def affordable(race: Race, limit: float, *, timed: bool) -> Forecast:
    """Predict the cost; raise a UsageError if it takes longer than `limit` seconds."""
    pace = step_pace(race.request.env)
    # A slow env is refused before it has to make a whole update.
    require_time(race, pace, limit, timed=timed)
    return require_time(race, full_pace(race.request, pace), limit, timed=timed)


def require_time(race: Race, pace: Pace, limit: float, *, timed: bool) -> Forecast:
    """Raise a UsageError if the forecast is above the limit; return it otherwise."""
    expected = forecast(race, pace, timed=timed)
    if expected.seconds <= limit:
        return expected
    steps = expected.race + expected.pools + expected.timing
    slow = f" of {1000 * pace.step:.2g} ms" if pace.step else ""
    raise UsageError(
        f"this would take about {in_words(expected.seconds)}: {steps:,} env steps{slow}, and "
        f"{1000 * pace.sample:.2g} ms for a sample in the learner",
        where="time",
        fix="take fewer --trainings or a smaller --total or --budget, or allow it with "
        f"--time-limit {in_words(1.3 * expected.seconds)}",
    )


def in_words(seconds: float) -> str:
    """Format a time as the command line reads it: 40s, 12m, 3h."""
    for size, word in ((3600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{-(-seconds // size):.0f}{word}"
    return f"{seconds:.0f}s"
