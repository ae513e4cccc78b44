"""What runs in a worker's process: one task after another, as lines of JSON ask for them."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbyt.collect.pool import collect_part
from nbyt.collect.segment import PoolPlan
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.envs.watched_env import WatchedEnv
from nbyt.errors import NbytError
from nbyt.policy.files import read_stage
from nbyt.processes.heartbeat import BUILT, Heartbeat
from nbyt.processes.serving import Say, serve
from nbyt.store import tensors
from nbyt.store.atomic import write_bytes
from nbyt.store.run import Folder
from nbyt.sweep.cells import Job, Outcome, same_layout, told, train_job
from nbyt.sweep.grid import Cell, Grid, grid_of, order_from
from nbyt.train import hardware

# Seconds between two words about progress.
_PAUSE = 0.1


def main(heartbeat: Heartbeat) -> None:
    """Answer tasks until no more come."""

    def begin(setup: dict[str, Any], say: Say) -> Callable[[dict[str, Any]], None]:
        hardware.prepare(**setup["hardware"])
        return _Helper(heartbeat, setup["step_limit"], say).answer

    serve(begin)


class _Helper:
    """Does tasks; programs are kept from one to the next as long as the layout is the same."""

    def __init__(self, heartbeat: Heartbeat, seconds: float, say: Say) -> None:
        self._heartbeat, self._seconds, self._say = heartbeat, seconds, say
        self._before: Job = ()
        self._said = 0.0

    def answer(self, task: dict[str, Any]) -> None:
        """Do a task and say what came of it."""
        outcomes: list[Any]
        try:
            if "pool" in task:
                outcomes = self._collected(task)
            elif "aside" in task:
                outcomes = self._aside(task)
            else:
                outcomes = self._trained(task)
        except NbytError as error:
            outcomes = [told(task.get("env", ""), error)] * len(task.get("job", [()]))
        self._say({"answers": [as_plain(outcome) for outcome in outcomes]})

    def _trained(self, task: dict[str, Any]) -> list[Any]:
        """What came of each cell of a job."""
        job = tuple(Cell(*cell) for cell in task["job"])
        if not same_layout(self._before, job):
            hardware.forget_programs()
        self._before = job
        grid = self._grid(task["order"], job[0].seed)
        return train_job(grid, job, lambda job, updates: self._tell(updates=updates))

    def _aside(self, task: dict[str, Any]) -> list[Any]:
        """Measure times or find the advice, and keep it in the sweep's folder."""
        from nbyt.sweep.timing_and_advice import find_aside

        grid = self._grid(task["order"], task["order"]["seeds"][0])
        folder = Folder(Path(task["folder"]))
        find_aside(task["aside"], grid, folder, lambda *what: self._tell(progress=what))
        return []

    def _collected(self, task: dict[str, Any]) -> list[Any]:
        """Collect chains into the file that the task names."""
        plan, part = PoolPlan(*task["pool"]), range(*task["part"])
        env = self._env(task["env"], plan.seed)
        assert isinstance(env, HostEnv), "chains of device envs are collected where they are needed"
        stage = read_stage(Path(task["stage"]))
        pool = collect_part(env, stage.policy, stage.params, plan, part)
        write_bytes(Path(task["result"]), tensors.dump(pool._asdict(), "pool"))
        return []

    def _grid(self, order: dict[str, Any], seed: int) -> Grid:
        sent = order_from(order)
        return grid_of(sent, self._env(sent.env, seed))

    def _env(self, name: str, seed: int) -> DeviceEnv | HostEnv:
        self._heartbeat.begin(seed)
        with self._heartbeat.calling(BUILT):  # the user's code is imported, and an env is built
            env = resolve(name)
        return WatchedEnv(env, self._heartbeat, self._seconds) if isinstance(env, HostEnv) else env

    def _tell(self, **words: Any) -> None:
        if time.monotonic() - self._said > _PAUSE:
            self._said = time.monotonic()
            self._say(words)


def as_plain(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON can carry it; `answers` has the way back."""
    if isinstance(outcome, NbytError):
        return {"error": outcome.as_facts()}
    return {"curve": outcome.as_dict()}
