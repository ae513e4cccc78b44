"""DQNPlan: one DQN run, described completely."""

from nbyt.train.dqn_settings import DQNSettings
from nbyt.train.plan import RunPlan
from nbyt.train.replay_layout import ReplayLayout


class DQNPlan(RunPlan[ReplayLayout, DQNSettings]):
    """A run of DQN, and what changes on its way."""

    algo = "dqn"

    def epsilon(self, before: int) -> float:
        """The share of random actions after so many environment steps."""
        if before < self.layout.warm_up:
            return 1.0
        return self.settings.epsilon(before / self.total)

    def learning_rate(self, update: int) -> float:
        """The step size in that update, counted from 1."""
        left = 1 - (update - 1) / self.updates if self.settings.anneal else 1.0
        return self.settings.learning_rate * left
