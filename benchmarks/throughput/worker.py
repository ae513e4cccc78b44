"""A contender in a process of its own.

JAX shows nbyt two CPU devices, which its peers neither ask for nor use; torch and XLA keep thread
pools. In one process each would run under the other's settings.
"""

import os
from multiprocessing import get_context
from multiprocessing.connection import Connection

from nbyt.layout import Layout


class Worker:
    """A runner elsewhere; `go` as the runner's own, and the process sleeps in between."""

    def __init__(self, contender: str, layout: Layout) -> None:
        self.size, self._name = layout.batch, f"{contender} at {layout.envs}x{layout.steps}"
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, contender, layout))
        self._process.start()
        theirs.close()
        self._answer()  # 0 once it is warmed up

    def go(self, units: int) -> float:
        """Seconds that the next `units` updates took."""
        self._pipe.send(units)
        return self._answer()

    def close(self) -> None:
        """End the process."""
        self._pipe.send(0)
        self._process.join()

    def _answer(self) -> float:
        try:
            return self._pipe.recv()
        except EOFError:
            raise RuntimeError(f"{self._name} ended early; its traceback is above") from None


def _serve(pipe: Connection, contender: str, layout: Layout) -> None:
    os.environ["JAX_PLATFORMS"] = "cpu"
    from benchmarks.throughput.runners import RUNNERS

    runner = RUNNERS[contender](layout)
    pipe.send(0.0)
    while units := pipe.recv():
        pipe.send(runner.go(units))
