"""Reduce a pool to the sums that the statistics need, in slabs that fit in memory.

Nothing after this file knows in which framework the policy is written.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int

from nbyt.collect import PartProgress
from nbyt.collect.pool import Pool
from nbyt.gradients.engines import Engine
from nbyt.gradients.slab_sums import Slab, lag_rows
from nbyt.gradients.spec import (
    AdvantageScale,
    GradientSpec,
    Parts,
    Sketch,
    SlabPlan,
    scale_of,
    weigh,
)


class ChainSums(NamedTuple):
    """One objective's sums over a pool, chain by chain, as NumPy arrays.

    vectors: mean contributions S_n at each T and lambda, sketched in G groups where G > 1.
    whole: means of the endless chain's contributions, and of the reference's two summands if asked.
    square: mean squared norm of fragments. step_square, step_pairs, lags: means over steps;
    endless_: those of the endless chain.
    """

    vectors: Float[np.ndarray, "G K M n m"]
    whole: Float[np.ndarray, "G W n m"]
    square: Float[np.ndarray, "K M n"]
    step_square: Float[np.ndarray, "K M n"]
    step_pairs: Float[np.ndarray, "K M n"]
    endless_square: Float[np.ndarray, " n"]
    endless_pairs: Float[np.ndarray, " n"]
    lags: Float[np.ndarray, "lags n"]


CHAIN_AXES = dict(zip(ChainSums._fields, (3, 2, 2, 2, 2, 0, 0, 1), strict=True))
"""Where the chains are in each field."""


class PoolSums(NamedTuple):
    """All objectives' sums, the scale of the advantages, and each chain's partners."""

    objectives: dict[str, ChainSums]
    scale: AdvantageScale
    partners: Int[np.ndarray, " n"]
    lags: tuple[int, ...]


def reduce_pool(
    engine: Engine,
    pool: Pool,
    spec: GradientSpec,
    plan: SlabPlan,
    scale: AdvantageScale | None = None,
    progress: PartProgress = lambda done, total: None,
) -> PoolSums:
    """Reduce a pool to what the statistics need; `scale` is the pool's own unless given."""
    scale = scale_of(pool, spec) if scale is None else scale
    blocks: list[dict[str, ChainSums]] = []
    partners: list[int] = []
    for chains in plan.blocks(pool.chains):
        blocks.append(_block(engine, pool, spec, scale, plan, chains))
        size = chains.stop - chains.start
        partners += [size - 1] * size
        progress(chains.stop, pool.chains)
    joined = {name: _beside([block[name] for block in blocks]) for name in blocks[0]}
    return PoolSums(joined, scale, np.array(partners), plan.lags)


def _beside(some: list[ChainSums]) -> ChainSums:
    fields = zip(zip(*some, strict=True), CHAIN_AXES.values(), strict=True)
    return ChainSums(*(np.concatenate(parts, axis) for parts, axis in fields))


def slabs(
    pool: Pool, spec: GradientSpec, scale: AdvantageScale, plan: SlabPlan, chains: slice
) -> Iterator[tuple[int, Slab]]:
    """Yield a block's slabs in order of time, each with the step at which it ends."""
    fragment, whole = (_padded(w, plan.chains) for w in weigh(pool, spec, scale, chains))
    for first in range(0, spec.measured, plan.steps):
        time = slice(first, first + plan.steps)
        parts = jax.tree.map(lambda w, time=time: w[..., time], (fragment, whole))
        observation = _rows(pool.observation, time, chains, plan.chains)
        action = _rows(pool.action, time, chains, plan.chains)
        yield time.stop, Slab(observation, action, *parts)


def _block(
    engine: Engine,
    pool: Pool,
    spec: GradientSpec,
    scale: AdvantageScale,
    plan: SlabPlan,
    chains: slice,
) -> dict[str, ChainSums]:
    """Return sums of one block of chains, slab after slab in time."""
    sums: dict[str, _Sums] = {}
    for end, slab in slabs(pool, spec, scale, plan, chains):
        for name, found in engine.sum_slab(slab, spec.steps, plan.lags).items():
            sums.setdefault(name, _Sums(spec, plan)).add(found, end)
    size = chains.stop - chains.start
    return {name: one.gathered(size) for name, one in sums.items()}


class _Sums:
    """Add up the sums of a block's slabs; longer fragments grow from slab to slab."""

    def __init__(self, spec: GradientSpec, plan: SlabPlan) -> None:
        self._spec, self._plan = spec, plan
        self._total: Any = None
        self._growing: dict[int, np.ndarray] = {}

    def add(self, found: Any, end: int) -> None:
        """Add the sums of one more slab, which ends at step `end` of the chains."""
        square = np.array(found.square)
        for place, length in enumerate(self._spec.steps):
            if length <= self._plan.steps:
                continue
            grown = found.vectors[place] + self._growing.get(place, 0.0)
            if end % length == 0:
                square[place] = np.sum(grown**2, axis=-1)
                grown = np.zeros_like(grown)
            self._growing[place] = grown
        found = found._replace(square=square)
        self._total = found if self._total is None else jax.tree.map(np.add, self._total, found)

    def gathered(self, chains: int) -> ChainSums:
        """Return means over the steps and fragments that count, of the first `chains` chains."""
        spec, total = self._spec, self._total
        fragments = np.array([spec.fragments(steps) for steps in spec.steps], float)[:, None, None]
        length = np.array(spec.steps, float)[:, None, None]
        rows = fragments * length
        slabs = spec.measured // self._plan.steps
        pairs = np.array([[slabs * lag_rows(self._plan.steps, lag)] for lag in self._plan.lags])
        return ChainSums(
            self._short(total.vectors[:, :, :chains] / rows[..., None].astype(np.float32)),
            self._short(total.whole[:, :chains] / np.float32(spec.measured)),
            total.square[:, :, :chains] / (rows * length),
            total.step_square[:, :, :chains] / rows,
            total.step_pairs[:, :, :chains] / rows,
            total.endless_square[:chains] / spec.measured,
            total.endless_pairs[:chains] / spec.measured,
            total.lags[:, :chains] / pairs.reshape(-1, 1),
        )

    def _short(self, vectors: np.ndarray) -> np.ndarray:
        """Return the vectors as they are, or their sketches, group first."""
        if not self._plan.places:
            return vectors[None]
        return Sketch(vectors.shape[-1], self._plan.places, self._plan.seed)(vectors)


def _rows(array: np.ndarray, time: slice, chains: slice, size: int) -> np.ndarray:
    """Return rows of a block's chains, chain first; repeats fill the block up and weigh nothing."""
    some = np.arange(chains.start, chains.stop)
    return np.swapaxes(array[time, chains][:, np.resize(some, size) - some[0]], 0, 1)


def _padded(parts: Parts, size: int) -> Parts:
    def pad(weights: np.ndarray) -> np.ndarray:
        missing = size - weights.shape[-2]
        return np.pad(weights, [(0, 0)] * (weights.ndim - 2) + [(0, missing), (0, 0)])

    return jax.tree.map(pad, parts)
