"""Trainings and pools on a Ray cluster; this is the only file that imports Ray.

Results come back to this process, and only this process writes them.
"""

import json
import logging
import os
import socket
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nbyt.collect import PartProgress
from nbyt.collect.pool import Pool, joined
from nbyt.collect.segment import PoolPlan, parts_of
from nbyt.envs.protocol import HostEnv
from nbyt.errors import MissingExtraError, NbytError, TrainingError, UsageError
from nbyt.policy.actor_critic import Stage
from nbyt.policy.files import stage_files
from nbyt.processes.reaper import ProcessReaper
from nbyt.store import tensors
from nbyt.store.tensors import write_folder
from nbyt.sweeps.cells import (
    Job,
    Outcome,
    Outcomes,
    Watch,
    first_failure,
    outcomes_of,
    worker_setup,
)
from nbyt.sweeps.grid import Grid, GridSpec
from nbyt.sweeps.ray_task import run_pool_task, run_task, versions
from nbyt.sweeps.workers import STEP_LIMIT
from nbyt.system import descendants, usable_cores

LOCAL = "auto"
# Ray's servers listen to this machine alone, and its workers, which do all the work, run at normal
# priority.
_LOCAL_SETTINGS = {"RAY_worker_niceness": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
_CONNECT_SECONDS = 10.0
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}


class Connection:
    """A cluster that this process may give work to; make it before JAX runs here.

    address: of a cluster; "auto" finds one that runs, or else starts one on this machine.
    """

    def __init__(self, address: str) -> None:
        self._ray = _ray()
        self._before = dict(os.environ)
        self._reaper: ProcessReaper | None = None
        running = _running() if address == LOCAL else address
        if running is None:
            self._start()
        else:
            self._join(running)

    @property
    def cpus(self) -> int:
        """Return the number of processors of all nodes."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    @property
    def widest(self) -> int:
        """Return the number of processors of the largest node."""
        nodes = [one["Resources"] for one in self._ray.nodes() if one["Alive"]]
        return max((int(one.get("CPU", 0)) for one in nodes), default=1)

    def keep(self, value: Any) -> Any:
        """Return a reference to a value for many tasks; it is sent to every node once."""
        return self._ray.put(value)

    def submit(self, work: Callable[..., Any], *given: Any, cpus: int = 1, retries: int = 0) -> Any:
        """Return a reference to the work's result; retries: if its process or node dies."""
        task = self._ray.remote(work).options(num_cpus=cpus, max_retries=retries)
        return task.remote(*given)

    def ready(self, references: Sequence[Any], seconds: float) -> list[Any]:
        """Return those that are finished, after waiting for at most so long for the first."""
        found, _ = self._ray.wait(list(references), num_returns=len(references), timeout=0)
        if found or not references:
            return found
        return self._ray.wait(list(references), num_returns=1, timeout=seconds)[0]

    def result(self, reference: Any) -> Any:
        """Return the work's result; raise TrainingError if its process or node died too often."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            # Not its message: that holds addresses.
            raise TrainingError(
                f"the cluster lost the work every time it was tried ({type(error).__name__})",
                where="ray",
                fix="look at the nodes' memory and logs; give the same command with --retry-failed",
            ) from None

    def cancel(self, references: Sequence[Any]) -> None:
        """Give up the work and end its processes."""
        for reference in references:
            self._ray.cancel(reference, force=True)

    def close(self) -> None:
        """Disconnect; end a cluster that was started here."""
        self._ray.shutdown()
        if self._reaper is not None:
            self._reaper.close()
        for name in {*_LOCAL_SETTINGS, "RAY_AUTH_MODE"}:
            os.environ.pop(name, None)
            if name in self._before:
                os.environ[name] = self._before[name]

    def _join(self, address: str) -> None:
        try:
            _require_listener(address)  # Ray itself would try for twenty minutes
            self._ray.init(address=address, **_QUIET)
        except Exception as error:  # Ray says no in many ways
            # Not its message: that holds the address, which is private.
            raise UsageError(
                f"no Ray cluster answers there ({type(error).__name__})",
                where="ray",
                fix="start one (see docs/scale.md), or use --ray auto",
            ) from None

    def _start(self) -> None:
        os.environ.update({n: v for n, v in _LOCAL_SETTINGS.items() if n not in os.environ})
        # Ray has read its settings by now; its children will read them from the environment.
        self._ray._private.ray_constants.ENABLE_RAY_CLUSTER = False
        cores, others = usable_cores(), descendants(os.getpid())
        self._ray.init(address="local", include_dashboard=False, num_cpus=cores, **_QUIET)
        # Ray's agents would outlive a driver that is killed by a minute.
        family = set(descendants(os.getpid())) - set(others)
        self._reaper = ProcessReaper()
        for process in family:
            self._reaper.keep_one(process)


def _running() -> str | None:
    """Return the cluster that the environment names, or the last one started on this machine."""
    named = os.environ.get("RAY_ADDRESS")
    if named:
        return None if named == "local" else named
    note = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray/ray_current_cluster"
    try:
        address = note.read_text().strip()
        _require_listener(address)
    except (OSError, ValueError):  # no cluster was started, or it has ended
        return None
    return address


def _require_listener(address: str) -> None:
    """Raise an OSError or ValueError if nothing listens at the address."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()


