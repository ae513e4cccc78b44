"""The JAX engine: a pool in, sums for the statistics out, in slabs that fit in memory."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from nbyt.collect.pool import Pool
from nbyt.gradients.digest import Slab, digest, lag_rows
from nbyt.gradients.plan import Plan, one_row
from nbyt.gradients.sketch import Sketch
from nbyt.gradients.weights import Aim, Parts, Scale, objective_parts, scale_of, weigh
from nbyt.policy.actor_critic import ActorCritic, Params

Progress = Callable[[int, int], None]


class Gathered(NamedTuple):
    """One objective's sums over a pool, chain by chain, as NumPy arrays.

    vectors: mean contributions S_n at each T and lambda, sketched in G groups where G > 1.
    whole: means of the endless chain's contributions, and of the reference's two summands.
    square: mean squared norm of fragments. step_square, step_pairs, lags: means over steps;
    endless_: those of the endless chain.
    """

    vectors: Float[np.ndarray, "G K M n m"]
    whole: Float[np.ndarray, "G 3 n m"]
    square: Float[np.ndarray, "K M n"]
    step_square: Float[np.ndarray, "K M n"]
    step_pairs: Float[np.ndarray, "K M n"]
    endless_square: Float[np.ndarray, " n"]
    endless_pairs: Float[np.ndarray, " n"]
    lags: Float[np.ndarray, "lags n"]


CHAIN_AXES = dict(zip(Gathered._fields, (3, 2, 2, 2, 2, 0, 0, 1), strict=True))
"""Where the chains are in each field."""


class Harvest(NamedTuple):
    """All objectives' sums, the scale of the advantages, and each chain's partners."""

    objectives: dict[str, Gathered]
    scale: Scale
    partners: Int[np.ndarray, " n"]
    lags: tuple[int, ...]


def harvest(
    policy: ActorCritic,
    params: Params,
    pool: Pool,
    aim: Aim,
    plan: Plan,
    scale: Scale | None = None,
    progress: Progress = lambda done, total: None,
) -> Harvest:
    """Everything that the statistics need of a pool; `scale` is the pool's own unless given."""
    scale = scale_of(pool, aim) if scale is None else scale
    blocks: list[dict[str, Gathered]] = []
    partners: list[int] = []
    for chains in plan.blocks(pool.chains):
        blocks.append(_block(policy, params, pool, aim, scale, plan, chains))
        size = chains.stop - chains.start
        partners += [size - 1] * size
        progress(chains.stop, pool.chains)
    joined = {name: _beside([block[name] for block in blocks]) for name in blocks[0]}
    return Harvest(joined, scale, np.array(partners), plan.lags)


def _beside(some: list[Gathered]) -> Gathered:
    """The sums of several sets of chains as those of one."""
    fields = zip(zip(*some, strict=True), CHAIN_AXES.values(), strict=True)
    return Gathered(*(np.concatenate(parts, axis) for parts, axis in fields))


def program_bytes(policy: ActorCritic, params: Params, aim: Aim, plan: Plan) -> int:
    """Memory of the compiled program with its arguments and results."""
    rows = (plan.chains, plan.steps)
    observation, action = (
        jax.ShapeDtypeStruct((*rows, *x.shape[1:]), x.dtype) for x in one_row(policy, params)
    )
    sets = len(aim.lambdas) + (2 if aim.first_only else 0)
    names = objective_parts(aim)
    fragment, whole = (
        {
            name: {part: jax.ShapeDtypeStruct((*shape, *rows), jnp.float32) for part in parts}
            for name, parts in names.items()
        }
        for shape in ((len(aim.steps), sets), (3,))
    )
    slab: Any = Slab(observation, action, fragment, whole)  # type: ignore[arg-type]
    program = digest.lower(policy, params, slab, aim.steps, plan.lags).compile()
    needs: Any = program.memory_analysis()
    return int(needs.temp_size_in_bytes + needs.argument_size_in_bytes + needs.output_size_in_bytes)


