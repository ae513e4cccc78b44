"""The phase's part of the variance: what all chains of a synchronised pool do at the same update.

Envs that all start at a reset go through an episode together for a while, so an update's mean
gradient depends on where in the episode it falls. That part is common to all envs, and no number
of envs averages it away.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from nbyt.collect.pool import Pool
from nbyt.gradients import products
from nbyt.gradients.digest import Slab
from nbyt.gradients.engine import Gathered, Harvest, slabs
from nbyt.gradients.layers import layers
from nbyt.gradients.plan import Plan
from nbyt.gradients.weights import Aim
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.stats.phase import PhaseProducts


def phase_products(
    policy: ActorCritic, params: Params, pool: Pool, found: Harvest, aim: Aim, plan: Plan
) -> dict[str, dict[tuple[int, int], PhaseProducts]]:
    """Products between chains at the same update, by objective and places of T and lambda.

    found is the harvest of the same, synchronised pool; a slab must hold its whole length. Where
    the pool holds a single update of T steps there is nothing to compare and no entry.
    """
    blocks = list(plan.blocks(pool.chains))
    crowds: dict[str, list[np.ndarray]] = {}
    for chains in blocks:
        for _, slab in slabs(pool, aim, found.scale, plan, chains):
            sums = jax.device_get(_crowd_squares(policy, params, slab, aim.steps))
            for name, value in sums.items():
                crowds.setdefault(name, []).append(value)
    return {
        name: {
            (k, m): _compared(own, np.stack(crowds[name])[:, k, m], blocks, aim, k, m)
            for k, steps in enumerate(aim.steps)
            for m in range(len(aim.lambdas))
            if aim.fragments(steps) > 1
        }
        for name, own in found.objectives.items()
    }


@partial(jax.jit, static_argnames=("policy", "steps"))
def _crowd_squares(
    policy: ActorCritic, params: Params, slab: Slab, steps: tuple[int, ...]
) -> dict[str, Float[Array, "K M"]]:
    """Sum over updates of the squared norm of all chains' summed contributions."""
    time_first = jax.tree.map(lambda x: x.swapaxes(0, 1), (slab.observation, slab.action))
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), time_first)
    used = tuple(dict.fromkeys(part for parts in slab.fragment.values() for part in parts))
    rows = layers(policy, params, flat[0], flat[1], used)
    return {
        name: jnp.stack(
            [
                _crowd_square(
                    products.touched(rows, tuple(parts)),
                    {part: w[place] for part, w in parts.items()},
                    length,
                )
                for place, length in enumerate(steps)
            ]
        )
        for name, parts in slab.fragment.items()
    }


def _crowd_square(
    rows: list[products.Layer], weights: dict[str, Float[Array, "M c t"]], length: int
) -> Float[Array, " M"]:
    chains, time = next(iter(weights.values())).shape[1:]
    updates = time // length
    count = updates * length * chains
    folded = products.grouped(jax.tree.map(lambda x: x[:count], rows), updates)

    def one(weights: dict[str, Float[Array, "c t"]]) -> Float[Array, ""]:
        own = {part: w.T.reshape(-1)[:count].reshape(updates, -1) for part, w in weights.items()}
        return jnp.sum(products.group_sums(folded, own) ** 2)

    return jax.lax.map(one, weights)


def _compared(
    own: Gathered,
    crowd: Float[np.ndarray, " blocks"],
    blocks: list[slice],
    aim: Aim,
    k: int,
    m: int,
) -> PhaseProducts:
    """Mean products over pairs of different chains: at the same update, and of their means."""
    steps = aim.steps[k]
    within, overall = [], []
    for square, chains in zip(crowd, blocks, strict=True):
        size = chains.stop - chains.start
        pairs = size * (size - 1)
        alone = own.square[k, m, chains].sum()
        within.append((square / (aim.fragments(steps) * steps**2) - alone) / pairs)
        means = own.vectors[:, k, m, chains].astype(float)
        together = np.sum(means.sum(axis=1) ** 2) - np.sum(means**2)
        overall.append(together / len(means) / pairs)
    return PhaseProducts(np.array(within)[:, None], np.array(overall))
