"""A runner that trains in worker processes, in which envs may raise, hang or die."""

import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

from nbyt.errors import NbytError
from nbyt.numbers import DURATION, WORKERS, require
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import Bell, WorkerProcess
from nbyt.sweeps.cells import Job, Outcomes, Watch, outcomes_of, worker_setup
from nbyt.sweeps.grid import Grid, GridSpec
from nbyt.sweeps.ray_task import WORKER_MODULE
from nbyt.system import usable_cores

STEP_LIMIT = 60.0
# Seconds between two checks of the limits, and of whether the caller wants to stop.
_PAUSE = 0.2


class Workers:
    """Trains in worker processes, one for each core by default.

    step_limit: seconds that an env may take over one step. cell_limit: seconds that a training may
    take; seeds that are trained together may take as long as one after the other.
    """

    def __init__(
        self,
        workers: int | None = None,
        step_limit: float = STEP_LIMIT,
        cell_limit: float | None = None,
    ) -> None:
        require(WORKERS, workers=workers)
        require(DURATION, step_limit=step_limit, cell_limit=cell_limit)
        self._workers = workers or usable_cores()
        self._step_limit, self._cell_limit = step_limit, cell_limit

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Yield every cell with its outcome as soon as it is known; leave no process behind."""
        setup = worker_setup(sys.path, self._step_limit)
        spec = GridSpec.from_grid(grid).as_dict()
        waiting = deque(jobs)
        with ProcessReaper() as reaper, _WorkerPool(reaper, setup) as pool:
            while waiting or pool.busy:
                while waiting and len(pool.busy) < self._workers:
                    job = waiting.popleft()
                    limit = self._cell_limit and self._cell_limit * len(job)
                    pool.give(job, {"grid": spec, "job": job}, limit)
                for worker, job in pool.wait():
                    watch(job, worker.heard.get("updates", 0))
                    answer = worker.look()
                    if answer is not None:
                        outcomes = outcomes_of(grid, job, answer)
                        failed = any(isinstance(outcome, NbytError) for outcome in outcomes)
                        pool.free(worker, again=not failed)
                        yield from zip(job, outcomes, strict=True)


class _WorkerPool:
    """The workers of one run, idle or busy with a job."""

    def __init__(self, reaper: ProcessReaper, setup: dict[str, Any]) -> None:
        self._reaper, self._setup = reaper, setup
        self._bell = Bell()
        self._idle: list[WorkerProcess] = []
        self.busy: dict[WorkerProcess, Job] = {}

    def __enter__(self) -> "_WorkerPool":
        return self

    def __exit__(self, *error: object) -> None:
        for worker in (*self._idle, *self.busy):
            worker.end()

    def give(self, job: Job, task: dict[str, Any], limit: float | None) -> None:
        """Give a job to a worker."""
        worker = self._idle.pop() if self._idle else None
        worker = worker or WorkerProcess(self._reaper, WORKER_MODULE, self._setup, self._bell)
        worker.give(task, limit)
        self.busy[worker] = job

    def wait(self) -> list[tuple[WorkerProcess, Job]]:
        """Wait until a worker reports or a moment has passed; return workers and their jobs."""
        self._bell.wait(_PAUSE)
        return list(self.busy.items())

    def free(self, worker: WorkerProcess, *, again: bool) -> None:
        """Make the worker ready for another job, or end it.

        A process in which an env failed is not used again: its state is unknown.
        """
        del self.busy[worker]
        if again:
            self._idle.append(worker)
        else:
            worker.end()
