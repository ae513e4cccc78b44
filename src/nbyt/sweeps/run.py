"""A sweep from beginning to end: trainings, times, the advice, the table and the page."""

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nbyt.collect import Progress
from nbyt.dialects.describing import table
from nbyt.envs import resolve
from nbyt.frames import frame
from nbyt.layout import nearest_divisors
from nbyt.plotly_figure import plotly_figure
from nbyt.report.pages.sweep import sweep_page
from nbyt.report.pages.sweep.curves import curves_chart
from nbyt.report.tables.sweep import sweep_lines
from nbyt.results import Data, Failure, plain
from nbyt.results.sweep import Sweep as SweepResult
from nbyt.results.sweep import SweptLayout
from nbyt.store.files import PAGE, SWEEP, TABLE
from nbyt.store.manifest import manifest, versions
from nbyt.store.paths import at_work
from nbyt.store.run import Folder, open_run
from nbyt.store.text import slug
from nbyt.sweeps.cells import Runner, usual_runner
from nbyt.sweeps.grid import Cell, Grid, make_grid
from nbyt.sweeps.summary import summarise
from nbyt.sweeps.timing import add_times, load_costs
from nbyt.sweeps.trainings import Tally, curves_of, failures_of, run_cells
from nbyt.sweeps.workers import STEP_LIMIT
from nbyt.training import hardware
from nbyt.training.curves import Curve
from nbyt.training.plan import EPOCHS, MINIBATCH, PPOSettings


def table_text(grid: Grid, curves: Mapping[Cell, Curve], failures: Mapping[Cell, Failure]) -> str:
    """Return the table as CSV: layout, seed, status, and the return at every point."""
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


@dataclass(frozen=True)
class Sweep:
    """A finished sweep; printed, it says which layout did best, and what that cost."""

    result: SweepResult

    @property
    def data(self) -> Data:
        """Return what --json prints."""
        return plain(self.result)

    @property
    def cells(self) -> dict[str, int]:
        """Return how many cells are done, failed, and there in all."""
        return plain(self.result.cells)

    @property
    def report(self) -> Path:
        """Return the path of the page."""
        return Path(self.result.report)

    @property
    def layouts(self) -> tuple[SweptLayout, ...]:
        """Return every layout with its results."""
        return self.result.layouts

    def to_frame(self) -> Any:
        """Return a table of pandas with a row for each layout."""
        return frame(one for one in self.data["layouts"])

    def plot(self) -> Any:
        """Return the learning curves as a figure of Plotly."""
        return plotly_figure(curves_chart(self.result))

    def _repr_html_(self) -> str:
        return table("sweep", [("", line) for line in str(self).splitlines()])

    def __str__(self) -> str:
        result, cells = self.result, self.result.cells
        failed = f", {cells.failed} failed" if cells.failed else ""
        steps = f"{cells.done * result.total:,} env steps"
        cost = f"{cells.done} of {cells.total} trainings done{failed}; {steps}"
        title = f"sweep of {result.env}, batch {result.batch:,}"
        return "\n".join([title, *sweep_lines(result), cost, f"report: {result.report}"])


