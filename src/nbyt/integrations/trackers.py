"""Experiment trackers that watch a training run: TensorBoard and Weights & Biases."""

import importlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from nbyt.errors import MissingExtraError
from nbyt.training.algorithms.registry import Row

_OF_EPISODES = ("mean_return", "mean_length", "episodes")


class Tracker(AbstractContextManager["Tracker"]):
    """A listener that sends every number of a row somewhere."""

    def __exit__(self, *error: object) -> None:
        self.close()

    def on_update(self, row: Row) -> None:
        """Send the numbers of one update, under names such as episode/mean_return."""
        numbers = {
            f"{'episode' if name in _OF_EPISODES else 'update'}/{name}": value
            for name, value in row.items()
            if value is not None and name not in ("update", "steps")
        }
        self.send(numbers, row["steps"])

    def send(self, numbers: dict[str, float], steps: int) -> None:
        """Write named numbers at a number of environment steps."""
        raise NotImplementedError

    def close(self) -> None:
        """Finish writing."""
        raise NotImplementedError


class TensorBoard(Tracker):
    """Event files for TensorBoard."""

    def __init__(self, folder: Path) -> None:
        self._writer = _package("tensorboardX").SummaryWriter(str(folder))

    def send(self, numbers: dict[str, float], steps: int) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, steps)

    def close(self) -> None:
        self._writer.close()


class WeightsAndBiases(Tracker):
    """A run in a Weights & Biases project; WANDB_MODE=offline keeps it on this machine."""

    def __init__(self, project: str, identity: dict[str, Any]) -> None:
        self._run = _package("wandb").init(project=project, config=identity)

    def send(self, numbers: dict[str, float], steps: int) -> None:
        self._run.log(numbers, step=steps)

    def close(self) -> None:
        self._run.finish()


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(name, "trackers") from error
