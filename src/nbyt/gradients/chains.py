"""The chains of a frozen policy: collected round by round, kept as sums, and their products.

Nothing after this file sees a gradient: the statistics get inner products of chains.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from nbyt.collect import Progress
from nbyt.collect.pool import Pool
from nbyt.collect.segment import PoolPlan
from nbyt.gradients.engines import Engine
from nbyt.gradients.reduce import CHAIN_AXES, ChainSums, PoolSums, reduce_pool, slabs
from nbyt.gradients.spec import (
    AdvantageScale,
    GradientSpec,
    SlabPlan,
    reference_advantages,
    scale_of,
)
from nbyt.stats.lags import LagProducts, PhaseProducts
from nbyt.stats.pool import OBJECTIVES, LayoutProducts, PoolProducts
from nbyt.stats.products import Products, side_by_side

# What is under way, how much of it is done, and how much there is.
Collect = Callable[[PoolPlan, Callable[[int, int], None]], Pool]

# The statistics compare all chains with all, so many chains are kept as this many units at most.
MOST = 256
# Sums over partners: a unit has the partners of all its chains.
_SUMMED = ("step_pairs", "endless_pairs")
_PHASE_CHAINS = 64


@dataclass
class Chains:
    """The chains of one frozen policy so far.

    pool: what a round collects. reward_unit: what the pools' rewards are multiplied with to be
    the env's own. limit_weight: the mean weight of the critic's value at time limits in the
    reference.
    """

    engine: Engine
    collect: Collect
    pool: PoolPlan
    spec: GradientSpec
    plan: SlabPlan
    progress: Progress
    reward_unit: float = 1.0
    passes_time_limits: bool = True
    rounds: int = 0
    limit_weight: float = 0.0
    _scale: AdvantageScale | None = None
    _units: "Units" = field(default_factory=lambda: Units())
    # As many chains at random phases, which give the reference where the others begin at a reset.
    _stationary: "Units" = field(default_factory=lambda: Units())
    _critic: list[np.ndarray] = field(default_factory=list)
    _returns: list[np.ndarray] = field(default_factory=list)

    @property
    def sums(self) -> PoolSums:
        return self._units.sums

    def add(self) -> None:
        """Collect and reduce another round of chains."""
        spec = self.spec
        pool = self._collect("chains", self._round(synchronised=spec.first_only))
        self._scale = self._scale or scale_of(pool, spec)
        self._accumulate(self._units, pool, spec, self._scale)
        if spec.first_only:
            pool = self._collect("chains", self._round(synchronised=False))
            whole = replace(spec, steps=(1,), first_only=False)
            self._accumulate(self._stationary, pool, whole, scale_of(pool, whole))
        self._critic.append(critic_sums(pool, spec.gamma, spec.measured))
        self._returns.append(return_sums(pool, self.reward_unit))
        if not self.passes_time_limits:
            self.limit_weight = limit_weight(pool, spec.gamma)
        self.rounds += 1

    def layout_products(self) -> LayoutProducts:
        sums, spec = self.sums, self.spec
        stationary = self._stationary.sums if self._stationary.chains else None
        found: LayoutProducts = {}
        for objective in OBJECTIVES:
            for k, steps in enumerate(spec.steps):
                for m, lam in enumerate(spec.lambdas):
                    unit = _unit(objective, spec, float(sums.scale.spread[k, m]))
                    products = products_of(sums, spec, objective, k, m, stationary)
                    found[objective, steps, lam] = replace(products, unit=unit)
        return found

    def products(self, *, phase: bool) -> PoolProducts:
        """Return all that the statistics need; phase: also of a synchronised pool."""
        sums = self.sums
        lags = {
            name: LagProducts(
                np.array(sums.lags, int),
                own.lags,
                own.endless_square,
                endless_gram(own),
                own.endless_pairs,
                sums.partners,
            )
            for name, own in sums.objectives.items()
        }
        return PoolProducts(
            self.spec.steps,
            self.spec.lambdas,
            self.layout_products(),
            lags,
            self._phase() if phase else {},
            np.concatenate(self._critic, axis=1),
            np.concatenate(self._returns, axis=1),
        )

    def _phase(self) -> dict[str, dict[int, PhaseProducts]]:
        """Return products of a synchronised pool's chains at the same update, by objective and T.

        Empty if a chain does not fit in memory.
        """
        spec = replace(self.spec, first_only=False, lambdas=self.spec.lambdas[:1])
        if self.plan.steps < spec.measured:
            return {}
        steps = self.pool.steps - self.pool.ahead
        plan = self._round(synchronised=True)._replace(chains=_PHASE_CHAINS, steps=steps, ahead=0)
        pool = self._collect("phase chains", plan)
        scale = self.sums.scale
        first = scale._replace(mean=scale.mean[:, :1], spread=scale.spread[:, :1])
        done = partial(self._say, "phase gradients", 0, pool.chains)
        sums = self._reduce(pool, spec, first, done)
        by_place = phase_products(self.engine, pool, sums, spec, self.plan)
        phase = {
            name: {spec.steps[k]: products for (k, _), products in own.items()}
            for name, own in by_place.items()
        }
        if "total" not in phase:
            phase["total"] = {
                length: actor.plus(phase["critic"][length], spec.value_coefficient**2)
                for length, actor in phase["actor"].items()
            }
        return phase

    def _round(self, *, synchronised: bool) -> PoolPlan:
        return self.pool._replace(synchronised=synchronised, round=self.rounds)

    def _collect(self, what: str, plan: PoolPlan) -> Pool:
        return self.collect(plan, lambda done, total: self.progress(what, done, total))

    def _accumulate(
        self, units: "Units", pool: Pool, spec: GradientSpec, scale: AdvantageScale
    ) -> None:
        """Reduce a pool, no more chains at a time than there are units."""
        for first in range(0, pool.chains, MOST):
            some = Pool(*(array[:, first : first + MOST] for array in pool))
            done = partial(self._say, "gradients", first, pool.chains)
            units.add(self._reduce(some, spec, scale, done))

    def _reduce(
        self,
        pool: Pool,
        spec: GradientSpec,
        scale: AdvantageScale,
        progress: Callable[[int, int], None],
    ) -> PoolSums:
        return reduce_pool(self.engine, pool, spec, self.plan, scale, progress)

    def _say(self, what: str, before: int, total: int, done: int, _part: int) -> None:
        self.progress(what, before + done, total)


def limit_weight(pool: Pool, gamma: float) -> float:
    """Return the mean weight gamma^k in the reference of the critic's value at a time limit.

    k: steps until the limit.
    """
    weight, later = np.zeros(pool.chains), []
    for truncated, terminated in zip(pool.truncated[::-1], pool.terminated[::-1], strict=True):
        weight = np.where(truncated, 1.0, np.where(terminated, 0.0, weight)) * gamma
        later.append(weight)
    return float(np.mean(later))


def critic_sums(pool: Pool, gamma: float, measured: int) -> Float[np.ndarray, "4 n"]:
    """Return each chain's means of return, its square, the critic's error, and its square."""
    error = reference_advantages(pool, gamma)[:measured]
    target = error + pool.value[:measured]
    return np.stack([x.mean(axis=0) for x in (target, target**2, error, error**2)])


def return_sums(pool: Pool, reward_unit: float) -> Float[np.ndarray, "2 n"]:
    """Return each chain's reward and ended episodes per step, in the env's own rewards."""
    ended = pool.terminated | pool.truncated
    return np.stack([pool.reward.mean(axis=0) * reward_unit, ended.mean(axis=0)])


def _unit(objective: str, spec: GradientSpec, spread: float) -> float | None:
    """Return what the reference is divided by at one T: normalising changes the actor's only."""
    if not spec.normalise or objective == "critic":
        return 1.0
    return spread if objective == "actor" else None


