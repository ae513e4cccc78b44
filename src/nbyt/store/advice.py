"""The folder of an advice: what was timed, trained and measured, and what came out of it."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.advice import Advice, Costs, Returns
from nbyt.results.measurement import Look, Measurement
from nbyt.results.values import Record
from nbyt.store.folder import RunFolder, clear_inner, remove_pair
from nbyt.store.paths import remove_file
from nbyt.store.seal import read_sealed, write_sealed
from nbyt.store.tensors import Facts, Tensors, read_bundle, write_folder

ADVICE = "advice.json"
COSTS = "costs.json"
PAGE = "report.html"
ADVICE_LIMIT = 64 << 20
_MEASURED = re.compile(r"measured-[0-9]+")
_TRAINING = re.compile(r"training-[0-9]+x[0-9]+")
_PART = re.compile(r"(look-[0-9]+-|returns-[0-9]+x)[0-9]+\.json")
_NAME = "measurement"
_KINDS: dict[str, type[Record]] = {
    "advice": Advice,
    "costs": Costs,
    "look": Look,
    "returns": Returns,
}
Kind = TypeVar("Kind", bound=Record)


@dataclass(frozen=True)
class AdviceFolder(RunFolder):
    """An advice under way or complete. Every part is a file of its own, so none is made twice."""

    def training(self, envs: int, steps: int) -> Path:
        """The run folder of the training with that layout."""
        return self.path / f"training-{envs:d}x{steps:d}"

    def measured_path(self, number: int) -> Path:
        """The folder of one stage's measurement."""
        return self.path / f"measured-{number:d}"

    def save_measurement(self, number: int, tensors: Tensors, facts: Facts) -> None:
        """Nothing; the measurement is then on disk, whole."""
        write_folder(self.measured_path(number), _NAME, tensors, facts, kind=_NAME)

    def load_measurement(self, number: int) -> tuple[Tensors, Facts] | None:
        """A stage's measurement, or None if there is none yet."""
        folder = self.measured_path(number)
        if not os.path.lexists(folder):
            return None
        tensors, facts = read_bundle(folder, _NAME, kind=_NAME)
        return tensors, plain(decode(facts, Measurement, folder / f"{_NAME}.json"))

    def save_costs(self, facts: Facts) -> None:
        """Nothing; costs.json then holds what was timed."""
        write_sealed(self.path / COSTS, facts, kind="costs")

    def load_costs(self) -> Costs | None:
        """Read what was timed; None if nothing was."""
        path = self.path / COSTS
        return _read(path, "costs", Costs) if os.path.lexists(path) else None

    def save_returns(self, envs: int, steps: int, returns: list[float | None]) -> None:
        """Nothing; the mean returns of one training's stages are then on disk."""
        write_sealed(self._returns_path(envs, steps), {"returns": returns}, kind="returns")

    def load_returns(self, envs: int, steps: int) -> list[float | None] | None:
        """The mean returns of one training's stages, or None if they were not played yet."""
        path = self._returns_path(envs, steps)
        return list(_read(path, "returns", Returns).returns) if os.path.lexists(path) else None

    def _returns_path(self, envs: int, steps: int) -> Path:
        return self.path / f"returns-{envs:d}x{steps:d}.json"

    def save_look(self, number: int, steps: int, facts: Facts) -> None:
        """Nothing; the closer look at a stage, around so many steps, is then on disk."""
        path = self._look_path(number, steps)
        write_sealed(path, facts, kind="look", limit=ADVICE_LIMIT)

    def load_look(self, number: int, steps: int) -> Facts | None:
        """The closer look at a stage, or None if there is none."""
        path = self._look_path(number, steps)
        return plain(_read(path, "look", Look)) if os.path.lexists(path) else None

    def _look_path(self, number: int, steps: int) -> Path:
        return self.path / f"look-{number:d}-{steps:d}.json"

    def write_advice(self, data: dict[str, Any]) -> None:
        """Nothing; advice.json then holds everything that the page shows."""
        write_sealed(self.path / ADVICE, data, kind="advice", limit=ADVICE_LIMIT)

    def checks(self) -> list[Callable[[], object]]:
        """What reads each part that is there, and raises a StoreError where it is bad."""
        kinds = {ADVICE: "advice", COSTS: "costs"}
        files = [(self.path / name, kind) for name, kind in kinds.items()]
        for path in sorted(self.path.iterdir()):
            if match := _PART.fullmatch(path.name):
                files.append((path, match[1].partition("-")[0]))
        present = [(path, kind) for path, kind in files if os.path.lexists(path)]
        measured = [int(path.name.rpartition("-")[2]) for path in self.measurements()]
        return [
            *(partial(_read, path, kind, _KINDS[kind]) for path, kind in present),
            *(partial(self.load_measurement, number) for number in measured),
        ]

    def measurements(self) -> list[Path]:
        """The measurements that are there."""
        return sorted(entry for entry in self.path.iterdir() if _MEASURED.fullmatch(entry.name))

    def clear(self) -> None:
        """Nothing; every file that nbyt wrote is then gone, except the marker."""
        super().clear()
        for name in (ADVICE, COSTS, PAGE):
            remove_file(self.path / name)
        for folder in self.measurements():
            remove_pair(folder, _NAME)
        for part in self.path.iterdir():
            if _PART.fullmatch(part.name):
                remove_file(part)
        for folder in self.path.iterdir():
            if _TRAINING.fullmatch(folder.name):
                clear_inner(RunFolder(folder))


def read_advice(folder: Path) -> dict[str, Any]:
    """The data of the advice in a folder, or a StoreError that says what is wrong with it."""
    path = Path(folder) / ADVICE
    if not os.path.lexists(path):
        raise StoreError(
            f"{folder} holds no advice",
            where=str(folder),
            fix="give a folder that `nbyt advise` or `nbyt reproduce` wrote, or that holds a "
            "training's probes; one that was stopped is finished by the same command",
        )
    return plain(_read(path, "advice", Advice))


def _read(path: Path, kind: str, record: type[Kind]) -> Kind:
    return decode(read_sealed(path, kind=kind, limit=ADVICE_LIMIT)["facts"], record, path)
