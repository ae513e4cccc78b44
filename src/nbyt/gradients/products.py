"""Sums, norms and inner products of steps' gradients, from their layers alone.

Leading axes of a layer's arrays are rows of steps; here they are [B, t]: B groups of t steps.
"""

from collections.abc import Iterable
from functools import reduce

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from nbyt.gradients.layers import Layer

Weights = dict[str, Float[Array, "J B t"]]


def grouped(layers: list[Layer], groups: int) -> list[Layer]:
    """The layers with their R rows cut into groups, [B, t, Q, ...]."""
    return jax.tree.map(lambda x: x.reshape(groups, -1, *x.shape[1:]), layers)


def touched(layers: list[Layer], parts: tuple[str, ...] | list[str]) -> list[Layer]:
    """The layers that some of the parts reach, with the signals of those parts only."""
    kept = [
        Layer(layer.inputs, {part: s for part, s in layer.signals.items() if part in parts})
        for layer in layers
    ]
    return [layer for layer in kept if layer.signals]


def gram(layers: list[Layer], a: str, b: str) -> Float[Array, "B t t"]:
    """Inner products of part a's gradients with part b's, between all steps of a group."""
    total = jnp.zeros(())
    for layer in layers:
        if a not in layer.signals or b not in layer.signals:
            continue
        if _dense(layer):
            inputs = layer.inputs[..., 0, :]
            here, there = (layer.signals[part][..., 0, :] for part in (a, b))
            total = total + _outer(inputs, inputs) * _outer(here, there)
        else:
            total = total + _outer(_written_out(layer, a), _written_out(layer, b))
    return total


def paired(one: list[Layer], other: list[Layer], a: str, b: str) -> Float[Array, "B t"]:
    """Inner products of part a's gradient at each step of one with part b's there in the other."""
    total = jnp.zeros(())
    for x, y in zip(one, other, strict=True):
        if a not in x.signals or b not in y.signals:
            continue
        if _dense(x):
            inputs = jnp.sum(x.inputs * y.inputs, axis=(-1, -2))
            total = total + inputs * jnp.sum(x.signals[a] * y.signals[b], axis=(-1, -2))
        else:
            total = total + jnp.sum(_written_out(x, a) * _written_out(y, b), axis=-1)
    return total


def group_sums(layers: list[Layer], weights: dict[str, Float[Array, "B t"]]) -> Float[Array, "B P"]:
    """The weighted sum of each group's gradients."""
    sums = [
        jnp.einsum("btqi,btqo->bio", layer.inputs, _weighted(layer, weights)) for layer in layers
    ]
    return jnp.concatenate([s.reshape(s.shape[0], -1) for s in sums], axis=-1)


def many_sums(layers: list[Layer], weights: Weights) -> Float[Array, "J B P"]:
    """Each group's weighted sum under J sets of weights, group by group in one product."""
    sums = [jax.lax.map(_one_group, (layer, _for_layer(layer, weights))) for layer in layers]
    return jnp.concatenate([s.reshape(*s.shape[:2], -1) for s in sums], axis=-1).swapaxes(0, 1)


def size(layers: list[Layer]) -> int:
    """Parameters that the layers have."""
    return sum(layer.inputs.shape[-1] * _outputs(layer) for layer in layers)


def gram_is_cheaper(layers: list[Layer], steps: int) -> bool:
    """Whether inner products of T steps cost less than writing their summed gradient down."""
    dense = [layer for layer in layers if _dense(layer)]
    widths = sum(layer.inputs.shape[-1] + _outputs(layer) for layer in dense)
    return steps * widths <= size(dense)


def _one_group(group: tuple[Layer, Weights]) -> Float[Array, "J I O"]:
    """Sums of one group, [t, Q, ...]; the J weights' signals lie side by side in one matrix."""
    layer, weights = group
    signals = _added(
        weights[part].T[:, None, :, None] * layer.signals[part][:, :, None, :]
        for part in layer.signals
    )
    rows, width = signals.shape[0] * signals.shape[1], layer.inputs.shape[-1]
    product = layer.inputs.reshape(rows, width).T @ signals.reshape(rows, -1)
    return product.reshape(width, *signals.shape[2:]).swapaxes(0, 1)


def _for_layer(layer: Layer, weights: Weights) -> Weights:
    """The weights of the parts that reach a layer, group first."""
    return {part: weights[part].swapaxes(0, 1) for part in layer.signals}


def _weighted(layer: Layer, weights: dict[str, jax.Array]) -> Float[Array, "B t Q O"]:
    return _added(weights[part][..., None, None] * layer.signals[part] for part in layer.signals)


def _added(arrays: Iterable[jax.Array]) -> jax.Array:
    return reduce(jnp.add, arrays)


def _written_out(layer: Layer, part: str) -> Float[Array, "B t P"]:
    """The gradient of each step; a convolution has few weights and many positions."""
    gradient = jnp.einsum("btqi,btqo->btio", layer.inputs, layer.signals[part])
    return gradient.reshape(*gradient.shape[:2], -1)


def _outer(a: jax.Array, b: jax.Array) -> Float[Array, "B t t"]:
    return jnp.einsum("bti,bsi->bts", a, b)


def _dense(layer: Layer) -> bool:
    return layer.inputs.shape[-2] == 1


def _outputs(layer: Layer) -> int:
    return next(iter(layer.signals.values())).shape[-1]
