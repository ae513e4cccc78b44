"""The progress of a sweep on stderr: cells done, running and failed, and the time left."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from nbyt.sweep.running import Tally
from nbyt.train.signals import stop_on_signal

_LINE_SECONDS = 10.0
_DRAW_SECONDS = 0.1


@contextmanager
def watched_cells(console: Console, cells: int, updates: int) -> Iterator[Callable[[Tally], None]]:
    """A bar over all updates of all cells; the first Ctrl-C ends the work between two updates.

    Without a terminal a line is written now and then.
    """
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TimeRemainingColumn(),
        console=console,
        expand=True,
        disable=not console.is_terminal,
    )
    whole = bar.add_task("cells", total=cells * updates)
    said, pause = time.monotonic(), _DRAW_SECONDS if console.is_terminal else _LINE_SECONDS

    def move(tally: Tally) -> None:
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


def _words(tally: Tally) -> str:
    running = tally.running or {}
    under_way = sum(map(len, running))
    names = ", ".join(sorted({f"{job[0].envs}x{job[0].steps}" for job in running})[:3])
    place = f" ({names})" if names else ""
    counts = f"{tally.done}/{tally.total} cells done, {under_way} running{place}"
    return counts + (f", {tally.failed} failed" if tally.failed else "")
