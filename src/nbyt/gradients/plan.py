"""How a pool is cut so that measuring it fits in memory, whatever the pool and the network."""

from collections.abc import Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from nbyt.errors import UsageError
from nbyt.gradients.layers import PARTS, layers
from nbyt.gradients.sketch import GROUPS
from nbyt.gradients.weights import Aim
from nbyt.policy.actor_critic import ActorCritic, Params

# Numbers that the compiled program keeps for each number of a row's layers: measured.
_COPIES = 11
_MOST_CHAINS = 16
_LEAST_CHAINS = 4
_LEAST_PLACES = 64
_LONGEST_LAG = 512
_BYTES = 4


@dataclass(frozen=True)
class Plan:
    """Chains and steps of a slab, the lags looked at, and the sketch's places (0: none needed)."""

    chains: int
    steps: int
    lags: tuple[int, ...]
    places: int
    seed: int = 0

    def blocks(self, chains: int) -> Iterator[slice]:
        """The chains in blocks that differ by one at most, none larger than a slab's."""
        count = -(-chains // self.chains)
        for place in range(count):
            yield slice(place * chains // count, (place + 1) * chains // count)


def plan_for(
    policy: ActorCritic, params: Params, chains: int, aim: Aim, memory: int, seed: int = 0
) -> Plan:
    """A plan whose program and vectors each take about half of `memory` bytes at most."""
    rows = max(1, memory // 2 // (_row_numbers(policy, params) * _COPIES * _BYTES))
    most = min(_MOST_CHAINS, chains)
    steps = _slab_steps(aim, rows, most)
    at_once = max(min(_LEAST_CHAINS, chains), min(most, rows // steps))
    if at_once * steps > 2 * rows and steps > 1:
        need = 2 * at_once * steps * _row_numbers(policy, params) * _COPIES * _BYTES
        raise UsageError(
            f"{at_once} chains x {steps} steps of this network do not fit in "
            f"{memory / 2**20:.0f} MiB",
            where="memory",
            fix=f"allow {need / 2**20:.0f} MiB with --memory, or ask for steps that divide "
            "each other",
        )
    lags = tuple(2**k for k in range(10) if 2**k <= min(steps // 2, _LONGEST_LAG))
    return Plan(at_once, steps, lags, _places(params, chains, aim, memory // 2), seed)


def _row_numbers(policy: ActorCritic, params: Params) -> int:
    """Numbers in all layers' inputs and signals at one step."""
    observation = jnp.zeros((1, *(() if policy.kind == "index" else policy.shape)), _kind(policy))
    action = policy.head.sample(
        policy.parameters(params, observation), policy.head.noise(jax.random.key(0), (1,))
    )
    shapes = jax.eval_shape(lambda o, a: layers(policy, params, o, a, PARTS), observation, action)
    return sum(leaf.size for leaf in jax.tree.leaves(shapes))


def _kind(policy: ActorCritic) -> type:
    return jnp.int32 if policy.kind == "index" else jnp.float32


def _slab_steps(aim: Aim, rows: int, chains: int) -> int:
    """Steps of a slab: all of them, or a part that fragments either fill or are filled by."""
    steps = aim.measured
    while steps * chains > rows and steps % 2 == 0 and steps > 1:
        half = steps // 2
        if any(length % half and half % length for length in aim.steps):
            break
        steps = half
    return steps


def _places(params: Params, chains: int, aim: Aim, memory: int) -> int:
    """Places of a sketch's group so that all chains' vectors fit; 0 if they fit as they are."""
    size = sum(leaf.size for leaf in jax.tree.leaves((params.actor, params.critic, params.torso)))
    sets = (len(aim.steps) * len(aim.lambdas) + 3) * (2 if aim.joined else 1)
    if sets * chains * size * _BYTES <= memory:
        return 0
    return max(_LEAST_PLACES, memory // (sets * chains * _BYTES * GROUPS))
