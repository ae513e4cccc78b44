"""A runner that trains on a Ray cluster; results come back here, and are written here alone."""

import json
import os
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nbyt.collect.pool import Pool, joined
from nbyt.collect.segment import PoolPlan, parts_of
from nbyt.envs.protocol import HostEnv
from nbyt.errors import NbytError, UsageError
from nbyt.measure.frozen_policy import Progress
from nbyt.policy.files import describe, stage_tensors
from nbyt.policy.stage import Stage
from nbyt.store import tensors
from nbyt.store.tensors import write_folder
from nbyt.sweep.cells import Job, Outcome, Outcomes, Watch, failure_of, outcomes_of, setup_of
from nbyt.sweep.grid import Grid, order_of
from nbyt.sweep.ray_package import Connection
from nbyt.sweep.ray_task import run_errand, run_pool_errand, versions
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


class ClusterPools:
    """Collects pools on a cluster: the same bytes as if the chains were collected here."""

    def __init__(self, connection: Connection, step_limit: float = STEP_LIMIT) -> None:
        self._connection, self._step_limit = connection, step_limit

    def __call__(self, env: HostEnv, stage: Stage, plan: PoolPlan, progress: Progress) -> Pool:
        """The pool that `plan` asks for, its chains in about as many parts as there are workers."""
        connection, content = self._connection, self._connection.keep(_files(stage))
        parts = parts_of(plan, connection.cpus)
        flying = {
            connection.submit(run_pool_errand, text, content, retries=RETRIES): part
            for part in parts
            for text in [self._errand(env, plan, part)]
        }
        found: dict[range, Pool] = {}
        try:
            while flying:
                for reference in connection.ready(list(flying), _PAUSE):
                    part = flying.pop(reference)
                    found[part] = _pool(env.id, *connection.result(reference))
                chains = sum(map(len, found))
                progress(chains * plan.steps, plan.chains * plan.steps)
        finally:
            connection.cancel(list(flying))
        return joined([found[part] for part in parts])

    def _errand(self, env: HostEnv, plan: PoolPlan, part: range) -> str:
        task = {"env": env.id, "pool": list(plan), "part": [part.start, part.stop]}
        return asked_of(task, step_limit=self._step_limit)


def _files(stage: Stage) -> dict[str, bytes]:
    """The stage as the files that a run keeps."""
    facts = {**stage.facts, "policy": describe(stage.policy)}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "stage"
        write_folder(folder, "stage", stage_tensors(stage), facts, kind="stage")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def _pool(env: str, text: str, content: bytes) -> Pool:
    answer = json.loads(text)
    require_same(answer)
    failure = failure_of(env, answer)
    if failure is not None:
        raise failure
    arrays = tensors.parse(content, "pool")
    return Pool(**{name: np.asarray(arrays[name]) for name in Pool._fields})
