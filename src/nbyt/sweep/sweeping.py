"""A sweep from beginning to end: cells, times, the advice beside them, the table and the page."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbyt.advice.request import EPOCHS, default_minibatch
from nbyt.envs import HostEnv, resolve
from nbyt.measure.chains import Progress
from nbyt.report.pages.sweep import write_page
from nbyt.results import plain
from nbyt.store.files import PAGE, SWEEP, TABLE
from nbyt.store.manifest import manifest, versions
from nbyt.store.paths import at_work
from nbyt.store.run import Folder, open_run
from nbyt.store.text import slug
from nbyt.sweep.cells import Runner
from nbyt.sweep.grid import Grid, make_grid
from nbyt.sweep.running import Tally, curves_of, failures_of, run_cells, table_text
from nbyt.sweep.summary import summarise
from nbyt.sweep.timing_and_advice import find_asides, known_advice, known_costs
from nbyt.sweep.workers import STEP_LIMIT, Workers
from nbyt.train import hardware
from nbyt.train.plan import PPOSettings


@dataclass(frozen=True)
class Sweep:
    """What was found; `data` is what --json prints."""

    data: dict[str, Any] = field(repr=False)

    @property
    def cells(self) -> dict[str, int]:
        """How many are done, failed, and there in all."""
        return self.data["cells"]

    @property
    def report(self) -> Path:
        """The page."""
        return Path(self.data["report"])


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
    **options: Any,
) -> Sweep:
    """Every layout of a batch trained with every seed, and what came of each.

    layouts: (envs, steps); without, the powers of two. runner: who trains the cells; without, this
    process, or for a host env that is given by its id, processes of their own. advice: ask for it
    too, and show it beside what happened. options: the other words of `make_grid`, and retries and
    retry_failed.
    """
    again = {name: options.pop(name) for name in ("retries", "retry_failed") if name in options}
    grid = make_grid(
        resolve(env), batch=batch, seeds=seeds, total=total, layouts=layouts, **options
    )
    folder = open_sweep(grid, out, force=force)
    if runner is None and isinstance(env, str) and isinstance(grid.env, HostEnv):
        runner = Workers()
    with at_work(folder.path):
        tally = run_cells(grid, folder, runner=runner, **again)
        return conclude(grid, folder, tally, advice=advice)


def open_sweep(grid: Grid, out: Path | str | None, *, force: bool) -> Folder:
    """The folder of the sweep, new or resumed; another sweep's folder is refused."""
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
    """Table and page of the cells that are there; times and advice are kept once they are found.

    step_limit: seconds that a host env may take over one step.
    """
    curves, failures = curves_of(grid, folder), failures_of(grid, folder)
    table = folder.write(TABLE, table_text(grid, curves, failures))
    left_out = []
    if curves:
        given: dict[str, Any] = {"step_limit": step_limit, "progress": progress}
        left_out = find_asides(grid, folder, advice=advice, **given)
    costs, advised = known_costs(folder), known_advice(folder) if advice else None
    data = {
        **summarise(grid, curves, failures, costs=costs, advice=advised),
        "left_out": left_out,
        "cells": tally.as_dict(),
        "versions": versions(),
        "reproduce": command_line(grid, advice=advice),
        "out": str(folder.path),
        "table": str(table),
        "report": str(folder.path / PAGE.name),
    }
    folder.write(SWEEP, data)
    # As it is read back: the page is then the same as `nbyt report` makes.
    write_page(plain(folder.require(SWEEP)), folder.path / PAGE.name)
    return Sweep(data)


def command_line(grid: Grid, *, advice: bool = True) -> str:
    """The command that does the sweep again; what is as usual is left out."""
    first = grid.layouts[0]
    words: dict[str, Any] = {
        "batch": grid.batch,
        "layouts": ",".join(f"{one.envs}x{one.steps}" for one in grid.layouts),
        "seeds": len(grid.seeds),
        "total": grid.total,
    }
    usual: dict[str, Any] = {"minibatch": default_minibatch(grid.batch), "epochs": EPOCHS}
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
