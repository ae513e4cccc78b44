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
_MOST_CHAINS = 8
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


def one_row(policy: ActorCritic, params: Params) -> tuple[jax.Array, jax.Array]:
    """An observation and an action of the policy's kind."""
    index = policy.kind == "index"
    shape, kind = (() if index else policy.shape), (jnp.int32 if index else jnp.float32)
    observation = jnp.zeros((1, *shape), kind)
    noise = policy.head.noise(jax.random.key(0), (1,))
    return observation, policy.head.sample(policy.parameters(params, observation), noise)


def _row_numbers(policy: ActorCritic, params: Params) -> int:
    """Numbers in all layers' inputs and signals at one step."""
    row = one_row(policy, params)
    shapes = jax.eval_shape(lambda o, a: layers(policy, params, o, a, PARTS), *row)
    return sum(leaf.size for leaf in jax.tree.leaves(shapes))


def _slab_steps(aim: Aim, rows: int, chains: int) -> int:
    """Steps of a slab: all of them, or a part that fragments either fill or are filled by."""
    steps = aim.measured
    while steps * chains > rows and steps % 2 == 0 and steps > 1:
        half = steps // 2
        if any(length % half and half % length for length in aim.steps):
            break
        steps = half
    return steps


def vector_bytes(params: Params, chains: int, aim: Aim, plan: Plan) -> int:
    """Bytes of all chains' vectors, as they are or sketched."""
    if not plan.places:
        return written_bytes(params, chains, aim)
    return _sets(aim) * chains * _objectives(aim) * GROUPS * plan.places * _BYTES


def written_bytes(params: Params, chains: int, aim: Aim) -> int:
    """Bytes of the vectors of so many chains, written out for every objective."""
    size = sum(leaf.size for leaf in jax.tree.leaves((params.actor, params.critic, params.torso)))
    # Each objective reaches a shared torso; without one, actor and critic are the total's halves.
    copies = 3 if params.torso else 2 if aim.joined else 1
    return _sets(aim) * chains * copies * size * _BYTES


def _places(params: Params, chains: int, aim: Aim, memory: int) -> int:
    """Places of a sketch's group so that all chains' vectors fit; 0 if they fit as they are."""
    if written_bytes(params, chains, aim) <= memory:
        return 0
    return max(_LEAST_PLACES, memory // (_sets(aim) * chains * _objectives(aim) * _BYTES * GROUPS))


def _sets(aim: Aim) -> int:
    """Vectors of each objective that every chain has."""
    return len(aim.steps) * len(aim.lambdas) + 3


def _objectives(aim: Aim) -> int:
    """Gradients that are measured by themselves."""
    return 3 if aim.joined else 2
