"""`nbyt sweep`: train every layout of a batch with every seed, and compare them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

from nbyt.advice.estimate import in_words
from nbyt.cli.options import EnvId, Settings
from nbyt.cli.output import Common, Outcome, facts_table, show, talk, warn
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.envs.local import hung
from nbyt.envs.user_code import TimeUpError, Watchdog
from nbyt.errors import RunInterruptedError
from nbyt.numbers import (
    DURATION,
    SPLITS,
    Count,
    DurationText,
    Passes,
    Retries,
    Seed,
    Size,
    SplitsText,
    Steps,
    WorkerCount,
    read_if_given,
)
from nbyt.progress import watched, watched_cells
from nbyt.report.tables.sweep import failure_lines, layout_table, sweep_lines
from nbyt.results import Failure
from nbyt.store.paths import at_work
from nbyt.store.run import Folder
from nbyt.store.text import plain
from nbyt.sweeps.cells import InProcessRunner, Runner
from nbyt.sweeps.grid import Grid, make_grid
from nbyt.sweeps.run import Sweep, command_line, conclude, open_sweep
from nbyt.sweeps.trainings import run_cells
from nbyt.sweeps.workers import Workers
from nbyt.training import hardware
from nbyt.training.costs import update_seconds
from nbyt.training.plan import EPOCHS, PPOSettings

_PARTIAL = 3


@dataclass(frozen=True)
class SweepOptions:
    """What is trained, where, and the folder that keeps it."""

    batch: Size
    """Samples of a batch, N x T, the same for all layouts."""

    seeds: Count = 16
    """Trainings of each layout."""

    total: Steps = 500_000
    """Environment steps of each training."""

    layouts: SplitsText = ""
    """Layouts such as 8x256,64x32; by default all powers of two."""

    minibatch: Size | None = None
    """Samples of one gradient step; by default 256 or the next smaller divisor of the batch."""

    epochs: Passes = EPOCHS
    """Passes over the batch in one update."""

    max_envs: Size | None = None
    """Most envs of a layout; by default 64 for host envs."""

    advice: Annotated[bool, Parameter(negative="--no-advice")] = True
    """Also say what would have been advised, and compare it with the trainings."""

    retries: Retries = 0
    """How often a cell that failed is tried again at once."""

    retry_failed: bool = False
    """Also try again the cells that an earlier run gave up."""

    workers: WorkerCount | None = None
    """Host envs: trainings at once, each in its own process; by default one for each core."""

    step_limit: DurationText = "60s"
    """Host envs: how long one step may take before its training is given up."""

    cell_limit: DurationText = ""
    """How long a training may take before it is given up; by default not limited."""

    ray: str = ""
    """Train on Ray: auto, or the address of a cluster (extra `ray`); see docs/scale.md."""

    seed: Seed = 0
    """The first seed."""

    out: Path | None = None
    """Folder of the sweep; the same command resumes it."""

    force: bool = False
    """Clear another sweep from that folder."""

    vector: Literal["sync", "async"] = "sync"
    """Host envs in one process, or in a process each."""

    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto"
    """Where JAX computes."""

    dry_run: bool = False
    """Print what would be done and what it costs, and stop."""


def run(
    env: EnvId,
    *,
    options: Annotated[SweepOptions, Parameter(name="*")],
    settings: Annotated[Settings, Parameter(name="*")] = PPOSettings(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Train every layout of a batch with every seed, and compare what they reach."""
    limits = _limits(options)
    with _cluster(options, *limits) as cluster:  # Ray comes before JAX
        hardware.prepare(options.device, quiet=common.quiet)
        grid = _grid(env, options, settings)
        if options.dry_run:
            return _dry_run(grid, as_json=common.json)
        console = talk(quiet=common.quiet)
        console.print(command_line(grid, advice=options.advice))
        folder = open_sweep(grid, options.out, force=options.force)
        runner = cluster or _runner(grid, options, *limits)
        sweep = _sweep(grid, folder, runner, options, console)
    result = sweep.result
    warnings = [*failure_lines(result), *(result.left_out or ())]
    _show_trace(result.failures, console)
    warn(console, warnings)
    if not common.json:
        show(layout_table(result), "", *sweep_lines(result))
        show(f"table: {result.table}", f"report: {result.report}")
    failed = result.cells.failed > 0
    status, code = ("partial", _PARTIAL) if failed else ("ok", 0)
    return Outcome(sweep.data, warnings, status, code)


