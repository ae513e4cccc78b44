"""The seconds of an update of a sweep's layouts.

Timing runs the env. A host env may still hang or die there, after all cells are done, so that is
done in a worker process. What cannot be had is left out, with a sentence that says why.
"""

import sys

from nbyt.collect import Progress
from nbyt.envs.protocol import HostEnv
from nbyt.errors import DiskError, NbytError, RunInterruptedError, StoreError
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import WorkerProcess
from nbyt.store.files import TIMES
from nbyt.store.run import Folder
from nbyt.sweeps.cells import first_failure, worker_setup
from nbyt.sweeps.grid import Grid, GridSpec
from nbyt.sweeps.ray_task import WORKER_MODULE
from nbyt.training.costs import Costs, costs_from, measure_costs


def add_times(grid: Grid, folder: Folder, *, step_limit: float, progress: Progress) -> list[str]:
    """Time the layouts if the folder lacks that; return a sentence where it could not be done."""
    if len(grid.layouts) < 2 or folder.read(TIMES) is not None:
        return []  # nothing to compare, or nothing to do
    try:
        if isinstance(grid.env, HostEnv):
            _time_in_worker(grid, folder, step_limit, progress)
        else:
            time_layouts_of(grid, folder, progress)
    except (DiskError, RunInterruptedError, StoreError):
        raise
    except NbytError as error:
        last = error.message.strip().splitlines()[-1]
        return [f"no times: {last} ({error.where})"]
    return []


def time_layouts_of(grid: Grid, folder: Folder, progress: Progress) -> None:
    """Time updates of the layouts, and keep that in the folder."""
    costs = measure_costs(
        grid.env, grid.settings, grid.layouts, vector=grid.vector, progress=progress
    )
    folder.write(TIMES, costs.record)


def load_costs(folder: Folder) -> Costs | None:
    """Load the seconds of an update of each layout; None if they were not timed."""
    times = folder.read(TIMES)
    return None if times is None else costs_from(times)


def _time_in_worker(grid: Grid, folder: Folder, step_limit: float, progress: Progress) -> None:
    spec = GridSpec.from_grid(grid).as_dict()
    with ProcessReaper() as reaper:
        worker = WorkerProcess(reaper, WORKER_MODULE, worker_setup(sys.path, step_limit))
        try:
            answer = worker.finish(
                {"grid": spec, "times": str(folder.path)},
                meanwhile=lambda heard: progress(*heard.get("progress", ("times", 0, 1))),
            )
        finally:
            worker.end()
    failure = first_failure(grid.env.id, answer)
    if failure is not None:
        raise failure