def slabs(
    pool: Pool, aim: Aim, scale: Scale, plan: Plan, chains: slice
) -> Iterator[tuple[int, Slab]]:
    """A block's slabs in order of time, each with the step at which it ends."""
    fragment, whole = (_padded(w, plan.chains) for w in weigh(pool, aim, scale, chains))
    for first in range(0, aim.measured, plan.steps):
        time = slice(first, first + plan.steps)
        parts = jax.tree.map(lambda w, time=time: w[..., time], (fragment, whole))
        observation = _rows(pool.observation, time, chains, plan.chains)
        action = _rows(pool.action, time, chains, plan.chains)
        yield time.stop, Slab(observation, action, *parts)


def _block(
    policy: ActorCritic,
    params: Params,
    pool: Pool,
    aim: Aim,
    scale: Scale,
    plan: Plan,
    chains: slice,
) -> dict[str, Gathered]:
    """Sums of one block of chains, slab after slab in time."""
    sums: dict[str, _Sums] = {}
    for end, slab in slabs(pool, aim, scale, plan, chains):
        digested = jax.device_get(digest(policy, params, slab, aim.steps, plan.lags))
        for name, found in digested.items():
            sums.setdefault(name, _Sums(aim, plan)).add(found, end)
    size = chains.stop - chains.start
    return {name: one.gathered(size) for name, one in sums.items()}


class _Sums:
    """Adds up the digests of a block's slabs; longer fragments grow from slab to slab."""

    def __init__(self, aim: Aim, plan: Plan) -> None:
        self._aim, self._plan = aim, plan
        self._total: Any = None
        self._growing: dict[int, np.ndarray] = {}

    def add(self, found: Any, end: int) -> None:
        """The digest of one more slab, which ends at step `end` of the chains."""
        square = np.array(found.square)
        for place, length in enumerate(self._aim.steps):
            if length <= self._plan.steps:
                continue
            grown = found.vectors[place] + self._growing.get(place, 0.0)
            if end % length == 0:
                square[place] = np.sum(grown**2, axis=-1)
                grown = np.zeros_like(grown)
            self._growing[place] = grown
        found = found._replace(square=square)
        self._total = found if self._total is None else jax.tree.map(np.add, self._total, found)

    def gathered(self, chains: int) -> Gathered:
        """Means over the steps and fragments that count, of the first `chains` chains."""
        aim, total = self._aim, self._total
        fragments = np.array([aim.fragments(steps) for steps in aim.steps], float)[:, None, None]
        length = np.array(aim.steps, float)[:, None, None]
        rows = fragments * length
        slabs = aim.measured // self._plan.steps
        pairs = np.array([[slabs * lag_rows(self._plan.steps, lag)] for lag in self._plan.lags])
        return Gathered(
            self._short(total.vectors[:, :, :chains] / rows[..., None].astype(np.float32)),
            self._short(total.whole[:, :chains] / np.float32(aim.measured)),
            total.square[:, :, :chains] / (rows * length),
            total.step_square[:, :, :chains] / rows,
            total.step_pairs[:, :, :chains] / rows,
            total.endless_square[:chains] / aim.measured,
            total.endless_pairs[:chains] / aim.measured,
            total.lags[:, :chains] / pairs.reshape(-1, 1),
        )

    def _short(self, vectors: np.ndarray) -> np.ndarray:
        """The vectors as they are, or their sketches, group first."""
        if not self._plan.places:
            return vectors[None]
        return Sketch(vectors.shape[-1], self._plan.places, self._plan.seed)(vectors)


def _rows(array: np.ndarray, time: slice, chains: slice, size: int) -> jax.Array:
    """Rows of a block's chains, chain first; repeats fill the block up and weigh nothing."""
    some = np.arange(chains.start, chains.stop)
    return jnp.asarray(np.swapaxes(array[time, chains][:, np.resize(some, size) - some[0]], 0, 1))


def _padded(parts: Parts, size: int) -> Parts:
    def pad(weights: np.ndarray) -> np.ndarray:
        missing = size - weights.shape[-2]
        return np.pad(weights, [(0, 0)] * (weights.ndim - 2) + [(0, missing), (0, 0)])

    return jax.tree.map(pad, parts)
