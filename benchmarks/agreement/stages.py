"""Stages to measure: policies and critics that `nbyt train` has trained a little."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nbyt.policy.actor_critic import Stage
from nbyt.policy.files import read_stage

_CALL = "from nbyt.cli.main import main; main()"


@dataclass(frozen=True)
class Task:
    """A short training run, whose last stage is measured."""

    env: str
    envs: int
    steps: int
    total: int
    network: str = "64x64"

    @property
    def words(self) -> list[str]:
        """The words of the training command, without seed and folder."""
        sizes = {"--envs": self.envs, "--steps": self.steps, "--total": self.total}
        own = [str(word) for pair in sizes.items() for word in pair]
        return ["train", self.env, *own, "--network", self.network]

    @property
    def command(self) -> str:
        """The training command as a user would type it."""
        return f"nbyt {' '.join(self.words)}"


CARTPOLE = Task("CartPole-v1", 64, 32, 61_440)
PENDULUM = Task("Pendulum-v1", 16, 128, 102_400)


def trained(task: Task, seed: int = 0) -> Stage:
    """The run's last stage; the run's folder is gone afterwards."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        extra = ["--stages", "1", "--seed", str(seed), "--out", str(run), "--quiet"]
        command = [sys.executable, "-c", _CALL, *task.words, *extra]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return read_stage(run / "stage-1")
