"""What a worker of a cluster does: it has a lane beside it do an errand, and waits for it.

The worker itself imports no JAX and runs no env, so an env that hangs or dies is no matter for the
cluster. The lane stays for the next errand.
"""

import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbyt
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import WorkerProcess
from nbyt.store.atomic import write_bytes
from nbyt.store.paths import make_folder

# The module that lanes run.
LANE = "nbyt.sweep.worker_main"
_lanes: dict[str, tuple[ProcessReaper, WorkerProcess]] = {}


def versions() -> dict[str, str]:
    """What decides the bytes of a result."""
    return {"nbyt": nbyt.__version__, "jax": version("jax")}


def run_errand(text: str) -> str:
    """How the errand ended, as `WorkerProcess.look` says, or `differs` with the worker's versions.

    text: JSON of `setup`, `errand`, `limit` and `versions`.
    """
    asked = json.loads(text)
    if asked["versions"] != versions():
        return json.dumps({"differs": versions()})
    return json.dumps(_done(asked["setup"], asked["errand"], asked["limit"]))


def run_pool_errand(text: str, stage: dict[str, bytes]) -> tuple[str, bytes]:
    """How collecting chains ended, and the chains as safetensors.

    text: as for `run_errand`. stage: the content of the stage's files.
    """
    with tempfile.TemporaryDirectory() as place:
        own = Path(place).resolve()
        folder, result = own / "stage", own / "pool.safetensors"
        make_folder(folder)
        for name, content in stage.items():
            write_bytes(folder / name, content)
        asked = json.loads(text)
        asked["errand"] |= {"stage": str(folder), "result": str(result)}
        answer = run_errand(json.dumps(asked))
        return answer, result.read_bytes() if result.exists() else b""


def _done(setup: dict[str, Any], errand: dict[str, Any], limit: float | None) -> dict[str, Any]:
    answer = _lane(setup).finish(errand, limit)
    if "answers" not in answer or any("error" in one for one in answer["answers"]):
        _forget()
    return answer


def _lane(setup: dict[str, Any]) -> WorkerProcess:
    """The lane of this process, or a new one where there is none with this setup."""
    name = json.dumps(setup)
    if name not in _lanes:
        _forget()
        reaper = ProcessReaper()
        _lanes[name] = reaper, WorkerProcess(reaper, LANE, setup)
    return _lanes[name][1]


def _forget() -> None:
    for reaper, lane in _lanes.values():
        lane.end()
        reaper.close()
    _lanes.clear()
