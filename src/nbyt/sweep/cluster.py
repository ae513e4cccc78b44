"""A runner that trains on a Ray cluster; results come back here, and are written here alone."""

import json
import os
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

from nbyt.envs.protocol import HostEnv
from nbyt.errors import NbytError, UsageError
from nbyt.sweep.answers import outcomes_of, setup_of
from nbyt.sweep.cells import Job, Outcome, Outcomes, Watch
from nbyt.sweep.grid import Grid
from nbyt.sweep.grid_spec import order_of
from nbyt.sweep.ray_package import Connection
from nbyt.sweep.ray_task import run_errand, versions
from nbyt.sweep.workers import STEP_LIMIT

RETRIES = 2
_PAUSE = 0.2


class Cluster:
    """Jobs as tasks of a cluster; it must be made before JAX runs in this process.

    step_limit, cell_limit: as for `Workers`. retries: how often a job is given to another worker
    when its own, or its node, has died.
    """

    def __init__(
        self,
        address: str,
        cell_limit: float | None = None,
        retries: int = RETRIES,
        step_limit: float = STEP_LIMIT,
    ) -> None:
        self._connection = Connection(address)
        self._cell_limit, self._step_limit, self._retries = cell_limit, step_limit, retries

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing; this process is then no part of the cluster, and one started here is gone."""
        self._connection.close()

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Every cell with its outcome, as soon as there is one."""
        connection, waiting = self._connection, deque(jobs)
        # A job of many seeds keeps two processors busy, where a node has them.
        cpus = 1 if isinstance(grid.env, HostEnv) else min(2, connection.widest)
        flying: dict[Any, Job] = {}
        try:
            while waiting or flying:
                # Twice as many as can run: nobody waits for the driver, which holds little.
                room = 2 * max(1, connection.cpus // cpus) - len(flying)
                for job in [waiting.popleft() for _ in range(min(room, len(waiting)))]:
                    text = self._errand(grid, job)
                    task = connection.submit(run_errand, text, cpus=cpus, retries=self._retries)
                    flying[task] = job
                    watch(job, 0)
                watch(next(iter(flying.values())), 0)  # so that whoever listens can stop
                for task in connection.ready(list(flying), _PAUSE):
                    job = flying.pop(task)
                    yield from zip(job, self._outcomes(grid, job, task), strict=True)
        finally:
            connection.cancel(list(flying))

    def _errand(self, grid: Grid, job: Job) -> str:
        limit = self._cell_limit and self._cell_limit * len(job)
        task = {"order": order_of(grid).as_dict(), "job": job}
        return asked_of(task, step_limit=self._step_limit, limit=limit)

    def _outcomes(self, grid: Grid, job: Job, task: Any) -> list[Outcome]:
        try:
            answer = json.loads(self._connection.result(task))
        except NbytError as error:
            return [error] * len(job)
        require_same(answer)
        return outcomes_of(grid, job, answer)


def asked_of(task: dict[str, Any], *, step_limit: float, limit: float | None = None) -> str:
    """All that is sent with a task: where code is, limits, versions; a thousand bytes or so."""
    setup = setup_of([os.getcwd(), *sys.path], step_limit)
    # The tasks ask for processors alone, and Ray hides what they did not ask for.
    setup["hardware"]["device"] = "cpu"
    return json.dumps({"setup": setup, "task": task, "limit": limit, "versions": versions()})


def require_same(answer: dict[str, Any]) -> None:
    """Nothing, or an error where a worker has other versions than this process."""
    theirs, ours = answer.get("differs"), versions()
    if theirs is None:
        return
    words = [f"{name} {theirs[name]}, not {ours[name]}" for name in ours]
    raise UsageError(
        f"a worker of the cluster has {' and '.join(words)}",
        where="ray",
        fix="install the same versions on every node: others would train other numbers",
    )
