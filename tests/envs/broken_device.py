"""Small device envs that each break one promise, with the fault code that must name it."""

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from nbyt.envs.protocol import Transition


class Walk:
    """A sound device env: a random walk that terminates outside [-2, 2] and is cut at step 9."""

    id = "device:walk"
    observation_space = Box(-9, 9, (1,), np.float32)
    action_space = Discrete(2)
    time_limit = 9

    def reset(self, key):
        place = jax.random.uniform(key, (1,))
        return (place, jnp.int32(0)), place

    def step(self, key, state, action):
        place, time = state
        place = place + jnp.where(action == 1, 1.0, -1.0) + 0.1 * jax.random.uniform(key, (1,))
        time = time + 1
        ended = jnp.abs(place[0]) > 2
        return Transition((place, time), place, place[0], ended, (time >= 9) & ~ended)


class LateNan(Walk):
    """Never ends, and pays no number after 50 steps."""

    time_limit = None

    def step(self, key, state, action):
        place, time = state
        reward = jnp.where(time == 50, jnp.nan, 0.0)
        return Transition((place, time + 1), place, reward, False & (time < 0), False & (time < 0))


def said(**changes):
    """A Walk some of whose transition's fields are replaced by functions of the value."""

    class Changed(Walk):
        def step(self, key, state, action):
            transition = super().step(key, state, action)
            new = {name: change(getattr(transition, name)) for name, change in changes.items()}
            return transition._replace(**new)

    return Changed()


def with_attribute(name, value):
    """A Walk with another attribute or method."""
    return type("Replaced", (Walk,), {name: value})()


def python_branch(self, key, state, action):
    """A step that asks a traced value for its truth."""
    return Walk.step(self, key, state, action) if action > 0 else None


def only_observation(self, key):
    """A reset without a state."""
    return jax.random.uniform(key, (1,))


def host_random(seen):
    """An observation from NumPy, drawn anew at every trace."""
    return seen * 0 + np.float32(np.random.default_rng().uniform())


DEVICE = [
    (with_attribute("__hash__", None), "unhashable"),
    (with_attribute("observation_space", Dict({"a": Discrete(2)})), "observation_space"),
    (with_attribute("action_space", Box(0, 3, (), np.int32)), "action_space"),
    (with_attribute("reset", only_observation), "reset_raises"),
    (with_attribute("step", python_branch), "step_raises"),
    (with_attribute("step", lambda self, key, state, action: state), "step_raises"),
    (said(state=lambda state: (state[0], jnp.float32(state[1]))), "state_structure"),
    (said(state=lambda state: state[0]), "state_structure"),
    (said(observation=lambda seen: seen[0]), "observation_shape"),
    (with_attribute("observation_space", Box(-9, 9, (1,), np.int32)), "observation_dtype"),
    (said(observation=lambda seen: seen / 0), "observation_nonfinite"),
    (said(observation=lambda seen: seen + 90), "observation_bounds"),
    (said(observation=host_random), "seeding"),
    (said(reward=lambda reward: reward[None]), "reward_type"),
    (said(reward=lambda reward: jnp.log(-1.0) * reward), "reward_nonfinite"),
    (said(terminated=lambda flag: flag.astype(jnp.int32)), "terminated_type"),
    (said(truncated=lambda flag: flag[None]), "truncated_type"),
]
