"""The folder of a sweep: a file for every cell that was trained or failed, the table, the page."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nbyt.errors import StoreError
from nbyt.store.advice import AdviceFolder
from nbyt.store.atomic import write_text
from nbyt.store.folder import MARKER, RunFolder
from nbyt.store.seal import read_sealed, write_sealed

SWEEP = "sweep.json"
TABLE = "table.csv"
TIMES = "times.json"
PAGE = "report.html"
SWEEP_LIMIT = 64 << 20
_CELL = re.compile(r"(cell|failed)-[0-9]+x[0-9]+-seed-[0-9]+\.json")


@dataclass(frozen=True)
class SweepFolder(RunFolder):
    """A sweep under way or complete.

    A cell's file has the cell's name and holds nothing but what its settings and seed decide, so
    whoever writes it writes the same bytes.
    """

    def save_cell(self, name: str, facts: dict[str, Any]) -> None:
        """Nothing; what a cell found is then on disk, whole, and no failure of it is."""
        write_sealed(self._path("cell", name), facts, kind="cell")
        self._path("failed", name).unlink(missing_ok=True)

    def load_cell(self, name: str) -> dict[str, Any] | None:
        """What a cell found; None if it is still to be trained, or if its file is damaged."""
        return self._load("cell", name)

    def save_failure(self, name: str, facts: dict[str, Any]) -> None:
        """Nothing; why a cell failed is then on disk."""
        write_sealed(self._path("failed", name), facts, kind="failed")

    def load_failure(self, name: str) -> dict[str, Any] | None:
        """Why a cell failed, or None."""
        return self._load("failed", name)

    def save_times(self, facts: dict[str, Any]) -> None:
        """Nothing; what an update costs at each layout is then on disk."""
        write_sealed(self.path / TIMES, facts, kind="times")

    def load_times(self) -> dict[str, Any] | None:
        """What an update costs at each layout, or None if that was not timed."""
        if not os.path.lexists(self.path / TIMES):
            return None
        return read_sealed(self.path / TIMES, kind="times")["facts"]

    @property
    def advice(self) -> Path:
        """The folder of the advice that stands beside the sweep."""
        return self.path / "advice"

    def write_table(self, text: str) -> Path:
        """Where the table is; it then holds this text."""
        write_text(self.path / TABLE, text)
        return self.path / TABLE

    def write_sweep(self, data: dict[str, Any]) -> None:
        """Nothing; sweep.json then holds everything that the page shows."""
        write_sealed(self.path / SWEEP, data, kind="sweep", limit=SWEEP_LIMIT)

    def checks(self) -> list[Callable[[], object]]:
        """What reads each part that is there, and raises a StoreError where it is bad."""
        kinds = {path: path.name.partition("-")[0] for path in self._cells()}
        for name, kind in ((SWEEP, "sweep"), (TIMES, "times")):
            if os.path.lexists(self.path / name):
                kinds[self.path / name] = kind
        return [
            partial(read_sealed, path, kind=kind, limit=SWEEP_LIMIT) for path, kind in kinds.items()
        ]

    def clear(self) -> None:
        """Nothing; every file that nbyt wrote is then gone, except the marker."""
        super().clear()
        for name in (SWEEP, TABLE, TIMES, PAGE):
            (self.path / name).unlink(missing_ok=True)
        for path in self._cells():
            path.unlink(missing_ok=True)
        if not self.advice.is_symlink() and (self.advice / MARKER).exists():
            AdviceFolder(self.advice).clear()
            (self.advice / MARKER).unlink(missing_ok=True)

    def _cells(self) -> list[Path]:
        return sorted(one for one in self.path.iterdir() if _CELL.fullmatch(one.name))

    def _path(self, kind: str, name: str) -> Path:
        return self.path / f"{kind}-{name}.json"

    def _load(self, kind: str, name: str) -> dict[str, Any] | None:
        path = self._path(kind, name)
        if not os.path.lexists(path):
            return None
        try:
            return read_sealed(path, kind=kind)["facts"]
        except StoreError:
            return None  # damaged: the cell is trained again, which gives the same bytes


def holds_sweep(folder: Path) -> bool:
    """Whether a sweep that came to its end is in that folder."""
    return os.path.lexists(Path(folder) / SWEEP)


def read_sweep(folder: Path) -> dict[str, Any]:
    """The data of the sweep in a folder, or a StoreError that says what is wrong with it."""
    if not holds_sweep(folder):
        raise StoreError(
            f"{folder} holds no finished sweep",
            where=str(folder),
            fix="give the folder that `nbyt sweep` wrote; one that was stopped is finished by the "
            "same command",
        )
    return read_sealed(Path(folder) / SWEEP, kind="sweep", limit=SWEEP_LIMIT)["facts"]
