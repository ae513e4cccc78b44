"""The actor and critic of a pool of host envs.

A pool needs no more of a policy than this, so a policy of any framework can be measured.
"""

from functools import partial
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np

from nbyt.collect.host import Actor
from nbyt.collect.host_actor import HostActor
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.rng import stream


@runtime_checkable
class HostPolicy(Protocol):
    """A frozen actor and critic in whatever framework, as pools of host envs need them.

    It draws its own random numbers, different ones for every group and segment; pools of other
    seeds and rounds need other policies.
    """

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> Actor:
        """Return the actor for a segment of the group that begins with chain `group`.

        segment None is the way to a random phase, before the first segment.
        """
        ...

    def values(self, observation: np.ndarray) -> np.ndarray:
        """The critic's values of observations [L, n, ...], float32 [L, n]."""
        ...


class StageHostPolicy:
    """Policy and weights of a stage, with actions drawn from streams of `key`."""

    def __init__(self, policy: ActorCritic, params: Params, key: jax.Array) -> None:
        self._policy, self._params, self._key = policy, params, key

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> Actor:
        """Return the actor for a segment, or for the way to a random phase."""
        key = stream(self._key, "group", group)
        actions = stream(key, "wander") if segment is None else stream(key, "segment", segment)
        return HostActor(self._policy, self._params, actions, steps, envs)

    def values(self, observation: np.ndarray) -> np.ndarray:
        """The critic's values of observations [L, n, ...]."""
        return np.asarray(_values(self._policy, self._params, observation))


@partial(jax.jit, static_argnames=("policy",))
def _values(policy: ActorCritic, params: Params, observation: Any) -> jax.Array:
    return policy.value(params, observation)
