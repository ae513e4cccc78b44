"""One compiled program: a slab of chains in, the sums that every statistic needs out.

A slab is c chains by t steps. All fragment lengths and all lambdas are served by one forward and
backward pass: their advantages are only other weights on the same layers.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from nbyt.gradients import products
from nbyt.gradients.products import Layer, layers
from nbyt.policy.actor_critic import ActorCritic, Params

# Every so many steps a lag's product is taken; neighbours would tell the same.
LAG_STRIDE = 4


# objective -> part -> weights, their last axes [c, t]
Weights = dict[str, dict[str, Any]]
Lengths = tuple[int, ...]


class Slab(NamedTuple):
    """c chains' t steps, and the weights of their contributions under every setting.

    fragment: objective -> part -> [K, M, c, t], K fragment lengths, M lambdas. whole: objective ->
    part -> [W, c, t], weights for sums over all steps; the first of them is the endless chain's.
    """

    observation: Shaped[np.ndarray, "c t ..."] | Shaped[Array, "c t ..."]
    action: Shaped[np.ndarray, "c t ..."] | Shaped[Array, "c t ..."]
    fragment: dict[str, dict[str, Float[Array, "K M c t"]]]
    whole: dict[str, dict[str, Float[Array, "W c t"]]]

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part for parts in self.fragment.values() for part in parts))


class SlabSums(NamedTuple):
    """Sums over a slab, for one objective.

    vectors: of contributions. square: of squared norms of the fragments that end in the slab (0
    for a length beyond the slab). step_square: of squared norms of steps. step_pairs: of products
    with the other chains at the same time; endless_: the same of the endless chain. lags: of
    products with the step so much later.
    """

    vectors: Float[Array, "K M c P"]
    whole: Float[Array, "W c P"]
    square: Float[Array, "K M c"]
    step_square: Float[Array, "K M c"]
    step_pairs: Float[Array, "K M c"]
    endless_square: Float[Array, " c"]
    endless_pairs: Float[Array, " c"]
    lags: Float[Array, "lags c"]


@partial(jax.jit, static_argnames=("policy", "steps", "lags"))
def sum_slab(
    policy: ActorCritic, params: Params, slab: Slab, steps: Lengths, lags: Lengths
) -> dict[str, SlabSums]:
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (slab.observation, slab.action))
    rows = layers(policy, params, flat[0], flat[1], slab.parts)
    return sum_slab_layers(rows, slab.fragment, slab.whole, steps, lags)


@partial(jax.jit, static_argnames=("steps", "lags"))
def sum_slab_layers(
    rows: list[Layer], fragment: Weights, whole: Weights, steps: Lengths, lags: Lengths
) -> dict[str, SlabSums]:
    """Sum a slab for each objective, from the layers of a slab's steps, chain after chain."""
    chains = next(iter(next(iter(fragment.values())).values())).shape[-2]
    grouped = products.grouped(rows, chains)
    return {
        objective: _objective(
            products.touched(grouped, tuple(parts)), parts, whole[objective], steps, lags
        )
        for objective, parts in fragment.items()
    }


