"""Results as files: one JSON file per task, library and seed, there whole or not at all."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.parity.tasks import RANDOM_EPISODES, Task
from nbyt.store.atomic import write_json

FOLDER = Path(__file__).parent / "results"


def path_of(task: Task, library: str, seed: int) -> Path:
    """Where one trained seed is kept."""
    return FOLDER / f"{task.env}-{library}-{seed:04d}.json"


def read(task: Task, library: str, seed: int) -> dict[str, Any] | None:
    """One trained seed, None if it is missing or was made with other hyper-parameters."""
    return _read_same(path_of(task, library, seed), task)


def save(task: Task, library: str, seed: int, facts: dict[str, Any]) -> None:
    """Write a seed's facts to its file."""
    FOLDER.mkdir(exist_ok=True)
    about = {"task": task.as_dict(), "library": library, "seed": seed}
    write_json(path_of(task, library, seed), {**about, **facts})


def read_all(task: Task, library: str) -> list[dict[str, Any]]:
    """Every trained seed of a library, by seed."""
    paths = sorted(FOLDER.glob(f"{task.env}-{library}-*.json"))
    return [facts for path in paths if (facts := _read_same(path, task)) is not None]


def read_random(task: Task) -> np.ndarray | None:
    """Returns of random actions, None if they were not measured yet."""
    path = FOLDER / f"{task.env}-random.json"
    return np.array(json.loads(path.read_text())["returns"]) if path.exists() else None


def save_random(task: Task, returns: list[float]) -> None:
    """Write the returns of random actions to their file."""
    FOLDER.mkdir(exist_ok=True)
    facts = {"env": task.env, "episodes": RANDOM_EPISODES, "returns": returns}
    write_json(FOLDER / f"{task.env}-random.json", facts)


def _read_same(path: Path, task: Task) -> dict[str, Any] | None:
    if not path.exists():
        return None
    facts = json.loads(path.read_text())
    return facts if facts["task"] == task.as_dict() else None
