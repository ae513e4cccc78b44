"""A small env whose futures can be followed by hand, and policies for it."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from nbyt.envs import tabular
from nbyt.gradients.clones import Discount
from nbyt.policy.actor_critic import Stage, table

DISCOUNT = Discount(0.9, 0.8, 0.5)


@cache
def ring(*, slippery: bool) -> tabular.TabularEnv:
    """Five states in a ring; 4 to 0 is a death for action 1, and the 4th step is the last."""
    generator = np.random.default_rng(0)
    transition = np.zeros((5, 2, 5))
    for s in range(5):
        for a in range(2):
            transition[s, a, (s + a + 1) % 5] = 1.0
    if slippery:
        transition = 0.6 * transition + 0.08
    terminated = np.zeros((5, 2, 5), bool)
    terminated[4, 1] = True
    reward = generator.normal(size=transition.shape)
    return tabular.from_arrays(transition, reward, terminated, np.full(5, 0.2), time_limit=4)


def stage(states: int, actions: int, *, certain: bool) -> Stage:
    """A table policy; a certain one always takes the same action in a state."""
    generator = np.random.default_rng(1)
    logits = generator.normal(size=(states, actions)) * (1e4 if certain else 1.0)
    return table(logits, generator.normal(size=states))


def differ(one: jax.Array, other: jax.Array) -> bool:
    """Return True if at least a tenth of the numbers differ."""
    return bool((jnp.abs(one - other) > 1e-3).mean() > 0.1)
