"""Pools of a case: the inner products of their chains, made as `nbyt.probe` makes them.

A pool's products are kept in a file. They are all that the statistics see, so when only the
statistics change, the gate can be run again without drawing anything.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.calibration.cases import Case
from benchmarks.calibration.sampler import Sampler, split
from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.gradients.chains import critic_sums, endless_gram, phase_products, products_of
from nbyt.gradients.engines.own import StageEngine
from nbyt.gradients.reduce import PoolSums, reduce_pool
from nbyt.gradients.spec import GradientSpec, SlabPlan, plan_for
from nbyt.rng import numpy_stream, seeds
from nbyt.stats.lags import LagProducts, PhaseProducts
from nbyt.stats.products import Products

# As in nbyt.measure.request.
_MEMORY = 2**30
_PHASE_CHAINS = 64
# Pools that are drawn at once where nbyt does not collect them.
_LOT = 8
_GRAMS = ("means", "cross", "reference", "advantage_part", "phase_part")
_ROWS = ("square", "step_square", "step_pairs")
_LAGS = ("lags", "within", "square", "means", "step_pairs")


@dataclass(frozen=True, eq=False)
class Pooled:
    """What one pool has to say: by gradient and place of T, by gradient, and of the critic.

    spread: of the pool's own advantages at each T, 1 where they are raw.
    """

    products: dict[tuple[str, int], Products]
    lags: dict[str, LagProducts]
    phase: dict[tuple[str, int], PhaseProducts]
    critic: np.ndarray
    spread: np.ndarray


class Drawer:
    """Draws pools of one case; what does not depend on the seed is worked out once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.control = case.control
        self.request = case.request(0)
        self.policy, self.params = self.control.stage.policy, self.control.stage.params
        self.engine = StageEngine(self.policy, self.params)
        self._lot: tuple[int, list[Pool]] = (-1, [])

    @cached_property
    def spec(self) -> GradientSpec:
        """What is asked of the chains, as a probe asks it."""
        request = self.request
        return GradientSpec(
            request.steps,
            request.lambdas,
            request.chain_steps,
            request.gamma,
            request.normalise,
            request.value_coefficient,
            request.entropy_coefficient,
            joined=self.policy.shared or request.entropy_coefficient > 0,
            first_only=request.start == "reset",
        )

    @cached_property
    def plan(self) -> SlabPlan:
        """How the chains are cut to fit in memory."""
        return plan_for(self.engine.footprint(self.spec), self.case.chains, self.spec, _MEMORY)

    def draw(self, place: int) -> Pooled:
        """The pool at this place of the case's endless row of pools."""
        role = f"calibration.{self.case.name}"
        seed = seeds(0, role, place + 1)[place]
        if self.case.collected:
            return self.measure(seed, self.collect(seed, synchronised=self.spec.first_only))
        lot, turn = divmod(place, _LOT)
        if self._lot[0] != lot:
            steps = self.request.chain_steps + self.request.ahead
            chains = self.request.chains
            drawn = self._sampler.draw(numpy_stream(0, role, lot), _LOT * chains, steps)
            self._lot = lot, split(drawn, chains)
        return self.measure(seed, self._lot[1][turn])

    def measure(self, seed: int, pool: Pool) -> Pooled:
        """The products of a pool; `seed` is for what is collected besides."""
        spec = self.spec
        found, settled = self._harvest(pool, spec), None
        if spec.first_only:
            pool = self.collect(seed, synchronised=False)
            settled = self._harvest(pool, replace(spec, steps=(1,), first_only=False))
        return Pooled(
            {
                (name, k): products_of(found, spec, name, k, 0, settled)
                for name in found.objectives
                for k in range(len(spec.steps))
            },
            {} if spec.first_only else self._lags(found),
            self._phase(seed, found) if self.case.phase else {},
            critic_sums(pool, spec.gamma, spec.measured),
            found.scale.spread[:, 0],
        )

    def collect(self, seed: int, *, synchronised: bool) -> Pool:
        """A pool by nbyt's own collection."""
        request = self.request
        steps = request.chain_steps + request.ahead
        plan = PoolPlan(
            request.chains, steps, request.ahead, request.gamma, seed, synchronised=synchronised
        )
        return self._collect(plan)

    def _collect(self, plan: PoolPlan) -> Pool:
        return collect_pool(self.control.env, self.policy, self.params, plan)

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.control)

    def _harvest(self, pool: Pool, spec: GradientSpec) -> PoolSums:
        return reduce_pool(self.engine, pool, spec, self.plan)

    def _lags(self, found: PoolSums) -> dict[str, LagProducts]:
        return {
            name: LagProducts(
                np.array(found.lags, int),
                own.lags,
                own.endless_square,
                endless_gram(own),
                own.endless_pairs,
                found.partners,
            )
            for name, own in found.objectives.items()
        }

    def _phase(self, seed: int, found: PoolSums) -> dict[tuple[str, int], PhaseProducts]:
        request = self.request
        wanted = PoolPlan(
            _PHASE_CHAINS, request.chain_steps, 0, request.gamma, seed, synchronised=True, round=1
        )
        pool = self._collect(wanted)
        own = reduce_pool(self.engine, pool, self.spec, self.plan, found.scale)
        made = phase_products(self.engine, pool, own, self.spec, self.plan)
        return {(name, k): part for name, one in made.items() for (k, _), part in one.items()}