def run_sweep(
    env: Any,
    *,
    batch: int,
    seeds: int = 16,
    total: int = 500_000,
    layouts: Sequence[tuple[int, int]] = (),
    out: Path | str | None = None,
    force: bool = False,
    runner: Runner | None = None,
    advice: bool = True,
    progress: Progress = lambda what, done, total: None,
    **options: Any,
) -> Sweep:
    """Train every layout of a batch with every seed, and compare what they reach.

    Parameters
    ----------
    env
        An env, or its name as on the command line.
    batch
        Samples of a batch, N x T, the same for all layouts.
    seeds, total
        Trainings of each layout, and env steps of each training.
    layouts
        Pairs (envs, steps); the powers of two by default.
    out, force
        The folder of the sweep, which the same call resumes; True to clear another sweep from it.
    runner
        What trains the cells. By default this process does, or worker processes for a host env
        that is given by its name.
    advice
        Also say what would have been advised, and compare it with the trainings.
    progress
        Called with what is under way, how much of it is done, and how much there is.
    **options
        Other arguments of `nbyt.sweeps.grid.make_grid`, and retries and retry_failed of
        `nbyt.sweeps.trainings.run_cells`.

    Returns
    -------
    Sweep
        All numbers in data, counts in cells, and the page in report; print it for the verdict.

    Examples
    --------
    >>> sweep = run_sweep(
    ...     "tabular:FrozenLake-v1",
    ...     batch=32,
    ...     layouts=[(4, 8), (8, 4)],
    ...     seeds=2,
    ...     total=128,
    ...     out="runs/sweep",
    ...     advice=False,
    ... )
    >>> sweep.cells
    {'done': 4, 'failed': 0, 'total': 4}
    >>> print(str(sweep).splitlines()[0])
    sweep of tabular:FrozenLake-v1, batch 32
    """
    again = {name: options.pop(name) for name in ("retries", "retry_failed") if name in options}
    grid = make_grid(
        resolve(env), batch=batch, seeds=seeds, total=total, layouts=layouts, **options
    )
    folder = open_sweep(grid, out, force=force)
    if runner is None and isinstance(env, str):
        runner = usual_runner(grid.env)
    with at_work(folder.path):
        told = partial(_tell, progress)
        tally = run_cells(grid, folder, runner=runner, progress=told, **again)
        return conclude(grid, folder, tally, advice=advice, progress=progress)


def _tell(progress: Progress, tally: Tally) -> None:
    progress("trainings", tally.done + tally.failed, tally.total)


def open_sweep(grid: Grid, out: Path | str | None, *, force: bool) -> Folder:
    """Open the folder of the sweep, new or resumed; another sweep's folder is refused."""
    env = grid.env.id.rpartition(":")[2]
    path = Path(out) if out is not None else Path("runs") / slug(f"sweep-{env}-{grid.batch}")
    made_by = manifest("sweep", grid.identity(), grid.seeds[0], hardware.describe())
    return open_run(path, grid.identity(), "sweep", manifest=made_by, force=force)


def conclude(
    grid: Grid,
    folder: Folder,
    tally: Tally,
    *,
    advice: bool = True,
    step_limit: float = STEP_LIMIT,
    progress: Progress = lambda what, done, total: None,
) -> Sweep:
    """Write the table and the page of the cells that are there, with times and advice.

    step_limit: seconds that a host env may take over one step.
    """
    curves, failures = curves_of(grid, folder), failures_of(grid, folder)
    table = folder.write(TABLE, table_text(grid, curves, failures))
    left_out: list[str] = []
    if curves:
        left_out = add_times(grid, folder, step_limit=step_limit, progress=progress)
    result = summarise(
        grid,
        curves,
        failures,
        costs=load_costs(folder),
        advice=advice,
        cells=tally.counts,
        left_out=tuple(left_out),
        versions=versions(),
        reproduce=command_line(grid, advice=advice),
        out=str(folder.path),
        table=str(table),
        report=str(folder.path / PAGE.name),
    )
    folder.write(SWEEP, result)
    # As it is read back: the page is then the same as that of `nbyt report`.
    sweep_page(folder.require(SWEEP)).write(folder.path / PAGE.name)
    return Sweep(result)


def command_line(grid: Grid, *, advice: bool = True) -> str:
    """Return the command that repeats the sweep, without what is the default."""
    first = grid.layouts[0]
    words: dict[str, Any] = {
        "batch": grid.batch,
        "layouts": ",".join(f"{one.envs}x{one.steps}" for one in grid.layouts),
        "seeds": len(grid.seeds),
        "total": grid.total,
    }
    usual: dict[str, Any] = {
        "minibatch": nearest_divisors(grid.batch, MINIBATCH)[0],
        "epochs": EPOCHS,
    }
    words |= {name: getattr(first, name) for name in usual if getattr(first, name) != usual[name]}
    words |= {"seed": grid.seeds[0]} if grid.seeds[0] else {}
    defaults = PPOSettings().as_dict()
    words |= {
        name.replace("_", "-"): value
        for name, value in grid.settings.as_dict().items()
        if value != defaults[name]
    }
    flags = [f"--{name}" if value is True else f"--{name} {value}" for name, value in words.items()]
    flags += [] if advice else ["--no-advice"]
    return f"nbyt sweep {shlex.quote(grid.env.id)} {' '.join(flags)}"
