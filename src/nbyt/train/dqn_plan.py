"""DQNPlan: one DQN run, described completely."""

from dataclasses import dataclass
from typing import Any

from nbyt.train.dqn_settings import DQNSettings
from nbyt.train.replay_layout import ReplayLayout


@dataclass(frozen=True)
class DQNPlan:
    """Env, sizes, length, seed and settings of a run, and the updates after which stages are kept.

    vector: how host envs run, "sync" or "async"; it does not change the numbers.
    """

    env: str
    layout: ReplayLayout
    total: int
    seed: int
    settings: DQNSettings
    stages: tuple[int, ...]
    vector: str = "sync"

    @property
    def algo(self) -> str:
        """The algorithm's name."""
        return "dqn"

    @property
    def updates(self) -> int:
        """How many updates the run makes."""
        return self.layout.updates(self.total)

    def epsilon(self, before: int) -> float:
        """The share of random actions after so many environment steps."""
        if before < self.layout.warm_up:
            return 1.0
        return self.settings.epsilon(before / self.total)

    def learning_rate(self, update: int) -> float:
        """The step size in that update, counted from 1."""
        left = 1 - (update - 1) / self.updates if self.settings.anneal else 1.0
        return self.settings.learning_rate * left

    def identity(self) -> dict[str, Any]:
        """All that decides the run's numbers, as plain values."""
        return {
            "algo": self.algo,
            "env": self.env,
            "layout": self.layout.as_dict(),
            "total": self.total,
            "seed": self.seed,
            "settings": self.settings.as_dict(),
            "stages": list(self.stages),
        }
