"""The worker's side of the pipes: one task after another, as lines of JSON ask for them."""

import json
import os
from collections.abc import Callable
from typing import IO, Any

Say = Callable[[dict[str, Any]], None]


def serve(begin: Callable[[dict[str, Any], Say], Callable[[dict[str, Any]], None]]) -> None:
    """Do tasks until no more come.

    begin: called with the setup and with what sends a line to the driver; returns what does a task
    and sends its answers.
    """
    tasks, answers = _pipes()

    def say(words: dict[str, Any]) -> None:
        answers.write(json.dumps(words).encode() + b"\n")
        answers.flush()

    do = begin(json.loads(tasks.readline()), say)
    try:
        for line in tasks:
            do(json.loads(line))
    except OSError:  # nobody listens any more, or the env has closed the pipe
        os._exit(1)


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Where tasks come from and answers go to; an env that reads or prints is kept off both."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return tasks, answers
