"""Who acts in a pool of host envs, and who says what their observations are worth.

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

    The luck of its actions is its own: it has to be another one for every group and segment, and
    pools of other seeds and rounds need other minds.
    """

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> Actor:
        """Who acts in a segment of the group that begins with chain `group`.

        segment None is the way to a random phase, before the first segment.
        """
        ...

    def values(self, observation: np.ndarray) -> np.ndarray:
        """The critic's values of observations [L, n, ...], float32 [L, n]."""
        ...


class StageHostPolicy:
    """The mind of a stage: policy and weights, with actions drawn from streams of `key`."""

    def __init__(self, policy: ActorCritic, params: Params, key: jax.Array) -> None:
        self._policy, self._params, self._key = policy, params, key

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> Actor:
        """Who acts in a segment, or on the way to a random phase."""
        key = stream(self._key, "group", group)
        luck = stream(key, "wander") if segment is None else stream(key, "segment", segment)
        return HostActor(self._policy, self._params, luck, steps, envs)

    def values(self, observation: np.ndarray) -> np.ndarray:
        """The critic's values of observations [L, n, ...]."""
        return np.asarray(_values(self._policy, self._params, observation))


@partial(jax.jit, static_argnames=("policy",))
def _values(policy: ActorCritic, params: Params, observation: Any) -> jax.Array:
    return policy.value(params, observation)
