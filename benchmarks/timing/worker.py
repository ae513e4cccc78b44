"""A contender in a process of its own.

JAX shows nbyt two CPU devices, which its peers neither ask for nor use; torch and XLA keep thread
pools. In one process each would run under the other's settings.
"""

import os
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any


class Worker:
    """A contender elsewhere, made there by a function of a module; asleep between its turns.

    size: what one unit of it counts for.
    """

    def __init__(self, name: str, size: int, make: Callable[..., Any], *arguments: Any) -> None:
        self.size, self._name = size, name
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make, arguments))
        self._process.start()
        theirs.close()
        self._answer()  # 0 once it is warmed up

    def go(self, units: int) -> float:
        """Seconds that the next `units` units took."""
        return self.ask("go", units)

    def ask(self, method: str, *arguments: Any) -> Any:
        """What a method of the contender gives."""
        self._pipe.send((method, arguments))
        return self._answer()

    def close(self) -> None:
        """End the process."""
        self._pipe.send(None)
        self._process.join()

    def _answer(self) -> Any:
        try:
            return self._pipe.recv()
        except EOFError:
            raise RuntimeError(f"{self._name} ended early; its traceback is above") from None


def _serve(pipe: Connection, make: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    os.environ["JAX_PLATFORMS"] = "cpu"
    contender = make(*arguments)
    pipe.send(0.0)
    while asked := pipe.recv():
        method, given = asked
        pipe.send(getattr(contender, method)(*given))