def save(file: Path, pooled: Pooled) -> None:
    """Write a pool's products, matrices in single precision."""
    arrays: dict[str, np.ndarray] = {"critic": pooled.critic, "spread": pooled.spread}
    for (name, k), own in pooled.products.items():
        arrays["partners"] = own.partners
        for field in _ROWS:
            arrays[f"{field}|{name}|{k}"] = getattr(own, field)
        for field in _GRAMS:
            gram = getattr(own, field)
            first = arrays.get(f"{field}|{name}|0")
            if gram is not None and (first is None or not np.array_equal(first, _single(gram))):
                arrays[f"{field}|{name}|{k}"] = _single(gram)
    for name, lags in pooled.lags.items():
        for field in _LAGS:
            arrays[f"lags.{field}|{name}"] = getattr(lags, field)
    for (name, k), phase in pooled.phase.items():
        arrays[f"phase.pairs|{name}|{k}"] = phase.pairs
        arrays[f"phase.overall|{name}|{k}"] = phase.overall
    file.parent.mkdir(parents=True, exist_ok=True)
    rough = file.with_suffix(".tmp")
    with rough.open("wb") as target:
        np.savez(target, **arrays)
    rough.rename(file)


def load(file: Path, case: Case) -> Pooled:
    """What `save` has written."""
    with np.load(file, allow_pickle=False) as stored:
        arrays = dict(stored)
    names = [name for name in ("actor", "critic", "total") if f"square|{name}|0" in arrays]
    places = range(len(case.steps))
    return Pooled(
        {(name, k): _products(arrays, name, k, case.steps[k]) for name in names for k in places},
        {
            name: LagProducts(
                **{field: arrays[f"lags.{field}|{name}"] for field in _LAGS},
                partners=arrays["partners"],
            )
            for name in names
            if f"lags.square|{name}" in arrays
        },
        {
            (name, k): PhaseProducts(
                arrays[f"phase.pairs|{name}|{k}"], arrays[f"phase.overall|{name}|{k}"]
            )
            for name in names
            for k in places
            if f"phase.pairs|{name}|{k}" in arrays
        },
        arrays["critic"],
        arrays["spread"],
    )


def _products(arrays: dict[str, np.ndarray], name: str, k: int, steps: int) -> Products:
    rows = {field: arrays[f"{field}|{name}|{k}"] for field in _ROWS}
    grams = {}
    for field in _GRAMS:
        gram = arrays.get(f"{field}|{name}|{k}", arrays.get(f"{field}|{name}|0"))
        grams[field] = None if gram is None else gram.astype(float)
    return Products(steps=steps, partners=arrays["partners"], **rows, **grams)


def _single(gram: np.ndarray) -> np.ndarray:
    return np.asarray(gram, np.float32)
