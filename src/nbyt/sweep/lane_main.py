"""What runs in a lane's process: one job after another, as lines of JSON ask for them."""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import IO, Any

from nbyt.envs.protocol import HostEnv
from nbyt.errors import NbytError
from nbyt.sweep.board import BUILT, Board
from nbyt.sweep.cells import Job, same_layout, train_job
from nbyt.sweep.grid import Cell, Grid
from nbyt.sweep.order import grid_of, order_from
from nbyt.train import hardware

# Seconds between two words about progress.
_PAUSE = 0.1


def main() -> None:
    """Nothing; errands are answered until no more come."""
    orders, answers = _pipes()
    board = Board(int(sys.argv[1]))
    setup = json.loads(orders.readline())
    hardware.prepare(**setup["hardware"])
    say = _speaker(answers)
    before: Job = ()
    try:
        for line in orders:
            errand = json.loads(line)
            job = tuple(Cell(*cell) for cell in errand["job"])
            if not same_layout(before, job):
                hardware.forget_programs()
            say({"answers": _answers(errand["order"], job, board, setup["step_limit"], say)})
            before = job
    except BrokenPipeError:  # nobody listens any more
        os._exit(1)


def _pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Where orders come from and answers go to; an env that reads or prints is kept off both."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return orders, answers


def _speaker(answers: IO[bytes]) -> Callable[[dict[str, Any]], None]:
    def say(words: dict[str, Any]) -> None:
        answers.write(json.dumps(words).encode() + b"\n")
        answers.flush()

    return say


def _answers(
    order: dict[str, Any],
    job: Job,
    board: Board,
    seconds: float,
    say: Callable[[dict[str, Any]], None],
) -> list[dict[str, Any]]:
    """What came of each cell, as plain values."""
    said = time.monotonic()

    def watch(job: Job, updates: int) -> None:
        nonlocal said
        if time.monotonic() - said > _PAUSE:
            said = time.monotonic()
            say({"updates": updates})

    board.begin(job[0].seed)
    try:
        grid = _grid(order, board, seconds)
    except NbytError as error:
        return [_plain(error)] * len(job)
    return [_plain(outcome) for outcome in train_job(grid, job, watch)]


def _grid(order: dict[str, Any], board: Board, seconds: float) -> Grid:
    from nbyt.sweep.watched_env import WatchedEnv

    with board.calling(BUILT):  # the user's code is imported, and an env is built
        grid = grid_of(order_from(order))
    if not isinstance(grid.env, HostEnv):
        return grid
    return replace(grid, env=WatchedEnv(grid.env, board, seconds))


def _plain(outcome: Any) -> dict[str, Any]:
    if isinstance(outcome, NbytError):
        return {"error": {"kind": type(outcome).__name__, **outcome.as_dict()}}
    return {"curve": outcome.as_dict()}


if __name__ == "__main__":
    main()