def products_of(
    sums: PoolSums,
    spec: GradientSpec,
    objective: str,
    k: int,
    m: int,
    stationary: PoolSums | None = None,
) -> Products:
    """Return products of one objective at the k-th T and m-th lambda.

    stationary: the sums of chains at random phases, where `sums` is of chains that begin at a
    reset; the reference is then theirs.
    """
    if objective == "total" and not spec.joined:
        actor = products_of(sums, spec, "actor", k, m, stationary)
        critic = products_of(sums, spec, "critic", k, m, stationary)
        return side_by_side(actor, critic, spec.value_coefficient)
    own, spread = sums.objectives[objective], float(sums.scale.spread[k, m])
    means = own.vectors[:, k, m].astype(float)
    home = own if stationary is None else stationary.objectives[objective]
    reference = means if spec.bare else _reference(home.whole[:, 1:], spread)
    products = Products(
        spec.steps[k],
        own.square[k, m][None],
        own.step_square[k, m][None],
        own.step_pairs[k, m][None],
        sums.partners,
        _gram(means, means),
        _gram(means, reference),
        _gram(reference, reference),
    )
    if stationary is None:
        return products
    here = _reference(own.vectors[:, k, len(spec.lambdas) :], spread)
    advantage, phase = means - here, here - reference
    return replace(
        products, advantage_part=_gram(advantage, advantage), phase_part=_gram(phase, phase)
    )


