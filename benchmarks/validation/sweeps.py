"""What really happens: every layout of every task, trained; and how long that took."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.validation.cases import Case
from nbyt.store.atomic import write_json
from nbyt.store.run import open_as, slug
from nbyt.store.sweep import SweepFolder
from nbyt.sweep.cells import Here, Job, Outcome, Watch
from nbyt.sweep.grid import Cell, Grid
from nbyt.sweep.running import run_cells

WORK = Path(__file__).parents[2] / "runs" / "validation"


class Timed(Here):
    """A runner that keeps the seconds of every job beside its cells."""

    def __init__(self, folder: SweepFolder) -> None:
        self._folder = folder

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Iterator[tuple[Cell, Outcome]]:
        """Every cell with its outcome, as soon as there is one."""
        for job in jobs:
            began = time.perf_counter()
            yield from super().run(grid, [job], watch)
            seconds = time.perf_counter() - began
            write_json(_seconds_path(self._folder, job), seconds)
            print(
                f"{self._folder.path.name} {job[0].name} and {len(job) - 1} more: {seconds:.0f} s",
                flush=True,
            )


def trained(case: Case) -> tuple[Grid, SweepFolder]:
    """The sweep of a task; what is there already is not trained again."""
    grid = case.grid()
    folder = folder_of(case, grid)
    run_cells(grid, folder, runner=Timed(folder))
    return grid, folder


def folder_of(case: Case, grid: Grid) -> SweepFolder:
    """Where the sweep of a task is kept."""
    return open_as(SweepFolder, WORK / slug(case.name), grid.identity())


def seconds_of(folder: SweepFolder) -> float:
    """The seconds that all jobs of a sweep took."""
    return sum(float(path.read_text()) for path in folder.path.glob("seconds-*.json"))


def _seconds_path(folder: SweepFolder, job: Job) -> Path:
    return folder.path / f"seconds-{job[0].name}.json"
