"""Training cells: those of one layout together, and what comes of each."""

import traceback
from collections.abc import Callable, Generator, Sequence
from itertools import zip_longest
from typing import Any, Protocol, runtime_checkable

from nbyt.envs.local import died, hung
from nbyt.envs.protocol import HostEnv
from nbyt.errors import EnvError, NbytError, TrainingError, error_from, own_lines, remade
from nbyt.processes.heartbeat import HeartbeatState
from nbyt.processes.worker import basic_setup
from nbyt.sweep.grid import Cell, Grid
from nbyt.train import hardware
from nbyt.train.curves import Curve, curve_from, train_curve
from nbyt.train.seeds import train_seeds

# More seeds in one program are no faster, and what a crash can cost grows with them.
_TOGETHER = 16

Outcome = Curve | NbytError
Job = tuple[Cell, ...]
Watch = Callable[[Job, int], None]
Outcomes = Generator[tuple[Cell, Outcome], None, None]


@runtime_checkable
class Runner(Protocol):
    """Whoever trains jobs: this process, others, or a cluster."""

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Every cell with its outcome, as soon as there is one; closing it ends all work.

        watch: called with a job and the number of updates that it has made, and every now and then
        while there is nothing new, so that whoever listens can stop.
        """
        ...


class Here:
    """A runner that does one job after the other, in this process."""

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Every cell with its outcome, as soon as there is one."""
        for job, after in zip_longest(jobs, jobs[1:], fillvalue=()):
            yield from zip(job, train_job(grid, job, watch), strict=True)
            if not same_layout(job, after):
                hardware.forget_programs()


def jobs_of(grid: Grid, cells: Sequence[Cell]) -> list[Job]:
    """The cells as jobs: on the device seeds of one layout together, on the host one by one."""
    if isinstance(grid.env, HostEnv):
        return [(cell,) for cell in cells]
    jobs = []
    for layout in grid.layouts:
        own = [cell for cell in cells if cell[:2] == (layout.envs, layout.steps)]
        jobs += [tuple(own[k : k + _TOGETHER]) for k in range(0, len(own), _TOGETHER)]
    return jobs


def same_layout(job: Job, other: Job) -> bool:
    """Whether both are trained by the same programs."""
    return {cell[:2] for cell in job} == {cell[:2] for cell in other}


def train_job(grid: Grid, job: Job, watch: Watch = lambda job, updates: None) -> list[Outcome]:
    """What came of each cell of a job; an error of one cell is no error of the others."""
    try:
        return _trained(grid, job, lambda made: watch(job, made))
    except Exception as error:
        if len(job) == 1:
            return [told(grid.env.id, error)]
    # Somebody's error ended them all: those whom it does not concern are not to suffer for it.
    return [outcome for cell in job for outcome in train_job(grid, (cell,))]


def _trained(grid: Grid, job: Job, watch: Callable[[int], None]) -> list[Outcome]:
    plans = [grid.plan(cell) for cell in job]
    if isinstance(grid.env, HostEnv):
        return [train_curve(plan, grid.env, watch) for plan in plans]
    return train_seeds(plans, grid.env, watch)


def told(env: str, error: Exception) -> NbytError:
    """An error as a table can hold it: the trace of the user's own code comes first."""
    if not isinstance(error, NbytError):
        trace = "".join(traceback.format_exception(error)).strip()
        return EnvError(
            f"{trace}\nenv '{env}' raised {type(error).__name__}: {error}",
            where=env,
            fix=f"run `nbyt check-env {env}`, mend the env, and retry with --retry-failed",
        )
    # A process of the env's own has put its trace into a note.
    lines = [*own_lines(error.__cause__), *getattr(error.__cause__, "__notes__", [])]
    message = "\n".join([*(line.rstrip() for line in lines), error.message])
    return remade(type(error), message, where=error.where, fix=error.fix)


def setup_of(path: list[str], step_limit: float) -> dict[str, Any]:
    """What a worker needs to compute as this process does."""
    return {**basic_setup(path, step_limit), "hardware": hardware.prepared()}


def outcomes_of(grid: Grid, job: Job, answer: dict[str, Any]) -> list[Outcome]:
    """The outcome of every cell of a job, from what a worker said or failed to say."""
    if "answers" not in answer:
        return [_failure(grid.env.id, answer)] * len(job)
    return [_error(one) or curve_from(one["curve"]) for one in answer["answers"]]


def failure_of(env: str, answer: dict[str, Any]) -> NbytError | None:
    """The first error of what a worker said, or why it said nothing; None where all went well."""
    if "answers" not in answer:
        return _failure(env, answer)
    return next((error for one in answer["answers"] if (error := _error(one))), None)


def _error(answer: dict[str, Any]) -> NbytError | None:
    return error_from(answer["error"]) if "error" in answer else None


def _failure(env: str, answer: dict[str, Any]) -> NbytError:
    """Why there was no answer."""
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
