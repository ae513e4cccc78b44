"""Running a sweep: what is there is kept, what is missing is trained, what fails is told."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from nbyt.errors import NbytError
from nbyt.numbers import RETRIES
from nbyt.results import plain
from nbyt.store.files import CELL, FAILED
from nbyt.store.run import Folder
from nbyt.sweep.cells import Here, Job, Runner, jobs_of
from nbyt.sweep.grid import Cell, Grid
from nbyt.train.curves import Curve


def table_text(
    grid: Grid, curves: Mapping[Cell, Curve], failures: Mapping[Cell, dict[str, Any]]
) -> str:
    """The table as CSV: the layout, the seed, how it went, and the return at every point."""
    samples = [number * grid.batch for number in grid.points]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = ["envs", "steps", "seed", "status", "over_training", "final"]
    writer.writerow([*columns, *(f"return_at_{count}" for count in samples)])
    for cell in grid.cells:
        curve = curves.get(cell)
        if curve is not None:
            over = sum(curve.returns) / len(curve.returns)
            row = ["done", repr(over), repr(curve.returns[-1]), *map(repr, curve.returns)]
        else:
            status = "failed" if cell in failures else "missing"
            row = [status, *[""] * (2 + len(samples))]
        writer.writerow([*cell, *row])
    return text.getvalue()


@dataclass
class Tally:
    """How far a sweep is; what progress shows and what is said at its end.

    running: the jobs under way, with the updates they have made.
    """

    total: int
    done: int = 0
    failed: int = 0
    running: dict[Job, int] | None = None

    def as_dict(self) -> dict[str, int]:
        """The counts that JSON promises."""
        return {"done": self.done, "failed": self.failed, "total": self.total}


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
    runner = runner or Here()
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
    """The curve of every cell that is done."""
    samples = tuple(number * grid.batch for number in grid.points)
    found = {cell: folder.read(CELL, cell.name) for cell in grid.cells}
    # A curve with other points is none of this sweep's: like a damaged one, it is trained again.
    return {
        cell: Curve(kept.samples, kept.returns, kept.unfinished)
        for cell, kept in found.items()
        if kept is not None and kept.samples == samples
    }


def failures_of(grid: Grid, folder: Folder) -> dict[Cell, dict[str, Any]]:
    """Why cells that are not done failed."""
    done = curves_of(grid, folder)
    found = {cell: folder.read(FAILED, cell.name) for cell in grid.cells if cell not in done}
    return {cell: plain(kept) for cell, kept in found.items() if kept is not None}


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
    """The cells that failed; a failure is written down where there is no other attempt."""
    failed: list[Cell] = []
    running = tally.running = {}

    def watch(job: Job, updates: int) -> None:
        running[job] = updates
        progress(tally)

    jobs = jobs_of(grid, cells)
    home = {cell: job for job in jobs for cell in job}
    # Closed also where a file cannot be written: nobody is to train on for nothing.
    with closing(runner.run(grid, jobs, watch)) as outcomes:
        for cell, outcome in outcomes:
            running.pop(home[cell], None)
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
