"""A frozen policy in its env, as it is measured, in any framework."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from nbyt.collect import PartProgress
from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv, most_envs
from nbyt.gradients.engines import Engine
from nbyt.policy.actor_critic import Stage
from nbyt.policy.files import to_tensors

# Who collects the pools of a stage in a host env, where that is not this process.
Collector = Callable[[HostEnv, Stage, PoolPlan, PartProgress], Pool]


@runtime_checkable
class FrozenPolicy(Protocol):
    """What is measured: it makes pools, and its engine knows the gradients of their steps."""

    @property
    def id(self) -> str: ...

    @property
    def facts(self) -> dict[str, Any]:
        """Return what is known of its training: settings, updates, steps, reward_scale."""

    @property
    def engine(self) -> Engine: ...

    @property
    def passes_time_limits(self) -> bool:
        """Return whether its pools look past time limits."""

    @property
    def reward_unit(self) -> float:
        """Return what a pool's rewards are multiplied with to be the env's own."""

    @property
    def fingerprint(self) -> str:
        """Return a hash of its weights, by which an advice knows what it was measured on."""

    def collect(self, plan: PoolPlan, progress: PartProgress) -> Pool: ...


@dataclass(frozen=True)
class FrozenStage:
    """One of nbyt's own stages in an env."""

    env: DeviceEnv | HostEnv
    stage: Stage
    collector: Collector | None = None

    @property
    def id(self) -> str:
        return self.env.id

    @property
    def facts(self) -> dict[str, Any]:
        return self.stage.facts

    @cached_property
    def engine(self) -> Engine:
        from nbyt.gradients.engines.own import StageEngine  # many read stages, and few measure

        return StageEngine(self.stage.policy, self.stage.params)

    @property
    def passes_time_limits(self) -> bool:
        """Return whether pools look past time limits: only a device env can go on there."""
        return not isinstance(self.env, HostEnv)

    @property
    def reward_unit(self) -> float:
        return float(self.facts.get("reward_scale") or 1.0)

    @property
    def fingerprint(self) -> str:
        return hashed(to_tensors(self.stage.params))

    def collect(self, plan: PoolPlan, progress: PartProgress) -> Pool:
        plan = plan._replace(envs=most_envs(self.env, plan.envs))
        if self.collector is not None and isinstance(self.env, HostEnv):
            return self.collector(self.env, self.stage, plan, progress)
        return collect_pool(self.env, self.stage.policy, self.stage.params, plan, progress)


def hashed(tensors: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(tensors.items()):
        digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()
