"""The folder of a study: its trainings, a file for every experiment, and what came out of it."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.study import Study
from nbyt.store.folder import RunFolder, clear_inner
from nbyt.store.paths import remove_file
from nbyt.store.seal import read_sealed, write_sealed
from nbyt.store.text import slug

STUDY = "study.json"
PAGE = "report.html"
STUDY_LIMIT = 64 << 20
_TRAININGS = "trainings"
_EXPERIMENT = re.compile(r"experiment-[a-z0-9-]+\.json")


@dataclass(frozen=True)
class StudyFolder(RunFolder):
    """A study under way or complete; what an experiment found is kept as soon as it is done."""

    def training(self, name: str) -> Path:
        """The run folder of the training of that name."""
        return self.path / _TRAININGS / slug(name)

    def save_experiment(self, name: str, data: dict[str, Any]) -> None:
        """Nothing; what the experiment found is then on disk, whole."""
        path = self._experiment_path(name)
        write_sealed(path, data, kind="experiment", limit=STUDY_LIMIT)

    def load_experiment(self, name: str) -> dict[str, Any] | None:
        """What an experiment found, or None if it is still to be done."""
        path = self._experiment_path(name)
        if not os.path.lexists(path):
            return None
        return read_sealed(path, kind="experiment", limit=STUDY_LIMIT)["facts"]

    def _experiment_path(self, name: str) -> Path:
        return self.path / f"experiment-{name}.json"

    def write_study(self, data: dict[str, Any]) -> None:
        """Nothing; study.json then holds everything that the page shows."""
        write_sealed(self.path / STUDY, data, kind="study", limit=STUDY_LIMIT)

    def checks(self) -> list[Callable[[], object]]:
        """What reads each part that is there, and raises a StoreError where it is bad."""
        path = self.path / STUDY
        found: list[Callable[[], object]] = [partial(_read, path)] if os.path.lexists(path) else []
        for experiment in self._experiments():
            found.append(partial(read_sealed, experiment, kind="experiment", limit=STUDY_LIMIT))
        return found

    def _experiments(self) -> list[Path]:
        return sorted(one for one in self.path.iterdir() if _EXPERIMENT.fullmatch(one.name))

    def clear(self) -> None:
        """Nothing; every file that nbyt wrote is then gone, except the marker."""
        super().clear()
        for name in (STUDY, PAGE):
            remove_file(self.path / name)
        for part in self._experiments():
            remove_file(part)
        trainings = self.path / _TRAININGS
        if trainings.is_symlink():
            remove_file(trainings)
        elif trainings.is_dir():
            for folder in trainings.iterdir():
                clear_inner(RunFolder(folder))


def holds_study(folder: Path) -> bool:
    """Whether a finished study is in that folder."""
    return os.path.lexists(Path(folder) / STUDY)


def read_study(folder: Path) -> dict[str, Any]:
    """The data of the study in a folder, or a StoreError that says what is wrong with it."""
    if not holds_study(folder):
        raise StoreError(
            f"{folder} holds no finished study",
            where=str(folder),
            fix="give the folder that `nbyt reproduce` wrote; one that was stopped is finished by "
            "the same command",
        )
    return plain(_read(Path(folder) / STUDY))


def _read(path: Path) -> Study:
    return decode(read_sealed(path, kind="study", limit=STUDY_LIMIT)["facts"], Study, path)
