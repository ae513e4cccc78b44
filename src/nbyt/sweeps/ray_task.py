"""The work of a Ray worker: give a task to a worker process, and wait for the answer.

The Ray worker itself imports no JAX and runs no env, so an env that hangs or dies does not harm the
cluster. The process stays for the next task.
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

# The module that worker processes run.
WORKER_MODULE = "nbyt.sweeps.worker_main"
_workers: dict[str, tuple[ProcessReaper, WorkerProcess]] = {}


def versions() -> dict[str, str]:
    """Return the versions that decide the bytes of a result."""
    return {"nbyt": nbyt.__version__, "jax": version("jax")}


def run_task(text: str) -> str:
    """Return how the task ended, as `WorkerProcess.look` does, or `differs` with other versions.

    text: JSON of `setup`, `task`, `limit` and `versions`.
    """
    asked = json.loads(text)
    if asked["versions"] != versions():
        return json.dumps({"differs": versions()})
    return json.dumps(_done(asked["setup"], asked["task"], asked["limit"]))


def run_pool_task(text: str, stage: dict[str, bytes]) -> tuple[str, bytes]:
    """Return how collecting chains ended, and the chains as safetensors.

    text: as for `run_task`. stage: the content of the stage's files.
    """
    with tempfile.TemporaryDirectory() as place:
        own = Path(place).resolve()
        folder, result = own / "stage", own / "pool.safetensors"
        make_folder(folder)
        for name, content in stage.items():
            write_bytes(folder / name, content)
        asked = json.loads(text)
        asked["task"] |= {"stage": str(folder), "result": str(result)}
        answer = run_task(json.dumps(asked))
        return answer, result.read_bytes() if result.exists() else b""


def _done(setup: dict[str, Any], task: dict[str, Any], limit: float | None) -> dict[str, Any]:
    answer = _worker(setup).finish(task, limit)
    if "answers" not in answer or any("error" in one for one in answer["answers"]):
        _forget()
    return answer


def _worker(setup: dict[str, Any]) -> WorkerProcess:
    """Return the worker process with this setup, a new one where there is none."""
    name = json.dumps(setup)
    if name not in _workers:
        _forget()
        reaper = ProcessReaper()
        _workers[name] = reaper, WorkerProcess(reaper, WORKER_MODULE, setup)
    return _workers[name][1]


def _forget() -> None:
    for reaper, worker in _workers.values():
        worker.end()
        reaper.close()
    _workers.clear()
