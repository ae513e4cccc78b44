"""The main function of a worker process: one task after another, each a line of JSON."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import convert

from nbyt.collect.pool import collect_part
from nbyt.collect.segment import PoolPlan
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.envs.watched_env import WatchedEnv
from nbyt.errors import NbytError
from nbyt.policy.files import read_stage
from nbyt.processes.heartbeat import BUILT, Heartbeat
from nbyt.processes.worker import Say, serve
from nbyt.store import tensors
from nbyt.store.atomic import write_bytes
from nbyt.store.run import Folder
from nbyt.sweeps.cells import Job, Outcome, as_nbyt_error, same_layout, train_job
from nbyt.sweeps.grid import Cell, Grid, GridSpec
from nbyt.training import hardware

# Seconds between two reports of progress.
_PAUSE = 0.1


def main(heartbeat: Heartbeat) -> None:
    """Answer tasks until no more come."""

    def begin(setup: dict[str, Any], say: Say) -> Callable[[dict[str, Any]], None]:
        hardware.prepare(**setup["hardware"])
        return _TaskServer(heartbeat, setup["step_limit"], say).answer

    serve(begin)


class _TaskServer:
    """Does tasks; compiled programs are kept while the layout stays the same."""

    def __init__(self, heartbeat: Heartbeat, seconds: float, say: Say) -> None:
        self._heartbeat, self._seconds, self._say = heartbeat, seconds, say
        self._before: Job = ()
        self._said = 0.0

    def answer(self, task: dict[str, Any]) -> None:
        """Do a task and report its outcomes."""
        outcomes: list[Any]
        try:
            if "pool" in task:
                outcomes = self._collect(task)
            elif "times" in task:
                outcomes = self._time(task)
            else:
                outcomes = self._train(task)
        except NbytError as error:
            outcomes = [as_nbyt_error(task.get("env", ""), error)] * len(task.get("job", [()]))
        self._say({"answers": [as_plain(outcome) for outcome in outcomes]})

    def _train(self, task: dict[str, Any]) -> list[Any]:
        job = tuple(Cell(*cell) for cell in task["job"])
        if not same_layout(self._before, job):
            hardware.forget_programs()
        self._before = job
        grid = self._grid(task["grid"], job[0].seed)
        return train_job(grid, job, lambda job, updates: self._report(updates=updates))

    def _time(self, task: dict[str, Any]) -> list[Any]:
        """Time updates into the folder that the task names."""
        from nbyt.sweeps.timing import time_layouts_of

        grid = self._grid(task["grid"], task["grid"]["seeds"][0])
        folder = Folder(Path(task["times"]))
        time_layouts_of(grid, folder, lambda *what: self._report(progress=what))
        return []

    def _collect(self, task: dict[str, Any]) -> list[Any]:
        """Collect chains into the file that the task names."""
        plan, chains = PoolPlan(*task["pool"]), range(*task["chains"])
        env = self._env(task["env"], plan.seed)
        assert isinstance(env, HostEnv), "chains of device envs are collected where they are needed"
        stage = read_stage(Path(task["stage"]))
        pool = collect_part(env, stage.policy, stage.params, plan, chains)
        write_bytes(Path(task["result"]), tensors.dump(pool._asdict(), "pool"))
        return []

    def _grid(self, facts: dict[str, Any], seed: int) -> Grid:
        spec = convert(facts, GridSpec)
        return spec.grid(self._env(spec.env, seed))

    def _env(self, name: str, seed: int) -> DeviceEnv | HostEnv:
        self._heartbeat.begin(seed)
        with self._heartbeat.calling(BUILT):  # the user's code is imported, and an env is built
            env = resolve(name)
        return WatchedEnv(env, self._heartbeat, self._seconds) if isinstance(env, HostEnv) else env

    def _report(self, **words: Any) -> None:
        if time.monotonic() - self._said > _PAUSE:
            self._said = time.monotonic()
            self._say(words)


def as_plain(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome for JSON; `nbyt.sweeps.cells.outcomes_of` reads it."""
    if isinstance(outcome, NbytError):
        return {"error": outcome.as_facts()}
    return {"curve": outcome.as_dict()}
