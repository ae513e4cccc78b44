"""A heartbeat: what a worker process is doing to its env, to be read from outside.

A few numbers in memory that two processes share: the worker writes them at every call of
the env, which costs next to nothing, and the other can read them even while the env hangs.
"""

import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

# What an env can be doing; 0 is nothing.
DOING = (
    "",
    "while it was built",
    "in reset",
    "in step",
    "in close",
    "while it was imported",
    "while JAX compiled and ran it",
)
BUILT, RESET, STEP, CLOSE, IMPORTED, ON_DEVICE = range(1, len(DOING))
_NUMBERS = 6
_SIZE = 8 * _NUMBERS


class HeartbeatState(NamedTuple):
    """What a heartbeat says.

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
        """Say what the env is doing."""
        return DOING[self.doing]

    @property
    def where(self) -> str:
        """Say where the env is, as errors give it."""
        return f"env {self.place}, step {self.step}, training seed {self.seed}"


class Heartbeat:
    """Numbers in a small temporary file, mapped into memory; path: of the file, while it has one.

    By name, because Windows lets no process inherit the descriptor of a file.
    """

    def __init__(self, path: Path) -> None:
        """Map the file at `path`, which `new` has created."""
        self.path = path
        with path.open("r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), _SIZE)).cast("q")

    @classmethod
    def new(cls) -> "Heartbeat":
        """Make a heartbeat that says nothing yet."""
        descriptor, name = tempfile.mkstemp(prefix="nbyt-heartbeat-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(_SIZE))
        return cls(Path(name))

    @classmethod
    def joined(cls, path: str) -> "Heartbeat":
        """Open the heartbeat that another process has made; its file then has no name any more.

        So nothing is left behind where that process is killed, but for Windows, where a file in
        use keeps its name.
        """
        heartbeat = cls(Path(path))
        heartbeat._unlink()
        return heartbeat

    def remove(self) -> None:
        """Let go of the heartbeat, and remove its file if it is still there."""
        self._numbers.release()
        self._unlink()

    def _unlink(self) -> None:
        with suppress(OSError):
            self.path.unlink()

    @property
    def place(self) -> memoryview:
        """Return where to write the number of the env at work."""
        return self._numbers[:1]

    def read(self) -> HeartbeatState:
        """Return the present state."""
        return HeartbeatState(*self._numbers)

    def begin(self, seed: int) -> None:
        """Set the seed of the next training."""
        self._numbers[5] = seed

    @contextmanager
    def calling(self, doing: int, *, turns: int = 1, step: int = 0) -> Iterator[None]:
        """Record what the env is doing while the context lasts."""
        numbers = self._numbers
        numbers[0] = 0
        numbers[1] += 1
        numbers[3], numbers[4] = turns, step
        numbers[2] = doing
        try:
            yield
        finally:
            numbers[2] = 0
