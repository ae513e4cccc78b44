"""A user's own device env whose `id` finds nothing, and hostile ones beside it."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete

from nbyt.envs import Transition, tabular


class Walk:
    """Two places; action 1 pays where the walker stands in place 1."""

    id = "my-walk"
    observation_space = Box(0, 1, (2,), np.float32)
    action_space = Discrete(2)
    time_limit = 8

    def reset(self, key: Any) -> tuple[Any, Any]:
        """Start in place 0."""
        return (jnp.int32(0), jnp.int32(0)), jnp.eye(2)[0]

    def step(self, key: Any, state: Any, action: Any) -> Transition:
        """Go where the action says."""
        time, place = state[0] + 1, jnp.int32(action)
        paid = jnp.float32(place * state[1])
        return Transition(
            (time, place), jnp.eye(2)[place], paid, jnp.bool_(False), time >= self.time_limit
        )


class Raising(Walk):
    """A walk whose step cannot be traced."""

    def step(self, key: Any, state: Any, action: Any) -> Transition:
        """Raise the user's own words."""
        raise ZeroDivisionError("the user's own words")


class Growing(Walk):
    """A walk whose state changes its shape."""

    def step(self, key: Any, state: Any, action: Any) -> Transition:
        """Return a state that no scan can carry."""
        made = super().step(key, state, action)
        return made._replace(state=(*made.state, jnp.int32(0)))


def make_env() -> Walk:
    """Make the env, as users name it on the command line."""
    return Walk()


def make_table() -> tabular.TabularEnv:
    """Make a table of the user's own."""
    outcomes = [[[(1.0, 0, 0.0, False)], [(0.5, 0, 1.0, True), (0.5, 0, 0.0, False)]]]
    return tabular.from_outcomes(outcomes, [1.0], time_limit=8, id="my-table")


walk = Walk()
