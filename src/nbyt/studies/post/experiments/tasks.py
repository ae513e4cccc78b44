"""The tasks that the post is measured on: environments, and how they are trained."""

from dataclasses import dataclass, replace

from nbyt.envs.tabular import TabularEnv
from nbyt.layout import Layout
from nbyt.train.settings import PPOSettings

BATCH = 2048
"""Samples of a batch, as in the post's own example."""

TRAINED = Layout(envs=16, steps=128, minibatch=256, epochs=4)
"""A layout between the extremes; what is measured are the stages of its training."""


@dataclass(frozen=True)
class Task:
    """An environment with its settings, and the updates after which its stages are kept.

    The rates are those at which each learns within the updates given; none is tuned further. The
    stages lie where returns rise: a policy that has settled has no gradient to speak of.
    """

    env: str
    settings: PPOSettings
    stages: dict[str, int]

    @property
    def name(self) -> str:
        """The environment without its suite."""
        return self.env.partition(":")[2]


FROZENLAKE = Task(
    "tabular:FrozenLake8x8-v1",
    PPOSettings(network="table", learning_rate=0.02),
    {"early": 15, "middle": 40, "late": 100},
)
CARTPOLE = Task("gymnax:CartPole-v1", PPOSettings(), {"early": 4, "middle": 12, "late": 30})
PENDULUM = Task(
    "gymnax:Pendulum-v1",
    PPOSettings(gamma=0.95, learning_rate=1e-3),
    {"early": 5, "middle": 15, "late": 40},
)
BREAKOUT = Task("gymnax:Breakout-MinAtar", PPOSettings(gamma=0.95), {"middle": 20})


def without_limit(env: TabularEnv) -> TabularEnv:
    """The same tables with no time limit, for which exact answers are small."""
    return replace(env, id=f"{env.id}-without-limit", time_limit=None)
