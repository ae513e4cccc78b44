"""A Stable-Baselines3 model, frozen as it is now, in copies of its env, ready to be measured."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nbyt.collect.pool import Pool, collect_host_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import HostEnv
from nbyt.gradients.torch_engine import TorchEngine
from nbyt.gradients.torch_modes import undisturbed
from nbyt.gradients.torch_policy import weights_of
from nbyt.integrations.sb3.host_policy import SB3HostPolicy
from nbyt.integrations.sb3.policy import engine_of, untouched
from nbyt.integrations.sb3.settings import facts_of
from nbyt.measure.frozen_policy import hashed
from nbyt.rng import seeds

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FrozenSB3Policy:
    """A model that is not trained while it is measured; its own envs are left alone."""

    model: Any
    env: HostEnv

    @property
    def id(self) -> str:
        """The env's id."""
        return self.env.id

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What is known of the model's training."""
        return facts_of(self.model)

    @cached_property
    def engine(self) -> TorchEngine:
        """The policy's gradients."""
        return engine_of(self.model)

    @property
    def passes_time_limits(self) -> bool:
        """Whether pools look past time limits: Gymnasium's envs do not."""
        return False

    @property
    def reward_unit(self) -> float:
        """What VecNormalize divides rewards by, 1 without it."""
        normalised = self.model.get_vec_normalize_env()
        if normalised is None or not normalised.norm_reward:
            return 1.0
        return float(math.sqrt(normalised.ret_rms.var + normalised.epsilon))

    @property
    def fingerprint(self) -> str:
        """A hash of the policy's weights."""
        return hashed(weights_of(self.model.policy))

    def collect(self, plan: PoolPlan, progress: Progress) -> Pool:
        """The pool that `plan` asks for, with luck of its own."""
        role = f"sb3.pool.{plan.round}.{plan.synchronised}"
        with undisturbed(seeds(plan.seed, role, 1)[0]), untouched(self.model.policy):
            return collect_host_pool(self.env, SB3HostPolicy(self.model), plan, progress)
