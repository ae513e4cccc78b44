"""The tasks: an env, how PPO learns it, and which layouts are trained.

Settings are those with which PPO learns the task at all (tables need large steps, MountainCar
needs its observations scaled); none was chosen by how layouts compare.
"""

from dataclasses import dataclass, field
from typing import Any

from nbyt.advice.request import EPOCHS
from nbyt.envs import resolve
from nbyt.sweep.grid import Grid, make_grid
from nbyt.train.plan import PPOSettings

BATCH = 2048
_TABLE = {"network": "table", "learning_rate": 0.01}
_MINATAR = {
    "network": "64x64",
    "activation": "relu",
    "learning_rate": 1e-3,
    "entropy_coefficient": 0.01,
}
_SOME = (2, 8, 32, 128, 512)


@dataclass(frozen=True)
class Case:
    """A task; steps: the T that are trained, all powers of two without."""

    env: str
    total: int
    seeds: int = 16
    steps: tuple[int, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the task is called."""
        return self.env.rpartition(":")[2]

    def grid(self, *, epochs: int = EPOCHS, **changes: Any) -> Grid:
        """What is trained; changes: settings that are not the task's own."""
        return make_grid(
            resolve(self.env),
            batch=BATCH,
            seeds=self.seeds,
            total=self.total,
            layouts=[(BATCH // steps, steps) for steps in self.steps],
            epochs=epochs,
            settings=PPOSettings(**{**self.settings, **changes}),
        )


CASES = (
    Case("tabular:FrozenLake8x8-v1", 300_000, settings=_TABLE),
    Case("gymnax:CartPole-v1", 200_000),
    Case("gymnax:Acrobot-v1", 200_000),
    Case(
        "gymnax:Pendulum-v1",
        300_000,
        settings={"gamma": 0.9, "learning_rate": 1e-3, "normalise_rewards": True},
    ),
    Case(
        "gymnax:MountainCarContinuous-v0",
        200_000,
        settings={
            "learning_rate": 1e-3,
            "normalise_observations": True,
            "normalise_rewards": True,
        },
    ),
    Case("tabular:Taxi-v4", 300_000, settings=_TABLE),
    Case("gymnax:Breakout-MinAtar", 300_000, 6, _SOME, _MINATAR),
    Case("gymnax:Asterix-MinAtar", 300_000, 6, _SOME, _MINATAR),
)
