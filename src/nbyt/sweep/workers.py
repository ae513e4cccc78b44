"""A runner that trains in processes of their own: envs may raise, hang or die in them."""

import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

from nbyt.errors import NbytError
from nbyt.numbers import DURATION, WORKERS, require
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import Bell, WorkerProcess
from nbyt.sweep.cells import Job, Outcomes, Watch, outcomes_of, setup_of
from nbyt.sweep.grid import Grid, order_of
from nbyt.sweep.ray_task import WORKER_MODULE
from nbyt.system import usable_cores

STEP_LIMIT = 60.0
# Seconds between two looks at limits, and at whether somebody wants to stop.
_PAUSE = 0.2


class Workers:
    """So many workers at once, one for each core unless told otherwise.

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
        """Every cell with its outcome, as soon as there is one; no process is left behind."""
        setup, order = setup_of(sys.path, self._step_limit), order_of(grid).as_dict()
        waiting = deque(jobs)
        with ProcessReaper() as reaper, _Crew(reaper, setup) as crew:
            while waiting or crew.busy:
                while waiting and len(crew.busy) < self._workers:
                    job = waiting.popleft()
                    limit = self._cell_limit and self._cell_limit * len(job)
                    crew.give(job, {"order": order, "job": job}, limit)
                for worker, job in crew.listened():
                    watch(job, worker.heard.get("updates", 0))
                    answer = worker.look()
                    if answer is not None:
                        outcomes = outcomes_of(grid, job, answer)
                        failed = any(isinstance(outcome, NbytError) for outcome in outcomes)
                        crew.free(worker, again=not failed)
                        yield from zip(job, outcomes, strict=True)


class _Crew:
    """The workers of one run, and the jobs that they are at."""

    def __init__(self, reaper: ProcessReaper, setup: dict[str, Any]) -> None:
        self._reaper, self._setup = reaper, setup
        self._bell = Bell()
        self._idle: list[WorkerProcess] = []
        self.busy: dict[WorkerProcess, Job] = {}

    def __enter__(self) -> "_Crew":
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

    def listened(self) -> list[tuple[WorkerProcess, Job]]:
        """Workers and their jobs, when one of them has something to say or a moment has passed."""
        self._bell.wait(_PAUSE)
        return list(self.busy.items())

    def free(self, worker: WorkerProcess, *, again: bool) -> None:
        """Make the worker ready for another job, or end it.

        What an env has left behind in a process where it failed, nobody knows.
        """
        del self.busy[worker]
        if again:
            self._idle.append(worker)
        else:
            worker.end()
