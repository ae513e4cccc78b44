"""What runs in a lane's process: one errand after another, as lines of JSON ask for them."""

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
from nbyt.store import header
from nbyt.store.atomic import write_bytes
from nbyt.store.sweep import SweepFolder
from nbyt.sweep.cells import Job, Outcome, same_layout, told, train_job
from nbyt.sweep.grid import Cell, Grid
from nbyt.sweep.grid_spec import grid_of, order_from
from nbyt.train import hardware

# Seconds between two words about progress.
_PAUSE = 0.1


def main(heartbeat: Heartbeat) -> None:
    """Answer errands until no more come."""

    def begin(setup: dict[str, Any], say: Say) -> Callable[[dict[str, Any]], None]:
        hardware.prepare(**setup["hardware"])
        return _Helper(heartbeat, setup["step_limit"], say).answer

    serve(begin)


class _Helper:
    """Does errands; programs are kept from one to the next as long as the layout is the same."""

    def __init__(self, heartbeat: Heartbeat, seconds: float, say: Say) -> None:
        self._heartbeat, self._seconds, self._say = heartbeat, seconds, say
        self._before: Job = ()
        self._said = 0.0

    def answer(self, errand: dict[str, Any]) -> None:
        """Nothing; what came of the errand was said."""
        outcomes: list[Any]
        try:
            if "pool" in errand:
                outcomes = self._collected(errand)
            elif "aside" in errand:
                outcomes = self._aside(errand)
            else:
                outcomes = self._trained(errand)
        except NbytError as error:
            outcomes = [told(errand.get("env", ""), error)] * len(errand.get("job", [()]))
        self._say({"answers": [as_plain(outcome) for outcome in outcomes]})

    def _trained(self, errand: dict[str, Any]) -> list[Any]:
        """What came of each cell of a job."""
        job = tuple(Cell(*cell) for cell in errand["job"])
        if not same_layout(self._before, job):
            hardware.forget_programs()
        self._before = job
        grid = self._grid(errand["order"], job[0].seed)
        return train_job(grid, job, lambda job, updates: self._tell(updates=updates))

    def _aside(self, errand: dict[str, Any]) -> list[Any]:
        """Nothing; the times or the advice are then in the sweep's folder."""
        from nbyt.sweep.timing_and_advice import find_aside

        grid = self._grid(errand["order"], errand["order"]["seeds"][0])
        folder = SweepFolder(Path(errand["folder"]))
        find_aside(errand["aside"], grid, folder, lambda *what: self._tell(progress=what))
        return []

    def _collected(self, errand: dict[str, Any]) -> list[Any]:
        """Nothing; the chains are then in the file that the errand names."""
        plan, part = PoolPlan(*errand["pool"]), range(*errand["part"])
        env = self._env(errand["env"], plan.seed)
        assert isinstance(env, HostEnv), "chains of device envs are collected where they are needed"
        stage = read_stage(Path(errand["stage"]))
        pool = collect_part(env, stage.policy, stage.params, plan, part)
        write_bytes(Path(errand["result"]), header.dump(pool._asdict(), "pool"))
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
