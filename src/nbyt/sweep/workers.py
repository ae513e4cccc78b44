"""A runner that trains in processes of their own: envs may raise, hang or die in them."""

import sys
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from nbyt.errors import NbytError
from nbyt.numbers import DURATION, WORKERS, require
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import Bell, WorkerProcess
from nbyt.sweep.answers import outcomes_of, setup_of
from nbyt.sweep.cells import Job, Outcomes, Watch
from nbyt.sweep.grid import Grid
from nbyt.sweep.grid_spec import order_of
from nbyt.sweep.ray_task import LANE
from nbyt.system import usable_cores

STEP_LIMIT = 60.0
# Seconds between two looks at limits, and at whether somebody wants to stop.
_PAUSE = 0.2


class Workers:
    """So many lanes at once, one for each core unless told otherwise.

    step_limit: seconds that an env may take over one step. cell_limit: seconds that a training may
    take; seeds that are trained together may take as long as one after the other.
    """

    def __init__(
        self,
        lanes: int | None = None,
        step_limit: float = STEP_LIMIT,
        cell_limit: float | None = None,
    ) -> None:
        require(WORKERS, workers=lanes)
        require(DURATION, step_limit=step_limit, cell_limit=cell_limit)
        self._lanes = lanes or usable_cores()
        self._step_limit, self._cell_limit = step_limit, cell_limit

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Every cell with its outcome, as soon as there is one; no process is left behind."""
        setup, order = setup_of(sys.path, self._step_limit), order_of(grid).as_dict()
        waiting = deque(jobs)
        with ProcessReaper() as reaper, _Crew(reaper, setup) as crew:
            while waiting or crew.busy:
                while waiting and len(crew.busy) < self._lanes:
                    job = waiting.popleft()
                    limit = self._cell_limit and self._cell_limit * len(job)
                    crew.give(job, {"order": order, "job": job}, limit)
                for lane, job in crew.listened():
                    watch(job, lane.heard.get("updates", 0))
                    answer = lane.look()
                    if answer is not None:
                        outcomes = outcomes_of(grid, job, answer)
                        failed = any(isinstance(outcome, NbytError) for outcome in outcomes)
                        crew.free(lane, again=not failed)
                        yield from zip(job, outcomes, strict=True)


class _Crew:
    """The lanes of one run, and the jobs that they are at."""

    def __init__(self, reaper: ProcessReaper, setup: dict[str, Any]) -> None:
        self._reaper, self._setup = reaper, setup
        self._bell = Bell()
        self._idle: list[WorkerProcess] = []
        self.busy: dict[WorkerProcess, Job] = {}

    def __enter__(self) -> "_Crew":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for lane in (*self._idle, *self.busy):
            lane.end()

    def give(self, job: Job, errand: dict[str, Any], limit: float | None) -> None:
        """Nothing; a lane is then at this job."""
        lane = self._idle.pop() if self._idle else None
        lane = lane or WorkerProcess(self._reaper, LANE, self._setup, self._bell)
        lane.give(errand, limit)
        self.busy[lane] = job

    def listened(self) -> list[tuple[WorkerProcess, Job]]:
        """Lanes and their jobs, when one of them has something to say or a moment has passed."""
        self._bell.wait(_PAUSE)
        return list(self.busy.items())

    def free(self, lane: WorkerProcess, *, again: bool) -> None:
        """Nothing; the lane is then ready for another job, or over.

        What an env has left behind in a process where it failed, nobody knows.
        """
        del self.busy[lane]
        if again:
            self._idle.append(lane)
        else:
            lane.end()
