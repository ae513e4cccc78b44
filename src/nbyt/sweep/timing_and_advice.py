"""The times of a sweep's layouts, and the advice that is compared with its trainings.

Both run the env. A host env may still hang or die there, after all cells are done, so that is done
in a worker process. What cannot be had is left out, with a sentence that says why.
"""

import sys

from nbyt.train.costs import Costs, costs_from, measure_costs
from nbyt.advice.run import answer_request
from nbyt.advice.stages import open_folder
from nbyt.envs.protocol import HostEnv
from nbyt.errors import DiskError, NbytError, RunInterruptedError, StoreError
from nbyt.measure.request import Progress
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import WorkerProcess
from nbyt.results.advice import Answers
from nbyt.store.files import ADVICE, SWEEP_ADVICE, TIMES
from nbyt.store.run import Folder
from nbyt.sweep.cells import first_failure, worker_setup
from nbyt.sweep.grid import Grid, GridSpec, advice_request
from nbyt.sweep.ray_task import WORKER_MODULE


def add_timing_and_advice(
    grid: Grid, folder: Folder, *, advice: bool, step_limit: float, progress: Progress
) -> list[str]:
    """Add what is missing to the folder; return a sentence for each part that could not be had."""
    if len(grid.layouts) < 2:
        return []  # nothing to compare
    kinds = ["times"] if folder.read(TIMES) is None else []
    kinds += ["advice"] if advice else []
    left_out = []
    for kind in kinds:
        try:
            if isinstance(grid.env, HostEnv):
                _add_in_worker(kind, grid, folder, step_limit, progress)
            else:
                add_part(kind, grid, folder, progress)
        except (DiskError, RunInterruptedError, StoreError):
            raise
        except NbytError as error:
            last = error.message.strip().splitlines()[-1]
            left_out.append(f"no {kind}: {last} ({error.where})")
    return left_out


def add_part(kind: str, grid: Grid, folder: Folder, progress: Progress) -> None:
    """Add the "times" or the "advice" to the folder."""
    if kind == "advice":
        request = advice_request(grid)
        advice = open_folder(request, [], folder.path_of(SWEEP_ADVICE), force=False, inner=True)
        answer_request(request, advice, progress=progress)
    else:
        costs = measure_costs(
            grid.env, grid.settings, grid.layouts, vector=grid.vector, progress=progress
        )
        folder.write(TIMES, costs.as_dict())


def load_costs(folder: Folder) -> Costs | None:
    """Load the seconds of an update of each layout; None if they were not timed."""
    times = folder.read(TIMES)
    return None if times is None else costs_from(times)


def load_advice(folder: Folder) -> Answers | None:
    """Load the advice in the sweep's folder; None if there is none."""
    try:
        return Folder(folder.path_of(SWEEP_ADVICE)).require(ADVICE).advice
    except StoreError:
        return None


def _add_in_worker(
    kind: str, grid: Grid, folder: Folder, step_limit: float, progress: Progress
) -> None:
    spec = GridSpec.from_grid(grid).as_dict()
    with ProcessReaper() as reaper:
        worker = WorkerProcess(reaper, WORKER_MODULE, worker_setup(sys.path, step_limit))
        try:
            answer = worker.finish(
                {"grid": spec, "part": kind, "folder": str(folder.path)},
                meanwhile=lambda heard: progress(*heard.get("progress", (kind, 0, 1))),
            )
        finally:
            worker.end()
    failure = first_failure(grid.env.id, answer)
    if failure is not None:
        raise failure
