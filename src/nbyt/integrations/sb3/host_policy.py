"""A model's policy as it acts and judges in a pool."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box

from nbyt.gradients.torch_modes import without_gradients
from nbyt.integrations.sb3.policy import seen, torch_policy


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
