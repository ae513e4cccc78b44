"""Progress on stderr: bars on a terminal, a line now and then elsewhere."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from nbyt.advice.request import OVERALL
from nbyt.processes.signals import stop_on_signal

if TYPE_CHECKING:
    from nbyt.sweeps.trainings import Tally
    from nbyt.training.algorithms.registry import Row

_DRAW_SECONDS = 0.1
_NAME = TextColumn("{task.description}", markup=False)


def _progress(console: Console, *columns: ProgressColumn) -> "_Bars":
    off = not console.is_terminal
    return _Bars(*columns, TimeRemainingColumn(), console=console, expand=True, disable=off)


@contextmanager
def watched_cells(
    console: Console, cells: int, updates: int
) -> Iterator[Callable[["Tally"], None]]:
    """Show a bar over all updates of all cells; the first Ctrl-C stops between two updates.

    Without a terminal a line is written now and then.
    """
    bar = _progress(console, _NAME, BarColumn(bar_width=None))
    whole = bar.add_task("cells", total=cells * updates)
    said, pause = time.monotonic(), _DRAW_SECONDS if console.is_terminal else _LINE_SECONDS

    def move(tally: "Tally") -> None:
        nonlocal said
        if request.made:
            raise KeyboardInterrupt
        over = tally.done + tally.failed == tally.total
        if time.monotonic() - said < pause and not over:
            return  # on a large cluster there is much to count
        said = time.monotonic()
        running = tally.running or {}
        made = sum(len(job) * count for job, count in running.items())
        finished = (tally.done + tally.failed) * updates
        words = _words(tally)
        bar.update(whole, description=words, completed=finished + made)
        if not console.is_terminal and not over:
            console.print(f"{words}  {(finished + made) / (cells * updates):.0%}")

    with bar, stop_on_signal() as request:
        yield move


def _words(tally: "Tally") -> str:
    running = tally.running or {}
    under_way = sum(map(len, running))
    names = ", ".join(sorted({f"{job[0].envs}x{job[0].steps}" for job in running})[:3])
    place = f" ({names})" if names else ""
    counts = f"{tally.done}/{tally.total} cells done, {under_way} running{place}"
    return counts + (f", {tally.failed} failed" if tally.failed else "")


_RECENT_EPISODES = 100
_LINE_SECONDS = 10.0


class TrainingProgress:
    """A listener that draws a bar on a terminal, and writes a line now and then elsewhere."""

    def __init__(self, console: Console, updates: int, first: int = 0) -> None:
        self._console, self._updates = console, updates
        self._first_steps: int | None = None
        self._began = self._said = time.monotonic()
        self._recent: deque[tuple[int, float]] = deque()
        fields = TextColumn("updates  {task.fields[speed]} steps/s  return {task.fields[score]}")
        bar = BarColumn(bar_width=None), MofNCompleteColumn()
        self._bar = _progress(console, TextColumn("training"), *bar, fields)
        self._task = self._bar.add_task("", total=updates, completed=first, speed="-", score="-")

    def __enter__(self) -> "TrainingProgress":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def on_update(self, row: "Row") -> None:
        """Move the bar."""
        now = time.monotonic()
        if self._first_steps is None:  # the first update pays for compiling; count after it
            self._first_steps, self._began = row["steps"], now
        speed = (row["steps"] - self._first_steps) / max(now - self._began, 1e-9)
        self._remember(row)
        shown = f"{speed:,.0f}" if speed else "-"
        self._bar.update(self._task, completed=row["update"], speed=shown, score=self._score())
        if not self._console.is_terminal and now - self._said > _LINE_SECONDS:
            self._said = now
            self._console.print(
                f"update {row['update']}/{self._updates}  {shown} steps/s  return {self._score()}"
            )

    def _remember(self, row: "Row") -> None:
        if row["episodes"]:
            self._recent.append((row["episodes"], row["mean_return"]))
        while len(self._recent) > 1 and (
            sum(count for count, _ in self._recent) - self._recent[0][0] >= _RECENT_EPISODES
        ):
            self._recent.popleft()

    def _score(self) -> str:
        count = sum(count for count, _ in self._recent)
        return f"{sum(c * r for c, r in self._recent) / count:.1f}" if count else "-"


@contextmanager
def steps_progress(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for each task; called with its name, what is done and its total."""
    bar = _progress(console, _NAME, BarColumn(bar_width=None), MofNCompleteColumn())
    tasks: dict[str, TaskID] = {}

    def move(what: str, finished: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what)
            if not console.is_terminal:
                console.print(f"{what} ...")
        bar.update(tasks[what], completed=finished, total=total)

    with bar:
        yield move


class _Bars(Progress):
    """Bars, and something else above them."""

    above: RenderableType | None = None

    def get_renderables(self) -> Iterable[RenderableType]:
        if self.above is not None:
            yield self.above
        yield from super().get_renderables()


@contextmanager
def overall_progress(
    console: Console, workers: int = 1, above: RenderableType | None = None
) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for all of the work, under the name OVERALL, and one for each task.

    workers: how many things may be under way at once; what comes before the first comma of a name
    tells them apart. above: what a terminal shows above the bars. Without a terminal each name is
    said once.
    """
    bar = _progress(console, _NAME, BarColumn(bar_width=None), MofNCompleteColumn())
    bar.above = above
    whole = bar.add_task(OVERALL, total=None)
    parts: dict[str, tuple[TaskID, str]] = {}  # the one that moved last is last
    said: set[str] = set()

    def move(what: str, finished: int, total: int) -> None:
        if what == OVERALL:
            bar.update(whole, completed=finished, total=total)
            return
        thing = what.partition(", ")[0]
        if thing not in parts:
            parts[thing] = (bar.add_task(what, total=total), what)
        task, before = parts.pop(thing)
        if what != before:
            bar.reset(task, description=what, total=total)
        bar.update(task, completed=finished, total=total)
        parts[thing] = (task, what)
        if len(parts) > workers:
            bar.remove_task(parts.pop(next(iter(parts)))[0])
        if what not in said and not console.is_terminal:
            console.print(f"{what} ...")
        said.add(what)

    with bar:
        yield move


@contextmanager
def watched(
    console: Console, workers: int = 1, above: RenderableType | None = None
) -> Iterator[Callable[[str, int, int], None]]:
    """Show progress; the first Ctrl-C stops between two steps of the work, the second at once.

    Left to itself, Ctrl-C is lost where it comes while JAX collects its garbage.
    """
    with overall_progress(console, workers, above) as progress, stop_on_signal() as request:

        def move(what: str, done: int, total: int) -> None:
            request.listen()
            if request.made:
                raise KeyboardInterrupt
            progress(what, done, total)

        yield move


Told = Callable[[str, int, int], None]
Shown = bool | Told


@contextmanager
def watching(shown: Shown) -> Iterator[Told]:
    """Yield what is told of progress: bars on a terminal, a line for each part in a notebook.

    Elsewhere, as in a script whose output is kept, nothing is shown.
    """
    # ipykernel sets FORCE_COLOR, by which rich takes a cell's output for a terminal.
    notebook = "ipykernel" in sys.modules
    terminal = False if notebook else None
    console = Console(stderr=True, force_jupyter=False, force_terminal=terminal)
    if callable(shown):
        yield shown
    elif shown and (console.is_terminal or notebook):
        with overall_progress(console) as move:
            yield move
    else:
        yield lambda what, done, total: None
