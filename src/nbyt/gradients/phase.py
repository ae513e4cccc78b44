"""The phase's part of the variance: what all chains of a synchronised pool do at the same update.

Envs that all start at a reset go through an episode together for a while, so an update's mean
gradient depends on where in the episode it falls. That part is common to all envs, and no number
of envs averages it away.
"""

import numpy as np
from jaxtyping import Float

from nbyt.collect.pool import Pool
from nbyt.gradients.engine import ChainSums, Engine, PoolSums, slabs
from nbyt.gradients.plan import SlabPlan
from nbyt.gradients.weights import GradientSpec
from nbyt.stats.phase import PhaseProducts


def phase_products(
    engine: Engine, pool: Pool, found: PoolSums, spec: GradientSpec, plan: SlabPlan
) -> dict[str, dict[tuple[int, int], PhaseProducts]]:
    """Products between chains at the same update, by objective and places of T and lambda.

    found holds the sums of the same, synchronised pool; a slab must hold its whole length. Where
    the pool holds a single update of T steps there is nothing to compare and no entry.
    """
    blocks = list(plan.blocks(pool.chains))
    crowds: dict[str, list[np.ndarray]] = {}
    for chains in blocks:
        for _, slab in slabs(pool, spec, found.scale, plan, chains):
            for name, value in engine.batch_norm_sq(slab, spec.steps).items():
                crowds.setdefault(name, []).append(value)
    return {
        name: {
            (k, m): _compared(own, np.stack(crowds[name])[:, k, m], blocks, spec, k, m)
            for k, steps in enumerate(spec.steps)
            for m in range(len(spec.lambdas))
            if spec.fragments(steps) > 1
        }
        for name, own in found.objectives.items()
    }


def _compared(
    own: ChainSums,
    crowd: Float[np.ndarray, " blocks"],
    blocks: list[slice],
    spec: GradientSpec,
    k: int,
    m: int,
) -> PhaseProducts:
    """Mean products over pairs of different chains: at the same update, and of their means."""
    steps = spec.steps[k]
    within, overall = [], []
    for square, chains in zip(crowd, blocks, strict=True):
        size = chains.stop - chains.start
        pairs = size * (size - 1)
        alone = own.square[k, m, chains].sum()
        within.append((square / (spec.fragments(steps) * steps**2) - alone) / pairs)
        means = own.vectors[:, k, m, chains].astype(float)
        together = np.sum(means.sum(axis=1) ** 2) - np.sum(means**2)
        overall.append(together / len(means) / pairs)
    return PhaseProducts(np.array(within)[:, None], np.array(overall))