def lag_rows(time: int, lag: int) -> int:
    """Return how many products a slab of `time` steps takes at a lag."""
    return -(-(time - lag) // LAG_STRIDE)


def _objective(
    rows: list[Layer],
    fragment: dict[str, jax.Array],
    whole: dict[str, jax.Array],
    steps: Lengths,
    lags: Lengths,
) -> SlabSums:
    time = rows[0].inputs.shape[1]
    cut = [place for place, length in enumerate(steps) if _is_cut(rows, length, time)]
    summed = _sums(rows, fragment, whole, [k for k in range(len(steps)) if k not in cut])
    vectors, squares = dict(summed[0]), {}
    for place, length in enumerate(steps):
        weights = {part: w[place] for part, w in fragment.items()}
        if place in cut:
            vectors[place], squares[place] = _fragments(rows, weights, length)
        elif length <= time:
            squares[place] = _gram_square(rows, weights, length)
        else:
            squares[place] = jnp.zeros(vectors[place].shape[:2])
    endless = {part: w[None, :1] for part, w in whole.items()}
    single = _single_steps(rows, fragment, endless)
    return SlabSums(
        jnp.stack([vectors[place] for place in range(len(steps))]),
        summed[1],
        jnp.stack([squares[place] for place in range(len(steps))]),
        *single,
        _lags(rows, {part: w[0] for part, w in whole.items()}, lags),
    )


def _is_cut(rows: list[Layer], length: int, time: int) -> bool:
    """Return whether fragments of this length are summed one by one."""
    return length <= time and not products.gram_is_cheaper(rows, length)


def _sums(
    rows: list[Layer],
    fragment: dict[str, jax.Array],
    whole: dict[str, jax.Array],
    places: list[int],
) -> tuple[dict[int, jax.Array], jax.Array]:
    """Sum over all steps for the given lengths and the `whole` weights, in one product."""
    some = next(iter(fragment.values()))
    lambdas, shape = some.shape[1], some.shape[2:]
    chosen = jnp.array(places, int)
    weights = {
        part: jnp.concatenate([w[chosen].reshape(-1, *shape), whole[part]])
        for part, w in fragment.items()
    }
    sums = products.many_sums(rows, weights)
    parts = {k: sums[i * lambdas : (i + 1) * lambdas] for i, k in enumerate(places)}
    return parts, sums[len(places) * lambdas :]


def _fragments(
    rows: list[Layer], weights: dict[str, Float[Array, "M c t"]], length: int
) -> tuple[Float[Array, "M c P"], Float[Array, "M c"]]:
    """Sum and sum of squares of the fragments of one length, written down one lambda at a time."""
    chains, time = rows[0].inputs.shape[:2]
    count = time // length
    cut = _refold(rows, count, length)

    def one(weights: dict[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        folded = {part: _fold(w, count, length) for part, w in weights.items()}
        sums = products.group_sums(cut, folded).reshape(chains, count, -1)
        return sums.sum(axis=1), jnp.sum(sums**2, axis=(1, 2))

    return jax.lax.map(one, weights)


def _gram_square(
    rows: list[Layer], weights: dict[str, Float[Array, "M c t"]], length: int
) -> Float[Array, "M c"]:
    """Sum of squared norms of short fragments, from the inner products of their steps."""
    chains, time = rows[0].inputs.shape[:2]
    count = time // length
    cut = _refold(rows, count, length)
    total = jnp.zeros(())
    for a, here in weights.items():
        for b, there in weights.items():
            left = here[..., : count * length].reshape(len(here), -1, length)
            right = there[..., : count * length].reshape(len(there), -1, length)
            grams = products.gram(cut, a, b)
            if grams.ndim:
                total = total + jnp.einsum("mbt,bts,mbs->mb", left, grams, right)
    return total.reshape(len(here), chains, count).sum(axis=-1)


def _single_steps(
    rows: list[Layer], fragment: dict[str, jax.Array], endless: dict[str, jax.Array]
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return squares and pairs of steps, under the fragments' weights and the endless chain's."""
    lengths, lambdas = next(iter(fragment.values())).shape[:2]
    flat = {part: w.reshape(1, -1, *w.shape[2:]) for part, w in fragment.items()}
    weights = {part: jnp.concatenate([w, endless[part]], axis=1) for part, w in flat.items()}
    square, pairs = _step_square(rows, weights)[0], _step_pairs(rows, weights)[0]
    shape = (lengths, lambdas, -1)
    return square[:-1].reshape(shape), pairs[:-1].reshape(shape), square[-1], pairs[-1]


def _step_square(
    rows: list[Layer], weights: dict[str, Float[Array, "K M c t"]]
) -> Float[Array, "K M c"]:
    total = jnp.zeros(())
    for a, here in weights.items():
        for b, there in weights.items():
            norms = products.paired(rows, rows, a, b)
            if norms.ndim:
                total = total + jnp.einsum("kmct,kmct,ct->kmc", here, there, norms)
    return total


def _step_pairs(
    rows: list[Layer], weights: dict[str, Float[Array, "K M c t"]]
) -> Float[Array, "K M c"]:
    """Sum products of each chain with the others at the same time."""
    across = jax.tree.map(lambda x: x.swapaxes(0, 1), rows)
    total = jnp.zeros(())
    for a, here in weights.items():
        for b, there in weights.items():
            grams = products.gram(across, a, b)
            if grams.ndim:
                others = grams * (1 - jnp.eye(grams.shape[-1]))
                total = total + jnp.einsum("kmct,tcd,kmdt->kmc", here, others, there)
    return total


def _lags(
    rows: list[Layer], weights: dict[str, Float[Array, "c t"]], lags: Lengths
) -> Float[Array, "lags c"]:
    chains, time = rows[0].inputs.shape[:2]
    found = []
    for lag in lags:
        early = jax.tree.map(lambda x, lag=lag: x[:, : time - lag : LAG_STRIDE], (rows, weights))
        late = jax.tree.map(lambda x, lag=lag: x[:, lag::LAG_STRIDE], (rows, weights))
        total = jnp.zeros(chains)
        for a in weights:
            for b in weights:
                product = products.paired(early[0], late[0], a, b)
                total = total + jnp.sum(early[1][a] * late[1][b] * product, axis=1)
        found.append(total)
    return jnp.stack(found) if found else jnp.zeros((0, chains))


def _refold(rows: list[Layer], count: int, length: int) -> list[Layer]:
    """Cut rows [c, t, ...] into fragments [c * count, length, ...]; drop the rest."""
    return jax.tree.map(lambda x: _fold(x, count, length), rows)


def _fold(x: jax.Array, count: int, length: int) -> jax.Array:
    return x[:, : count * length].reshape(-1, length, *x.shape[2:])
