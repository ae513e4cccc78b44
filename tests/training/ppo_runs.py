"""PPO on CartPole, before its first update."""

from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.training.algorithms.ppo import PPOAlgorithm
from nbyt.training.plan import PPOPlan, PPOSettings

LAYOUT = Layout(envs=8, steps=16, minibatch=32, epochs=2)


def started(
    settings: PPOSettings,
    updates: int = 3,
    layout: Layout = LAYOUT,
    env: str = "gymnax:CartPole-v1",
) -> PPOAlgorithm:
    """The algorithm of a run of so many updates, before the first one."""
    plan = PPOPlan(env, layout, updates * layout.batch, 7, settings, ())
    return PPOAlgorithm(plan, resolve(env))
