"""Train cells, those of one layout together, and read what worker processes report of them."""

import traceback
from collections.abc import Callable, Generator, Sequence
from itertools import zip_longest
from typing import Any, Protocol, runtime_checkable

from nbyt.envs.local import died, hung
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import EnvError, NbytError, TrainingError, error_from, own_lines, remade
from nbyt.processes.heartbeat import HeartbeatState
from nbyt.processes.worker import basic_setup
from nbyt.sweeps.grid import Cell, Grid
from nbyt.training import hardware
from nbyt.training.curves import Curve, curve_from, train_curve, train_seeds

# More seeds in one program are no faster, and a crash costs all of them.
_SEEDS_TOGETHER = 16

Outcome = Curve | NbytError
Job = tuple[Cell, ...]
Watch = Callable[[Job, int], None]
Outcomes = Generator[tuple[Cell, Outcome], None, None]


@runtime_checkable
class Runner(Protocol):
    """Runs training jobs: in this process, in worker processes, or on a cluster."""

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Yield every cell with its outcome as soon as it is known; closing it ends all work.

        watch: called with a job and the number of updates that it has made, and every now and then
        while nothing changes, so that the caller can stop.
        """
        ...


class InProcessRunner:
    """A runner that does one job after the other, in this process."""

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Yield every cell with its outcome as soon as it is known."""
        for job, after in zip_longest(jobs, jobs[1:], fillvalue=()):
            yield from zip(job, train_job(grid, job, watch), strict=True)
            if not same_layout(job, after):
                hardware.forget_programs()


def usual_runner(env: DeviceEnv | HostEnv) -> Runner | None:
    """Return worker processes for a host env, which has a name; None, this process, for others."""
    if not isinstance(env, HostEnv):
        return None
    from nbyt.sweeps.workers import Workers  # for host envs alone

    return Workers()


def make_jobs(grid: Grid, cells: Sequence[Cell]) -> list[Job]:
    """Group cells into jobs: seeds of one layout together on the device, one by one on the host."""
    if isinstance(grid.env, HostEnv):
        return [(cell,) for cell in cells]
    jobs = []
    for layout in grid.layouts:
        same = [cell for cell in cells if cell[:2] == (layout.envs, layout.steps)]
        starts = range(0, len(same), _SEEDS_TOGETHER)
        jobs += [tuple(same[k : k + _SEEDS_TOGETHER]) for k in starts]
    return jobs


def same_layout(job: Job, other: Job) -> bool:
    """Return True if the same compiled programs train both."""
    return {cell[:2] for cell in job} == {cell[:2] for cell in other}


def train_job(grid: Grid, job: Job, watch: Watch = lambda job, updates: None) -> list[Outcome]:
    """Return the outcome of each cell of a job; an error in one cell does not fail the others."""
    try:
        return _trained(grid, job, lambda updates: watch(job, updates))
    except Exception as error:
        if len(job) == 1:
            return [as_nbyt_error(grid.env.id, error)]
    # One cell's error ended all of them: train each alone.
    return [outcome for cell in job for outcome in train_job(grid, (cell,))]


def _trained(grid: Grid, job: Job, watch: Callable[[int], None]) -> list[Outcome]:
    plans = [grid.plan(cell) for cell in job]
    if isinstance(grid.env, HostEnv):
        return [train_curve(plan, grid.env, watch, evaluated=bool(grid.episodes)) for plan in plans]
    return train_seeds(plans, grid.env, watch, episodes=grid.episodes)


def as_nbyt_error(env: str, error: Exception) -> NbytError:
    """Return an error that a table can hold: the trace of the user's own code comes first."""
    if not isinstance(error, NbytError):
        trace = "".join(traceback.format_exception(error)).strip()
        return EnvError(
            f"{trace}\nenv '{env}' raised {type(error).__name__}: {error}",
            where=env,
            fix=f"run `nbyt check-env {env}`, fix the env, and retry with --retry-failed",
        )
    # Where the env ran in another process, a note holds its trace.
    lines = [*own_lines(error.__cause__), *getattr(error.__cause__, "__notes__", [])]
    message = "\n".join([*(line.rstrip() for line in lines), error.message])
    return remade(type(error), message, where=error.where, fix=error.fix)


def worker_setup(path: list[str], step_limit: float) -> dict[str, Any]:
    """Return the setup with which a worker computes as this process does."""
    return {**basic_setup(path, step_limit), "hardware": hardware.prepared()}


def outcomes_of(grid: Grid, job: Job, answer: dict[str, Any]) -> list[Outcome]:
    """Read the outcome of every cell of a job from a worker's answer, or from its silence."""
    if "answers" not in answer:
        return [_failure(grid.env.id, answer)] * len(job)
    return [_error(part) or curve_from(part["curve"]) for part in answer["answers"]]


def first_failure(env: str, answer: dict[str, Any]) -> NbytError | None:
    """Return the first error of a worker's answer, or why there is none; None if all went well."""
    if "answers" not in answer:
        return _failure(env, answer)
    return next((error for part in answer["answers"] if (error := _error(part))), None)


def _error(answer: dict[str, Any]) -> NbytError | None:
    return error_from(answer["error"]) if "error" in answer else None


def _failure(env: str, answer: dict[str, Any]) -> NbytError:
    state = HeartbeatState(*answer["state"])
    if "silent" in answer:
        return hung(env, answer["silent"], state.words, state.step, state.where)
    if "ended" in answer:
        where = f"{state.words or 'between two calls'}, {state.where}"
        fix = f"see what it said on stderr, and run `nbyt check-env {env}`"
        return died(env, answer["ended"], where, fix=fix)
    if "cut_off" in answer:
        return EnvError(
            f"env '{env}' closed the files of its process, and with them the way to report",
            where=state.where,
            fix="close only what the env has opened",
        )
    return TrainingError(
        f"the training was not over after {answer['overlong']:g} s",
        where=state.where,
        fix="raise --cell-limit, and retry with --retry-failed",
    )
