"""The worker process of `nbyt check-env`: builds the env and checks it."""

import faulthandler
from collections.abc import Callable
from typing import Any

from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.envs.check import Report, check
from nbyt.envs.lookup import import_code
from nbyt.envs.watched_env import CheckedEnv, StoppedError
from nbyt.errors import NbytError, described, own_lines
from nbyt.processes.heartbeat import BUILT, IMPORTED, ON_DEVICE, Heartbeat
from nbyt.processes.worker import Say, serve
from nbyt.training import hardware

# Limits of one step that a device env may take: nobody sees its steps one by one.
_TURNS = 10


def main(heartbeat: Heartbeat) -> None:
    """Serve checks until the parent closes the pipe."""
    faulthandler.enable()  # shows the line of the user's code that crashes

    def begin(setup: dict[str, Any], say: Say) -> Callable[[dict[str, Any]], None]:
        limit = setup["step_limit"]
        return lambda task: say({"answers": [_answer(heartbeat, limit, **task)]})

    serve(begin)


def _answer(heartbeat: Heartbeat, limit: float, env: str, seed: int, steps: int) -> dict[str, Any]:
    """Return the `report`, an `error`, or how the env `stopped` the check, with the user's
    `lines`.
    """
    heartbeat.begin(seed)
    try:
        hardware.prepare()
        report = _checked(heartbeat, _found(heartbeat, env), limit, seed, steps)
        return {"report": _data(report), "notes": report.notes}
    except NbytError as error:
        return {"error": error.as_facts(), "lines": own_lines(error.__cause__)}
    except StoppedError as error:
        how: dict[str, Any] = {"raised": error.raised} if error.raised else {"silent": limit}
        return {"stopped": how | {"state": error.state}, "lines": own_lines(error.__cause__)}
    except KeyboardInterrupt as error:
        how = {"raised": described(error), "state": heartbeat.read()}
        return {"stopped": how, "lines": own_lines(error)}


def _found(heartbeat: Heartbeat, env: str) -> DeviceEnv | HostEnv:
    with heartbeat.calling(IMPORTED):
        import_code(env)
    with heartbeat.calling(BUILT):
        return resolve(env)


def _checked(heartbeat: Heartbeat, env: Any, limit: float, seed: int, steps: int) -> Report:
    # Not isinstance of HostEnv: that would build an env whose constructor may be the fault.
    if callable(getattr(env, "start", None)):
        return check(CheckedEnv(env, heartbeat, limit), seed=seed, steps=steps)
    with heartbeat.calling(ON_DEVICE, turns=_TURNS):
        return check(env, seed=seed, steps=steps)


def _data(report: Report) -> dict[str, Any]:
    facts = {name: value for name, value in vars(report).items() if name not in ("id", "notes")}
    facts["steps_per_second"] = {str(n): speed for n, speed in report.steps_per_second.items()}
    return {"env": report.id, **facts, "faults": [fault._asdict() for fault in report.faults]}