def endless_gram(own: ChainSums) -> Float[np.ndarray, "n n"]:
    """Return inner products of the chains' mean contributions with uncut advantages."""
    mean = own.whole[:, 0].astype(float)
    return _gram(mean, mean).mean(axis=0)


def _reference(summands: np.ndarray, spread: float) -> Float[np.ndarray, "G n m"]:
    return summands[:, 0].astype(float) / spread + summands[:, 1]


def _gram(a: np.ndarray, b: np.ndarray) -> Float[np.ndarray, "G n n"]:
    return a @ b.swapaxes(-1, -2)


class Units:
    """Accumulate the sums of more and more chains, measured at one scale, as fewer units.

    A unit is the mean of a few chains. Units are as independent of each other as chains are, and a
    few hundred of them show an error as well as thousands would. Chain i goes to unit i modulo
    `most`. Chains that were partners in a block are neighbours, so they never meet in a unit.
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
            for kind, array in own._asdict().items():
                sums[kind] = _added(sums.get(kind), array, units, CHAIN_AXES[kind])
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
    """Add another row of chains to the units' sums; new units begin with it."""
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


def phase_products(
    engine: Engine, pool: Pool, sums: PoolSums, spec: GradientSpec, plan: SlabPlan
) -> dict[str, dict[tuple[int, int], PhaseProducts]]:
    """Return products between chains at the same update, by objective and places of T and lambda.

    Envs that all start at a reset go through an episode together for a while, so an update's mean
    gradient depends on where in the episode it falls. No number of envs averages that away.

    sums: of the same, synchronised pool; a slab must hold its whole length. Where
    the pool holds a single update of T steps there is nothing to compare and no entry.
    """
    blocks = list(plan.blocks(pool.chains))
    norms: dict[str, list[np.ndarray]] = {}
    for chains in blocks:
        for _, slab in slabs(pool, spec, sums.scale, plan, chains):
            for name, value in engine.batch_norm_sq(slab, spec.steps).items():
                norms.setdefault(name, []).append(value)
    return {
        name: {
            (k, m): _compared(own, np.stack(norms[name])[:, k, m], blocks, spec, k, m)
            for k, steps in enumerate(spec.steps)
            for m in range(len(spec.lambdas))
            if spec.fragments(steps) > 1
        }
        for name, own in sums.objectives.items()
    }


def _compared(
    own: ChainSums,
    norms_sq: Float[np.ndarray, " blocks"],
    blocks: list[slice],
    spec: GradientSpec,
    k: int,
    m: int,
) -> PhaseProducts:
    """Average products of different chains: at the same update, and of their means."""
    steps = spec.steps[k]
    within, overall = [], []
    for square, chains in zip(norms_sq, blocks, strict=True):
        size = chains.stop - chains.start
        pairs = size * (size - 1)
        alone = own.square[k, m, chains].sum()
        within.append((square / (spec.fragments(steps) * steps**2) - alone) / pairs)
        means = own.vectors[:, k, m, chains].astype(float)
        together = np.sum(means.sum(axis=1) ** 2) - np.sum(means**2)
        overall.append(together / len(means) / pairs)
    return PhaseProducts(np.array(within)[:, None], np.array(overall))
