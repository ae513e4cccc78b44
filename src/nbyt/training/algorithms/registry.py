"""The algorithms that train a policy: what each one provides, and where it is found."""

import importlib
import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import EnvError
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.training.plan import AnyPlan, RunPlan

# The plan's class, and the class in `nbyt.training.algorithms` that carries it out. A module is
# imported when a plan asks for it: PPO imports no DQN. A new algorithm is one module and one line.
_ALGORITHMS = {
    "PPOPlan": ("ppo", "PPOAlgorithm"),
    "DQNPlan": ("dqn", "DQNAlgorithm"),
}

Row = dict[str, Any]
LearnerT = TypeVar("LearnerT", contravariant=True)
RequestT = TypeVar("RequestT", contravariant=True)
ExperienceT = TypeVar("ExperienceT", covariant=True)


class UpdateMetrics(NamedTuple):
    """The numbers of an update, or of several up to this one; they may still be computing."""

    number: int
    numbers: dict[str, Any]


@runtime_checkable
class Algorithm(Protocol):
    """An algorithm that carries out a plan; it holds the learner and its environments."""

    @property
    def policy(self) -> ActorCritic: ...

    @property
    def params(self) -> Params:
        """Return the policy's present parameters, ready to be evaluated."""

    def updates(self, first: int) -> Iterator[UpdateMetrics]:
        """Make the updates from number `first` on, each a pure function of the one before.

        An algorithm may make several at once and yield only the last of them.
        """

    def row(self, update: UpdateMetrics) -> Row:
        """Return the row of the metrics table; raise where the env or the loss gave a NaN."""

    def facts(self) -> dict[str, Any]:
        """Return what only the algorithm knows of a stage, as plain values."""

    def state(self) -> Any:
        """Return everything that a checkpoint has to hold, as a tree of arrays."""

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint; host environments start anew."""

    def close(self) -> None:
        """Stop the environments."""


@runtime_checkable
class Source(Protocol[LearnerT, RequestT, ExperienceT]):
    """Where experience comes from: environments on the device or on the host.

    PPO asks with a key and gets a batch; DQN asks for a block of updates, because on the device it
    collects and learns in one program.
    """

    def gather(self, learner: LearnerT, request: RequestT, /) -> ExperienceT:
        """Run the environments under the learner's policy."""

    def state(self) -> Any:
        """Return what a checkpoint has to hold of the environments, as a tree of arrays."""

    def restore(self, state: Any) -> None: ...

    def close(self) -> None: ...


def build_algorithm(
    plan: AnyPlan, env: DeviceEnv | HostEnv, weights: Params | None = None
) -> Algorithm:
    """Build the algorithm of a plan, before its first update; weights: initial ones."""
    module, name = _ALGORITHMS[type(plan).__name__]
    return getattr(importlib.import_module(f"nbyt.training.algorithms.{module}"), name)(
        plan, env, weights
    )


def finite(value: Any) -> float | None:
    """Return the value as a float; None where it is not finite."""
    return float(value) if math.isfinite(float(value)) else None


def env_fault(plan: RunPlan, env: int, step: int, action: np.ndarray) -> EnvError:
    """Return the error for a number that is not finite, in step `step` of that env."""
    return EnvError(
        f"env '{plan.env}' gave a reward or observation that is not finite",
        where=f"env {env}, step {step}, seed {plan.seed}, action {np.asarray(action).tolist()}",
        fix=f"run `nbyt check-env {plan.env} --seed {plan.seed}` to look at it, "
        "or train with --on-nonfinite drop",
    )
