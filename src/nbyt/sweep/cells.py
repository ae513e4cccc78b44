"""Training cells: those of one layout together, and what comes of each."""

import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from nbyt.envs.protocol import HostEnv
from nbyt.errors import EnvError, NbytError
from nbyt.sweep.grid import Cell, Grid
from nbyt.train import hardware
from nbyt.train.curves import Curve, train_curve
from nbyt.train.seeds import train_seeds

# More seeds in one program are no faster, and what a crash can cost grows with them.
_TOGETHER = 16

Outcome = Curve | NbytError
Job = tuple[Cell, ...]
Watch = Callable[[Job, int], None]


@runtime_checkable
class Runner(Protocol):
    """Whoever trains jobs: this process, others, or a cluster."""

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Iterator[tuple[Cell, Outcome]]:
        """Every cell with its outcome, as soon as there is one.

        watch: called with a job and the number of updates that it has made.
        """
        ...


class Here:
    """A runner that does one job after the other, in this process."""

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Iterator[tuple[Cell, Outcome]]:
        """Every cell with its outcome, as soon as there is one."""
        for job in jobs:
            yield from zip(job, train_job(grid, job, watch), strict=True)
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


def train_job(grid: Grid, job: Job, watch: Watch = lambda job, updates: None) -> list[Outcome]:
    """What came of each cell of a job; an error of one cell is no error of the others."""
    plans = [grid.plan(cell) for cell in job]
    try:
        if isinstance(grid.env, HostEnv):
            return [train_curve(plan, grid.env, lambda made: watch(job, made)) for plan in plans]
        return train_seeds(plans, grid.env, lambda made: watch(job, made))
    except NbytError as error:
        return [error] * len(job)
    except Exception as error:
        return [_stumble(grid, error)] * len(job)


def _stumble(grid: Grid, error: Exception) -> NbytError:
    """An error of the env's code as one that a table can hold: its own trace comes first."""
    trace = "".join(traceback.format_exception(error)).strip()
    return EnvError(
        f"{trace}\nenv '{grid.env.id}' raised {type(error).__name__}: {error}",
        where=grid.env.id,
        fix=f"run `nbyt check-env {grid.env.id}`, mend the env, and retry with --retry-failed",
    )
