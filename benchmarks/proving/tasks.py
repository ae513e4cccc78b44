"""The tasks: an env, how PPO learns it, and the cells that are trained.

Settings are those with which PPO learns the task at all, tried with 16 envs x 128 steps alone; none
was chosen by how layouts compare. Half of the envs are sealed: `sealed.json` names them, and was
committed before any layout of theirs had been trained.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SEALED: tuple[str, ...] = tuple(json.loads(Path(__file__).with_name("sealed.json").read_text()))
BATCHES = (512, 2048, 8192)
# A curve has so many points in `total` samples.
POINTS = 20
# Rollouts shorter than this are trained for so many times the samples: at equal time on parallel
# hardware they see more of them.
SHORT, LONGER = 32, 2
MINIBATCH, EPOCHS = 256, 4

_TABLE = {"network": "table", "learning_rate": 0.01}
_FAST = {"learning_rate": 1e-3}
_SCALED = {"learning_rate": 1e-3, "normalise_observations": True, "normalise_rewards": True}
_MINATAR = {
    "network": "64x64",
    "activation": "relu",
    "learning_rate": 1e-3,
    "entropy_coefficient": 0.01,
}
_LANDER = {"learning_rate": 1e-3, "entropy_coefficient": 0.01, "normalise_rewards": True}
_WELL_KNOWN = 0.012
# Tasks that take ten times as long as the others, and more.
_DEAR: dict[str, Any] = {"batches": (2048,), "seeds": 8}
_HOST: dict[str, Any] = {"batches": (2048,), "seeds": 6}


@dataclass(frozen=True)
class Task:
    """An env and how it is trained.

    total: the samples of a training at equal samples. seeds: trainings of each T to begin with.
    precision: the standard error of a T's loss that more seeds are trained for, at B = 2,048.
    """

    env: str
    total: int
    settings: dict[str, Any] = field(default_factory=dict)
    batches: tuple[int, ...] = BATCHES
    seeds: int = 16
    precision: float = 0.03

    @property
    def name(self) -> str:
        """The env without its suite."""
        return self.env.rpartition(":")[2]

    @property
    def sealed(self) -> bool:
        """True if nothing may be learnt from the env."""
        return self.env in SEALED

    def steps(self, batch: int) -> tuple[int, ...]:
        """Every T that is trained."""
        return tuple(2**k for k in range(12) if 2**k <= batch)

    def trained(self, steps: int) -> int:
        """The samples of a training with this T."""
        return self.total * (LONGER if steps < SHORT else 1)


TASKS = (
    Task("gymnax:CartPole-v1", 200_000, batches=(512, 2048), precision=_WELL_KNOWN),
    Task("gymnax:Acrobot-v1", 200_000, precision=_WELL_KNOWN),
    Task(
        "gymnax:Pendulum-v1",
        300_000,
        {"gamma": 0.9, "learning_rate": 1e-3, "normalise_rewards": True},
        precision=_WELL_KNOWN,
    ),
    Task("gymnax:MountainCarContinuous-v0", 200_000, _SCALED, precision=_WELL_KNOWN),
    Task("tabular:FrozenLake8x8-v1", 300_000, _TABLE, precision=_WELL_KNOWN),
    Task("tabular:Taxi-v4", 300_000, _TABLE, precision=_WELL_KNOWN),
    Task("tabular:CliffWalking-v1", 200_000, _TABLE, precision=_WELL_KNOWN),
    Task("gymnax:Catch-bsuite", 200_000, _FAST),
    Task("gymnax:FourRooms-misc", 200_000, _FAST),
    Task("gymnax:Breakout-MinAtar", 300_000, _MINATAR, **_DEAR),
    Task("gymnax:Asterix-MinAtar", 300_000, _MINATAR, **_DEAR),
    Task("envpool:InvertedPendulum-v4", 100_000, _FAST, **_HOST),
    Task("tabular:FrozenLake-v1", 200_000, _TABLE, precision=_WELL_KNOWN),
    Task("tabular:CliffWalkingSlippery-v1", 200_000, _TABLE, precision=_WELL_KNOWN),
    Task("gymnax:UmbrellaChain-bsuite", 200_000, _FAST),
    Task("gymnax:DiscountingChain-bsuite", 200_000, _FAST),
    Task("gymnax:DeepSea-bsuite", 81_920, _FAST, batches=(512, 2048)),
    Task("gymnax:MountainCar-v0", 300_000, _SCALED, precision=_WELL_KNOWN),
    Task("gymnax:SpaceInvaders-MinAtar", 300_000, _MINATAR, **_DEAR),
    Task("gym:InvertedDoublePendulum-v5", 200_000, _SCALED, **_HOST),
    Task("envpool:LunarLander-v3", 200_000, _LANDER, **_HOST),
)
