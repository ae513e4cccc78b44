"""The worker's side of the pipes: one task after another, as lines of JSON ask for them."""

import json
import os
from collections.abc import Callable
from typing import IO, Any

# The exit code of a worker that can no longer reach its driver.
CUT_OFF = 74
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
        with tasks, answers:
            for line in tasks:
                do(json.loads(line))
    except BrokenPipeError:  # nobody listens any more
        os._exit(1)
    except OSError:  # the env has closed the pipe
        os._exit(CUT_OFF)


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Where tasks come from and answers go to; an env that reads or prints is kept off both."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return tasks, answers
