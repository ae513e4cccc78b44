"""Reduce a pool to the sums that the statistics need, in slabs that fit in memory.

Nothing after this file knows in which framework the policy is written.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int

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
from nbyt.stats.lags import PhaseProducts
from nbyt.stats.products import Products

Progress = Callable[[int, int], None]


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
    progress: Progress = lambda done, total: None,
) -> PoolSums:
    """Everything that the statistics need of a pool; `scale` is the pool's own unless given."""
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
    """The sums of several sets of chains as those of one."""
    fields = zip(zip(*some, strict=True), CHAIN_AXES.values(), strict=True)
    return ChainSums(*(np.concatenate(parts, axis) for parts, axis in fields))


def slabs(
    pool: Pool, spec: GradientSpec, scale: AdvantageScale, plan: SlabPlan, chains: slice
) -> Iterator[tuple[int, Slab]]:
    """A block's slabs in order of time, each with the step at which it ends."""
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
    """Sums of one block of chains, slab after slab in time."""
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
        """Means over the steps and fragments that count, of the first `chains` chains."""
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
        """The vectors as they are, or their sketches, group first."""
        if not self._plan.places:
            return vectors[None]
        return Sketch(vectors.shape[-1], self._plan.places, self._plan.seed)(vectors)


def _rows(array: np.ndarray, time: slice, chains: slice, size: int) -> np.ndarray:
    """Rows of a block's chains, chain first; repeats fill the block up and weigh nothing."""
    some = np.arange(chains.start, chains.stop)
    return np.swapaxes(array[time, chains][:, np.resize(some, size) - some[0]], 0, 1)


def _padded(parts: Parts, size: int) -> Parts:
    def pad(weights: np.ndarray) -> np.ndarray:
        missing = size - weights.shape[-2]
        return np.pad(weights, [(0, 0)] * (weights.ndim - 2) + [(0, missing), (0, 0)])

    return jax.tree.map(pad, parts)


OBJECTIVES = ("actor", "critic", "total")


def products_of(
    found: PoolSums,
    spec: GradientSpec,
    objective: str,
    k: int,
    m: int,
    settled: PoolSums | None = None,
) -> Products:
    """Products of one objective at the k-th T and m-th lambda.

    settled: the sums of chains at random phases, where `found` is of chains that begin at a
    reset; the reference is then theirs.
    """
    if objective == "total" and not spec.joined:
        actor = products_of(found, spec, "actor", k, m, settled)
        critic = products_of(found, spec, "critic", k, m, settled)
        return _side_by_side(actor, critic, spec.value_coefficient)
    own, spread = found.objectives[objective], float(found.scale.spread[k, m])
    means = own.vectors[:, k, m].astype(float)
    home = own if settled is None else settled.objectives[objective]
    reference = means if spec.bare else _reference(home.whole[:, 1:], spread)
    products = Products(
        spec.steps[k],
        own.square[k, m][None],
        own.step_square[k, m][None],
        own.step_pairs[k, m][None],
        found.partners,
        _gram(means, means),
        _gram(means, reference),
        _gram(reference, reference),
    )
    if settled is None:
        return products
    here = _reference(own.vectors[:, k, len(spec.lambdas) :], spread)
    advantage, phase = means - here, here - reference
    return replace(
        products, advantage_part=_gram(advantage, advantage), phase_part=_gram(phase, phase)
    )


def endless_gram(own: ChainSums) -> Float[np.ndarray, "n n"]:
    """Inner products of the chains' mean contributions with advantages that are never cut."""
    mean = own.whole[:, 0].astype(float)
    return _gram(mean, mean).mean(axis=0)


def _reference(summands: np.ndarray, spread: float) -> Float[np.ndarray, "G n m"]:
    return summands[:, 0].astype(float) / spread + summands[:, 1]


def _gram(a: np.ndarray, b: np.ndarray) -> Float[np.ndarray, "G n n"]:
    return a @ b.swapaxes(-1, -2)


def _side_by_side(actor: Products, critic: Products, coefficient: float) -> Products:
    """Products of two gradients in different parameters, the second times its coefficient."""
    names = ["square", "step_square", "step_pairs", "means", "cross", "reference"]
    names += [] if actor.phase_part is None else ["advantage_part", "phase_part"]
    summed = {name: getattr(actor, name) + coefficient**2 * getattr(critic, name) for name in names}
    return replace(actor, **summed)


# Many chains as fewer units: the statistics compare all with all, so their number is bounded.
#
# A unit is the mean of a few chains. Units are as independent of each other as chains are, and a
# few hundred of them tell an error as well as thousands would.

MOST = 256
# Sums over partners: a unit has the partners of all its chains.
_SUMMED = ("step_pairs", "endless_pairs")


class Units:
    """Accumulate the sums of more and more chains, measured at one scale.

    Chain i goes to unit i modulo `most`. Chains that were partners in a block are neighbours, so
    they never meet in a unit.
    """

    def __init__(self, most: int = MOST) -> None:
        self.chains, self._most = 0, most
        self._last: Any = None
        self._sums: dict[str, dict[str, np.ndarray]] = {}
        self._partners = np.zeros(0, int)

    def add(self, found: PoolSums) -> None:
        """Take the next chains in, no more than there are units."""
        count = len(found.partners)
        assert count <= self._most, "chains of one pool would meet in a unit"
        units = (self.chains + np.arange(count)) % self._most
        for name, own in found.objectives.items():
            sums = self._sums.setdefault(name, {})
            for field, array in own._asdict().items():
                sums[field] = _added(sums.get(field), array, units, CHAIN_AXES[field])
        self._partners = _added(self._partners, found.partners, units, 0)
        self.chains, self._last = self.chains + count, found

    @property
    def sums(self) -> PoolSums:
        """Return the sums of all chains so far, by unit."""
        sizes = np.bincount(np.arange(self.chains) % self._most)
        objectives = {name: _means(sums, sizes) for name, sums in self._sums.items()}
        return self._last._replace(objectives=objectives, partners=self._partners)


def _added(
    sums: np.ndarray | None, array: np.ndarray, units: Int[np.ndarray, " n"], axis: int
) -> np.ndarray:
    """The units' sums with another row of chains; units that are new begin with it."""
    if sums is None:
        return array
    missing = max(0, int(units.max()) + 1 - sums.shape[axis])
    wider = [(0, missing if place == axis else 0) for place in range(sums.ndim)]
    grown = np.pad(sums, wider)
    np.moveaxis(grown, axis, 0)[units] += np.moveaxis(array, axis, 0)
    return grown


def _means(sums: dict[str, np.ndarray], sizes: Int[np.ndarray, " units"]) -> ChainSums:
    if sizes.max() == 1:
        return ChainSums(**sums)
    fields = {}
    for name, total in sums.items():
        axis = CHAIN_AXES[name]
        shape = [-1 if place == axis else 1 for place in range(total.ndim)]
        by = 1 if name in _SUMMED else sizes.reshape(shape).astype(total.dtype)
        fields[name] = total / by
    return ChainSums(**fields)


# The phase's part of the variance: what all chains of a synchronised pool do at the same update.
#
# Envs that all start at a reset go through an episode together for a while, so an update's mean
# gradient depends on where in the episode it falls. That part is common to all envs, and no number
# of envs averages it away.


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
