"""What an advice costs beside a sweep, both timed one after the other on the same machine."""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.validation.cases import Case
from benchmarks.validation.sweeps import WORK
from nbyt.advice.run import answer_request
from nbyt.advice.stages import open_folder
from nbyt.store.atomic import write_json
from nbyt.store.text import slug
from nbyt.sweep.cells import make_jobs, train_job
from nbyt.sweep.grid import advice_request


def timed(case: Case) -> dict[str, Any]:
    """Seconds and env steps of one whole advice, and of the sweep.

    Of the sweep one layout is timed, the one in the middle, and taken for all; programs are
    compiled anew for every layout, as they are in a sweep.
    """
    path = WORK / f"costs-{slug(case.name)}.json"
    if path.exists():
        return json.loads(path.read_text())
    grid = case.grid()
    jobs = make_jobs(grid, grid.cells)
    began = time.perf_counter()
    train_job(grid, jobs[len(jobs) // 2])
    sweep = (time.perf_counter() - began) * len(jobs)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        request = advice_request(grid, seed=2000)
        data = answer_request(request, open_folder(request, [], Path(folder) / "a", force=False))
    advice = time.perf_counter() - began
    found = {
        "sweep_seconds": sweep,
        "advice_seconds": advice,
        "sweep_samples": grid.points[-1] * grid.batch * len(grid.cells),
        "advice_samples": _samples(data.data),
    }
    write_json(path, found)
    print(case.name, found, flush=True)
    return found


def _samples(data: dict[str, Any]) -> int:
    """Env steps of the training and of the stages' pools; closer looks do not change the answer."""
    pools = sum(stage["pool"]["samples"] for stage in data["stages"])
    trained = max(stage["samples"] or 0 for stage in data["stages"])
    return int(pools + trained)
