"""Build the algorithm that a plan asks for."""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.train.adaptive import AdaptivePlan
from nbyt.train.algorithms.adaptive import AdaptiveAlgorithm
from nbyt.train.algorithms.dqn import DQNAlgorithm
from nbyt.train.algorithms.ppo import PPOAlgorithm
from nbyt.train.dqn_plan import DQNPlan
from nbyt.train.metrics import Row, UpdateMetrics
from nbyt.train.plan import PPOPlan


@runtime_checkable
class Algorithm(Protocol):
    """An algorithm on its way through a plan; it keeps what it has learnt so far."""

    @property
    def policy(self) -> ActorCritic:
        """The policy that learns."""
        ...

    @property
    def params(self) -> Params:
        """What the policy has learnt, ready to be evaluated."""
        ...

    def updates(self, first: int) -> Iterator[UpdateMetrics]:
        """Updates from that number on, each a pure function of the one before.

        An algorithm may make several at once and yield only the last of them.
        """
        ...

    def row(self, made: UpdateMetrics) -> Row:
        """The row of the metrics table; an error where the env or the loss gave a NaN."""
        ...

    def facts(self) -> dict[str, Any]:
        """What the algorithm alone knows of a stage, as plain values."""
        ...

    def findings(self) -> dict[str, Any]:
        """What the run's result says beyond its returns, as plain values."""
        ...

    def state(self) -> Any:
        """Everything that a checkpoint has to hold, as a tree of arrays."""
        ...

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint."""
        ...

    def close(self) -> None:
        """Stop the environments."""
        ...


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
