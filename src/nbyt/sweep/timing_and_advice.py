"""What stands beside the cells of a sweep: the times of its layouts, and the advice.

Both run the env. A host env may still hang or die there, after all cells are done, so that is done
in a worker, and what cannot be found is left out with a sentence that says why.
"""

import sys
from typing import Any

from nbyt.advice.costs import Costs, costs_from, measure_costs
from nbyt.advice.run import answer_request, open_folder
from nbyt.envs.protocol import HostEnv
from nbyt.errors import DiskError, NbytError, RunInterruptedError, StoreError
from nbyt.measure.chains import Progress
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import WorkerProcess
from nbyt.results import plain
from nbyt.store.files import ADVICE, SWEEP_ADVICE, TIMES
from nbyt.store.run import Folder
from nbyt.sweep.cells import failure_of, setup_of
from nbyt.sweep.grid import Grid, advice_request, order_of
from nbyt.sweep.ray_task import WORKER_MODULE


def find_asides(
    grid: Grid, folder: Folder, *, advice: bool, step_limit: float, progress: Progress
) -> list[str]:
    """Why something is left out, a sentence each; all else is then in the folder."""
    if len(grid.layouts) < 2:
        return []  # one layout has nothing to be compared with
    kinds = ["times"] if folder.read(TIMES) is None else []
    kinds += ["advice"] if advice else []
    said = []
    for kind in kinds:
        try:
            if isinstance(grid.env, HostEnv):
                _in_a_worker(kind, grid, folder, step_limit, progress)
            else:
                find_aside(kind, grid, folder, progress)
        except (DiskError, RunInterruptedError, StoreError):
            raise
        except NbytError as error:
            last = error.message.strip().splitlines()[-1]
            said.append(f"no {kind} beside the trainings: {last} ({error.where})")
    return said


def find_aside(kind: str, grid: Grid, folder: Folder, progress: Progress) -> None:
    """Nothing; the folder then holds the times, or the advice."""
    if kind == "advice":
        request = advice_request(grid)
        advice = open_folder(request, [], folder.path_of(SWEEP_ADVICE), force=False, inner=True)
        answer_request(request, advice, progress=progress)
    else:
        costs = measure_costs(
            grid.env, grid.settings, grid.layouts, vector=grid.vector, progress=progress
        )
        folder.write(TIMES, costs.as_dict())


def known_costs(folder: Folder) -> Costs | None:
    """What an update costs at each layout, where that was timed."""
    known = folder.read(TIMES)
    return None if known is None else costs_from(known)


def known_advice(folder: Folder) -> dict[str, Any] | None:
    """The advice in the sweep's folder, where there is one."""
    try:
        return plain(Folder(folder.path_of(SWEEP_ADVICE)).require(ADVICE))
    except StoreError:
        return None


def _in_a_worker(
    kind: str, grid: Grid, folder: Folder, step_limit: float, progress: Progress
) -> None:
    with ProcessReaper() as reaper:
        worker = WorkerProcess(reaper, WORKER_MODULE, setup_of(sys.path, step_limit))
        try:
            task = {"order": order_of(grid).as_dict(), "aside": kind, "folder": str(folder.path)}
            answer = worker.finish(
                task, meanwhile=lambda heard: progress(*heard.get("progress", (kind, 0, 1)))
            )
        finally:
            worker.end()
    failure = failure_of(grid.env.id, answer)
    if failure is not None:
        raise failure
