"""The trainings of a sweep or a race: what a folder lacks is trained, and kept as it is done."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from nbyt.errors import NbytError
from nbyt.numbers import RETRIES
from nbyt.results import Failure
from nbyt.results.sweep import CellCounts
from nbyt.store.files import CELL, FAILED
from nbyt.store.run import Folder
from nbyt.sweeps.cells import InProcessRunner, Job, Runner, make_jobs
from nbyt.sweeps.grid import Cell, Grid
from nbyt.training.curves import Curve


@dataclass
class Tally:
    """How far a sweep is.

    running: the jobs under way, with the updates they have made.
    """

    total: int
    done: int = 0
    failed: int = 0
    running: dict[Job, int] | None = None

    @property
    def counts(self) -> CellCounts:
        """Return the counts that JSON promises."""
        return CellCounts(done=self.done, failed=self.failed, total=self.total)


def run_cells(
    grid: Grid,
    folder: Folder,
    *,
    runner: Runner | None = None,
    retries: int = 0,
    retry_failed: bool = False,
    progress: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Train every cell that the folder does not hold yet; each is kept as soon as it is done.

    retries: how often a cell that failed is tried again at once. retry_failed: also those that an
    earlier run gave up.
    """
    retries = RETRIES.check(retries, "retries")
    runner = runner or InProcessRunner()
    done = curves_of(grid, folder)
    left = [cell for cell in grid.cells if cell not in done]
    given_up = [] if retry_failed else [c for c in left if folder.read(FAILED, c.name) is not None]
    tally = Tally(len(grid.cells), len(grid.cells) - len(left), len(given_up), {})
    left = [cell for cell in left if cell not in set(given_up)]
    progress(tally)
    for attempt in range(retries + 1):
        last = attempt == retries
        left = _attempt(grid, folder, runner, left, tally, progress, last=last)
    return tally


def curves_of(grid: Grid, folder: Folder) -> dict[Cell, Curve]:
    """Load the curve of every cell that is done."""
    samples = {
        cell: tuple(number * grid.batch for number in grid.points_of(cell)) for cell in grid.cells
    }
    stored = {cell: folder.read(CELL, cell.name) for cell in grid.cells}
    # A curve with other points is of another sweep: like a damaged one, it is trained again.
    return {
        cell: Curve(kept.samples, kept.returns, kept.unfinished, kept.training)
        for cell, kept in stored.items()
        if kept is not None and kept.samples == samples[cell]
    }


def failures_of(grid: Grid, folder: Folder) -> dict[Cell, Failure]:
    """Load why cells that are not done failed."""
    done = curves_of(grid, folder)
    stored = {cell: folder.read(FAILED, cell.name) for cell in grid.cells if cell not in done}
    return {cell: failure for cell, failure in stored.items() if failure is not None}


def _attempt(
    grid: Grid,
    folder: Folder,
    runner: Runner,
    cells: Sequence[Cell],
    tally: Tally,
    progress: Callable[[Tally], None],
    *,
    last: bool,
) -> list[Cell]:
    """Train the cells; return those that failed. Failures are saved at the last attempt."""
    failed: list[Cell] = []
    running = tally.running = {}

    def watch(job: Job, updates: int) -> None:
        running[job] = updates
        progress(tally)

    jobs = make_jobs(grid, cells)
    job_of = {cell: job for job in jobs for cell in job}
    # Closed also where a file cannot be written, so that training stops.
    with closing(runner.run(grid, jobs, watch)) as outcomes:
        for cell, outcome in outcomes:
            running.pop(job_of[cell], None)
            if not isinstance(outcome, NbytError):
                folder.write(CELL, outcome.as_dict(), cell.name)
                folder.remove(FAILED, cell.name)
                tally.done += 1
            else:
                failed.append(cell)
                if last:
                    folder.write(FAILED, outcome.as_dict(), cell.name)
                    tally.failed += 1
            progress(tally)
    return failed
