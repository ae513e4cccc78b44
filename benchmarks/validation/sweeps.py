"""What really happens: every layout of every task, trained."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.validation.cases import Case
from nbyt.store.run import Folder, open_run
from nbyt.store.text import slug
from nbyt.sweep.cells import InProcessRunner, Job, Outcome, Watch
from nbyt.sweep.grid import Cell, Grid
from nbyt.sweep.run import run_cells

WORK = Path(__file__).parents[2] / "runs" / "validation"


class Talking(InProcessRunner):
    """A runner that says what it has trained: all of it takes hours."""

    def run(self, grid: Grid, jobs: Sequence[Job], watch: Watch) -> Iterator[tuple[Cell, Outcome]]:
        """Every cell with its outcome, as soon as there is one."""
        for job in jobs:
            yield from super().run(grid, [job], watch)
            print(f"{grid.env.id} {job[0].name} and {len(job) - 1} more", flush=True)


def trained(case: Case) -> tuple[Grid, Folder]:
    """The sweep of a task; what is there already is not trained again."""
    grid = case.grid()
    folder = folder_of(case, grid)
    run_cells(grid, folder, runner=Talking())
    return grid, folder


def folder_of(case: Case, grid: Grid) -> Folder:
    """Where the sweep of a task is kept."""
    return open_run(WORK / slug(case.name), grid.identity(), "sweep")
