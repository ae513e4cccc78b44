"""A Stable-Baselines3 model, frozen as it is now, in copies of its env, ready to be measured."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from nbyt.collect.pool import Pool, collect_host_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import HostEnv
from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_policy import undisturbed, weights_of, without_gradients
from nbyt.integrations.sb3.policy import engine_of, seen, torch_policy, untouched
from nbyt.integrations.sb3.settings import facts_of
from nbyt.measure.frozen_policy import hashed
from nbyt.rng import seeds


class SB3HostPolicy:
    """The model's policy as a pool's actor and critic; its luck is torch's, as it stands."""

    def __init__(self, model: Any) -> None:
        self._model, self._policy = model, torch_policy(model)

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> "SB3HostPolicy":
        """Itself: torch's generator goes on from segment to segment."""
        return self

    def act(self, observation: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Actions as the policy drew them, and as the envs take them."""
        model = self._model
        rows = seen(model, self._policy, observation)
        with without_gradients():
            action = model.policy.get_distribution(rows).get_actions().cpu().numpy()
        if not isinstance(model.action_space, Box):
            return action, action
        action = action.reshape(len(action), *model.action_space.shape)
        if model.policy.squash_output:
            return action, model.policy.unscale_action(action)
        return action, np.clip(action, model.action_space.low, model.action_space.high)

    def values(self, observation: np.ndarray) -> np.ndarray:
        """The critic's values of observations [L, n, ...]."""
        steps, envs = observation.shape[:2]
        flat = observation.reshape(steps * envs, *observation.shape[2:])
        rows = seen(self._model, self._policy, flat)
        with without_gradients():
            found = self._model.policy.predict_values(rows)
        return found.cpu().numpy().reshape(steps, envs)


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
