"""DQN runs whose buffers are looked at with everything frozen, early, in the middle and late."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from nbyt.objective.dqn import Transitions
from nbyt.train.dqn import DQNSettings, ReplayLayout
from nbyt_studies.experiment import Context
from nbyt_studies.replay.trainings import Moment, follow

# Cells of continuous states, in standard deviations of each coordinate.
CELL = 0.5


def episodes(rows: Transitions) -> Int[np.ndarray, " n"]:
    """The number of each transition's episode, of one env's transitions in their order.

    A new one begins after a termination, and where an observation is not the one that came before:
    there a time limit cut the episode. A cut whose reset gives the very same state is not seen.
    """
    count = len(rows.reward)
    before, after = (x.reshape(count, -1) for x in (rows.next_observation, rows.observation))
    begins = rows.terminated[:-1] | (before[:-1] != after[1:]).any(axis=1)
    return np.concatenate([[0], np.cumsum(begins)])


def states(rows: Transitions) -> Int[np.ndarray, " n"]:
    """The number of each row's state: exact for whole numbers, else the cell that it lies in."""
    seen = np.asarray(rows.observation).reshape(len(rows.reward), -1)
    if not np.array_equal(seen, np.round(seen)):
        scale = seen.std(axis=0)
        seen = np.round(seen / (CELL * np.where(scale > 0, scale, 1.0)))
    return np.unique(seen, axis=0, return_inverse=True)[1].reshape(-1)


SEEDS = (4, 6)
WORDS = ("early", "middle", "late")


@dataclass(frozen=True)
class Task:
    """An env, how DQN learns it, and after how many env steps it is looked at.

    Buffers then hold a multiple of the largest mini-batch.
    """

    env: str
    layout: ReplayLayout
    settings: DQNSettings
    moments: tuple[int, int, int]

    @property
    def name(self) -> str:
        """The env without its suite."""
        return self.env.partition(":")[2]


_LAYOUT = ReplayLayout(1, 4, 64, buffer=10_240, warm_up=1024)
# Few copies to the target network: with many, DQN's Q-values run away on CartPole.
_DEEP: dict[str, Any] = {"double": True, "target_every": 2000}
TASKS = (
    Task(
        "gymnax:CartPole-v1", _LAYOUT, DQNSettings(network="64x64", **_DEEP), (4096, 20_480, 51_200)
    ),
    Task(
        "gymnax:Acrobot-v1", _LAYOUT, DQNSettings(network="64x64", **_DEEP), (4096, 20_480, 51_200)
    ),
    Task(
        "tabular:CliffWalking-v1",
        _LAYOUT,
        DQNSettings(network="table", learning_rate=0.05, **_DEEP),
        (4096, 10_240, 20_480),
    ),
    # A small network and buffer: every transition's gradient is written out.
    Task(
        "gymnax:Breakout-MinAtar",
        ReplayLayout(1, 4, 64, buffer=4096, warm_up=1024),
        DQNSettings(network="32", **_DEEP),
        (4096, 12_288, 24_576),
    ),
)


def tasks(context: Context) -> tuple[Task, ...]:
    """The tasks of the study; a first look has two."""
    return context.pick(TASKS[:2], TASKS)


def moments_of(context: Context, task: Task, seed: int) -> Iterator[tuple[str, Moment]]:
    """The run of one seed, at each of the task's moments with its word."""
    updates = tuple(steps // task.layout.fresh for steps in task.moments)
    total = task.moments[-1]
    run = follow(context, task.env, task.layout, total, task.settings, seed=seed, moments=updates)
    yield from zip(WORDS, run.moments, strict=True)
