"""A board: what a training process is doing to its env, to be read from outside.

A few numbers in memory that two processes share: the one that trains writes them at every call of
the env, which costs next to nothing, and the other can read them even while the env hangs.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple

# What an env can be doing; 0 is nothing.
DOING = ("", "while it was built", "in reset", "in step", "in close")
BUILT, RESET, STEP, CLOSE = range(1, len(DOING))
_NUMBERS = 6
_SIZE = 8 * _NUMBERS


class Sight(NamedTuple):
    """What is on the board.

    place: the env at work, where envs take turns. calls: of the env so far. doing: the place in
    `DOING`. turns: how many envs may have to be waited for in this call. step: steps since the
    reset. seed: the training's.
    """

    place: int = 0
    calls: int = 0
    doing: int = 0
    turns: int = 0
    step: int = 0
    seed: int = 0

    @property
    def words(self) -> str:
        """What the env is doing."""
        return DOING[self.doing]

    @property
    def where(self) -> str:
        """The place, as errors give it."""
        return f"env {self.place}, step {self.step}, training seed {self.seed}"


class Board:
    """Numbers in a file without a name, mapped into memory."""

    def __init__(self, file: IO[bytes] | int) -> None:
        """file: a new one, or the descriptor of one that another process has made."""
        if not isinstance(file, int):
            file.truncate(_SIZE)
            file = file.fileno()
        self._numbers = memoryview(mmap.mmap(file, _SIZE)).cast("q")

    @property
    def place(self) -> memoryview:
        """Where to write the number of the env at work."""
        return self._numbers[:1]

    def read(self) -> Sight:
        """What is on it now."""
        return Sight(*self._numbers)

    def begin(self, seed: int) -> None:
        """Nothing; the next training has this seed."""
        self._numbers[5] = seed

    @contextmanager
    def calling(self, doing: int, *, turns: int = 1, step: int = 0) -> Iterator[None]:
        """While it lasts, the board says that the env is doing this."""
        numbers = self._numbers
        numbers[0] = 0
        numbers[1] += 1
        numbers[3], numbers[4] = turns, step
        numbers[2] = doing
        try:
            yield
        finally:
            numbers[2] = 0
