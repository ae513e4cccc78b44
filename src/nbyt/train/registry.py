"""Build the algorithm that a plan asks for."""

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.policy.actor_critic import Params
from nbyt.train.adaptive_algorithm import AdaptiveAlgorithm
from nbyt.train.adaptive_plan import AdaptivePlan
from nbyt.train.algorithm import Algorithm
from nbyt.train.dqn_algorithm import DQNAlgorithm
from nbyt.train.dqn_plan import DQNPlan
from nbyt.train.plan import PPOPlan
from nbyt.train.ppo_algorithm import PPOAlgorithm

AnyPlan = PPOPlan | AdaptivePlan | DQNPlan


def build_algorithm(
    plan: AnyPlan, env: DeviceEnv | HostEnv, weights: Params | None = None
) -> Algorithm:
    """Build the algorithm of a plan, before its first update; weights: initial ones."""
    if isinstance(plan, DQNPlan):
        return DQNAlgorithm(plan, env, weights)
    if isinstance(plan, AdaptivePlan):
        return AdaptiveAlgorithm(plan, env, weights)
    return PPOAlgorithm(plan, env, weights)
