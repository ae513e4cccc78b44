"""The corridor of corridor.py on the device: once as tables, once as a gymnax environment."""

from functools import cache

import jax.numpy as jnp
import numpy as np
from corridor import CELLS, LIMIT
from flax import struct

from nbyt.envs import gymnax_suite, tabular

# After gymnax_suite, which imports gymnax without its plotting packages.
from gymnax.environments import environment, spaces  # isort: skip


@cache
def tables() -> tabular.TabularEnv:
    """The corridor as tables of 5 states and 2 actions."""
    transition = np.zeros((CELLS, 2, CELLS))
    reward, terminated = np.zeros_like(transition), np.zeros(transition.shape, bool)
    for cell in range(CELLS):
        for action, move in ((0, -1), (1, 1)):
            after = min(max(0, cell + move), CELLS - 1)
            transition[cell, action, after] = 1
            reached = after == CELLS - 1
            reward[cell, action, after] = 1.0 if reached else -0.1 * after
            terminated[cell, action, after] = reached
    start = np.arange(CELLS) == 1
    return tabular.from_arrays(transition, reward, terminated, start, time_limit=LIMIT)


@struct.dataclass
class State(environment.EnvState):
    """Where one is, and since when."""

    cell: int
    time: int


class GymnaxCorridor(environment.Environment):
    """The corridor as a user of gymnax would write it, Python numbers in the start state."""

    @property
    def default_params(self) -> environment.EnvParams:
        return environment.EnvParams(max_steps_in_episode=LIMIT)

    def reset_env(self, key, params):
        state = State(cell=1, time=0)
        return self.get_obs(state), state

    def step_env(self, key, state, action, params):
        cell = jnp.maximum(0, state.cell + jnp.where(action == 1, 1, -1))
        state = State(cell=cell, time=state.time + 1)
        reached = cell == CELLS - 1
        return self.get_obs(state), state, jnp.where(reached, 1.0, -0.1 * cell), reached, {}

    def get_obs(self, state, params=None, key=None):
        return jnp.asarray(state.cell, jnp.int32)

    def action_space(self, params):
        return spaces.Discrete(2)

    def observation_space(self, params):
        return spaces.Discrete(CELLS)


@cache
def functions() -> gymnax_suite.GymnaxEnv:
    """The corridor as a gymnax environment."""
    return gymnax_suite.GymnaxEnv("Corridor", GymnaxCorridor())