def _ray() -> Any:
    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray") from None
    # Ray prints what happens to its workers, with addresses, on stdout; outcomes report it here.
    ray._private.worker._worker_logs_enabled = False
    return ray


RETRIES = 2
_PAUSE = 0.2


class Cluster:
    """Runs jobs as tasks of a cluster; make it before JAX runs in this process.

    step_limit, cell_limit: as for `Workers`. retries: how often a job is given to another worker
    when its worker or node has died. connection: one that is there already.
    """

    def __init__(
        self,
        address: str,
        cell_limit: float | None = None,
        retries: int = RETRIES,
        step_limit: float = STEP_LIMIT,
        connection: Connection | None = None,
    ) -> None:
        self._connection = connection or Connection(address)
        self._cell_limit, self._step_limit, self._retries = cell_limit, step_limit, retries

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; end one that was started here."""
        self._connection.close()

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Outcomes:
        """Yield every cell with its outcome as soon as it is known."""
        connection, waiting = self._connection, deque(jobs)
        # A job of many seeds keeps two processors busy, where a node has them.
        cpus = 1 if isinstance(grid.env, HostEnv) else min(2, connection.widest)
        flying: dict[Any, Job] = {}
        try:
            while waiting or flying:
                # Twice as many as can run, so that no worker waits for the driver.
                room = 2 * max(1, connection.cpus // cpus) - len(flying)
                for job in [waiting.popleft() for _ in range(min(room, len(waiting)))]:
                    text = self._request(grid, job)
                    task = connection.submit(run_task, text, cpus=cpus, retries=self._retries)
                    flying[task] = job
                    watch(job, 0)
                watch(next(iter(flying.values())), 0)  # so that the caller can stop
                for task in connection.ready(list(flying), _PAUSE):
                    job = flying.pop(task)
                    yield from zip(job, self._outcomes(grid, job, task), strict=True)
        finally:
            connection.cancel(list(flying))

    def _request(self, grid: Grid, job: Job) -> str:
        limit = self._cell_limit and self._cell_limit * len(job)
        task = {"grid": GridSpec.from_grid(grid).as_dict(), "job": job}
        return task_request(task, step_limit=self._step_limit, limit=limit)

    def _outcomes(self, grid: Grid, job: Job, task: Any) -> list[Outcome]:
        try:
            answer = json.loads(self._connection.result(task))
        except NbytError as error:
            return [error] * len(job)
        require_same_versions(answer)
        return outcomes_of(grid, job, answer)


def task_request(task: dict[str, Any], *, step_limit: float, limit: float | None = None) -> str:
    """Return all that is sent with a task, as JSON: import paths, limits, versions; about 1 kB."""
    setup = worker_setup([os.getcwd(), *sys.path], step_limit)
    # The tasks request CPUs only, and Ray hides other devices from them.
    setup["hardware"]["device"] = "cpu"
    return json.dumps({"setup": setup, "task": task, "limit": limit, "versions": versions()})


def require_same_versions(answer: dict[str, Any]) -> None:
    """Raise a UsageError if a worker has other versions than this process."""
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
    """Collects pools on a cluster; the bytes are the same as in this process."""

    def __init__(self, connection: Connection, step_limit: float = STEP_LIMIT) -> None:
        self._connection, self._step_limit = connection, step_limit

    def __call__(self, env: HostEnv, stage: Stage, plan: PoolPlan, progress: PartProgress) -> Pool:
        """Collect the pool of a plan, its chains in about as many parts as there are workers."""
        connection, content = self._connection, self._connection.keep(_files(stage))
        parts = parts_of(plan, connection.cpus)
        flying = {
            connection.submit(run_pool_task, text, content, retries=RETRIES): part
            for part in parts
            for text in [self._request(env, plan, part)]
        }
        collected: dict[range, Pool] = {}
        try:
            while flying:
                for reference in connection.ready(list(flying), _PAUSE):
                    part = flying.pop(reference)
                    collected[part] = _pool(env.id, *connection.result(reference))
                chains = sum(map(len, collected))
                progress(chains * plan.steps, plan.chains * plan.steps)
        finally:
            connection.cancel(list(flying))
        return joined([collected[part] for part in parts])

    def _request(self, env: HostEnv, plan: PoolPlan, part: range) -> str:
        task = {"env": env.id, "pool": list(plan), "chains": [part.start, part.stop]}
        return task_request(task, step_limit=self._step_limit)


def _files(stage: Stage) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "stage"
        write_folder(folder, "stage", *stage_files(stage), kind="stage")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def _pool(env: str, text: str, content: bytes) -> Pool:
    answer = json.loads(text)
    require_same_versions(answer)
    failure = first_failure(env, answer)
    if failure is not None:
        raise failure
    arrays = tensors.parse(content, "pool")
    return Pool(**{name: np.asarray(arrays[name]) for name in Pool._fields})