def _show_trace(failures: Sequence[Failure], console: Console) -> None:
    """Print the lines of the user's code in which the first failure arose; the page has all."""
    traces = (failure.message.splitlines()[:-1] for failure in failures)
    for line in next(filter(None, traces), []):
        console.print(Text(plain(line), style="dim"), soft_wrap=True)


def _resolve(env: str, options: SweepOptions) -> DeviceEnv | HostEnv:
    """Build the env; give up one that takes longer than a step may."""
    step, _ = _limits(options)
    try:
        with Watchdog(step, lambda: None):
            return resolve(env)
    except TimeUpError as error:
        raise hung(env, step, "while it was built", 0, env) from error


def _grid(env: str, options: SweepOptions, settings: PPOSettings) -> Grid:
    return make_grid(
        _resolve(env, options),
        batch=options.batch,
        seeds=options.seeds,
        total=options.total,
        layouts=read_if_given(SPLITS, options.layouts, "--layouts") or (),
        first_seed=options.seed,
        minibatch=options.minibatch,
        epochs=options.epochs,
        settings=settings,
        max_envs=options.max_envs,
        vector=options.vector,
    )


def _sweep(
    grid: Grid, folder: Folder, runner: Runner, options: SweepOptions, console: Console
) -> Sweep:
    try:
        with at_work(folder.path):
            with watched_cells(console, len(grid.cells), grid.points[-1]) as progress:
                tally = run_cells(
                    grid,
                    folder,
                    runner=runner,
                    retries=options.retries,
                    retry_failed=options.retry_failed,
                    progress=progress,
                )
            with watched(console) as steps:
                step, _ = _limits(options)
                return conclude(
                    grid, folder, tally, advice=options.advice, step_limit=step, progress=steps
                )
    except (KeyboardInterrupt, RunInterruptedError) as error:
        again = f"{command_line(grid, advice=options.advice)} --out {folder.path}"
        message = "every training that was finished is saved"
        fix = f"give the same command again to go on: {again}"
        raise RunInterruptedError(message, where=str(folder.path), fix=fix) from error


def _runner(grid: Grid, options: SweepOptions, step: float, cell: float | None) -> Runner:
    """Choose worker processes if an env may hang or there is a limit, else this process."""
    if isinstance(grid.env, HostEnv):
        return Workers(options.workers, step, cell)
    # Seeds of a device env are trained together, and use all cores by themselves.
    return InProcessRunner() if cell is None else Workers(1, step, cell)


@contextmanager
def _cluster(options: SweepOptions, step: float, cell: float | None) -> Iterator[Runner | None]:
    if not options.ray or options.dry_run:
        yield None
        return
    from nbyt.sweeps.cluster import RETRIES, Cluster

    with Cluster(options.ray, cell, max(options.retries, RETRIES), step) as cluster:
        yield cluster


def _limits(options: SweepOptions) -> tuple[float, float | None]:
    step = DURATION.read(options.step_limit, "--step-limit")
    return step, read_if_given(DURATION, options.cell_limit, "--cell-limit")


def _dry_run(grid: Grid, *, as_json: bool) -> Outcome:
    middle = grid.layouts[len(grid.layouts) // 2]
    update = update_seconds(grid.env, grid.settings, middle, vector=grid.vector)
    updates = grid.points[-1] * len(grid.cells)
    data: dict[str, Any] = {
        "layouts": [f"{one.envs}x{one.steps}" for one in grid.layouts],
        "cells": len(grid.cells),
        "updates_of_each": grid.points[-1],
        "environment_steps": updates * grid.batch,
        "seconds": round(updates * update),
    }
    if not as_json:
        rows = [(name.replace("_", " "), _text(value)) for name, value in data.items()]
        show(facts_table([*rows, ("that is", f"at most about {in_words(data['seconds'])}")]))
    return Outcome(data)


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else f"{value:,}"
