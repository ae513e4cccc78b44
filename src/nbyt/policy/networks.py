"""Networks as data and pure functions: an MLP, a CNN, a table.

Written out in plain JAX: measuring a gradient needs every layer's inputs and signals, and a list
of layers shows them without hooks.
"""

import re
from dataclasses import dataclass
from math import prod
from typing import Any

import jax
import jax.numpy as jnp

from nbyt.errors import UsageError
from nbyt.rng import stream

Layers = list[dict[str, jax.Array]]

ACTIVATIONS = {"tanh": jnp.tanh, "relu": jax.nn.relu, "swish": jax.nn.swish}
_RECURRENT = ("lstm", "gru", "rnn", "recurrent", "transformer", "attention")
_GAIN = 2**0.5

# (channels, kernel, stride) of each convolution, and the width of the dense layer behind them.
_SMALL_IMAGE = ((16, 3, 1),), 128
_LARGE_IMAGE = ((32, 8, 4), (64, 4, 2), (64, 3, 1)), 512
_LARGE_FROM = 36


@dataclass(frozen=True)
class Network:
    """What kind of network, how wide, with which activation."""

    kind: str
    widths: tuple[int, ...] = (64, 64)
    activation: str = "tanh"


def parse_network(text: str, activation: str = "tanh") -> Network:
    """The network that a user means by "64x64", "256", "cnn", "table" or "auto"."""
    word = text.strip().lower()
    if activation not in ACTIVATIONS:
        raise UsageError(
            f"unknown activation '{activation}'",
            where="activation",
            fix=f"one of: {', '.join(ACTIVATIONS)}",
        )
    if any(name in word for name in _RECURRENT):
        raise UsageError(
            f"recurrent policies ('{text}') are not supported: mini-batches are shuffled over "
            "single steps, which a hidden state does not survive",
            where="network",
            fix="use an MLP such as 64x64, or stack frames in the env and use cnn",
        )
    if word in ("auto", "cnn", "table"):
        return Network(word, activation=activation)
    if re.fullmatch(r"[1-9]\d{0,5}(x[1-9]\d{0,5}){0,9}", word):
        return Network("mlp", tuple(int(width) for width in word.split("x")), activation)
    raise UsageError(
        f"unknown network '{text}'",
        where="network",
        fix="give layer widths such as 64x64, or one of: auto, cnn, table",
    )


def dense(key: jax.Array, inputs: int, outputs: int, gain: float = _GAIN) -> dict[str, jax.Array]:
    """Parameters of a dense layer: orthogonal weights [inputs, outputs], zero bias."""
    return {"w": _orthogonal(gain)(key, (inputs, outputs)), "b": jnp.zeros(outputs)}


def head(key: jax.Array, inputs: int, outputs: int, gain: float) -> dict[str, jax.Array]:
    """Parameters of an output layer, its weights stored [outputs, inputs].

    The gradient of narrow weights is then a short-by-long product, which XLA does six times
    faster on CPU than the long-by-short one.
    """
    return {"w": _orthogonal(gain)(key, (inputs, outputs)).T, "b": jnp.zeros(outputs)}


def apply_head(layer: dict[str, jax.Array], features: jax.Array) -> jax.Array:
    """Outputs of `head` for features [..., inputs]."""
    return features @ layer["w"].T + layer["b"]


def init_torso(network: Network, key: jax.Array, shape: tuple[int, ...]) -> Layers:
    """Layers of everything before the output layer, for encoded observations of `shape`."""
    layers: Layers = []
    width, widths = prod(shape), network.widths
    if network.kind == "cnn":
        convolutions, dense_width = _image_layers(shape)
        layers, width = _init_convolutions(convolutions, key, shape)
        widths = (dense_width,)
    for place, outputs in enumerate(widths):
        layers.append(dense(stream(key, "dense", place), width, outputs))
        width = outputs
    return layers


def apply_torso(network: Network, layers: Layers, inputs: jax.Array, shape: tuple[int, ...]) -> Any:
    """Features [..., width] of encoded observations [..., *shape]."""
    activation = ACTIVATIONS[network.activation]
    if network.kind != "cnn":
        return _apply_dense(layers, inputs, activation)
    convolutions, _ = _image_layers(shape)
    images = inputs.reshape(-1, *shape)
    for layer, (_, _, stride) in zip(layers, convolutions, strict=False):
        images = jax.nn.relu(_convolve(images, layer["w"], stride) + layer["b"])
    flat = images.reshape(*inputs.shape[: inputs.ndim - len(shape)], -1)
    return _apply_dense(layers[len(convolutions) :], flat, jax.nn.relu)


def _apply_dense(layers: Layers, inputs: jax.Array, activation: Any) -> jax.Array:
    for layer in layers:
        inputs = activation(inputs @ layer["w"] + layer["b"])
    return inputs


def _image_layers(shape: tuple[int, ...]) -> tuple[tuple[tuple[int, int, int], ...], int]:
    return _LARGE_IMAGE if min(shape[:2]) >= _LARGE_FROM else _SMALL_IMAGE


def _init_convolutions(
    convolutions: tuple[tuple[int, int, int], ...], key: jax.Array, shape: tuple[int, ...]
) -> tuple[Layers, int]:
    layers: Layers = []
    height, width, channels = shape
    for place, (outputs, kernel, stride) in enumerate(convolutions):
        weights = _orthogonal(_GAIN)(
            stream(key, "convolution", place), (kernel, kernel, channels, outputs)
        )
        layers.append({"w": weights, "b": jnp.zeros(outputs)})
        height, width = (height - kernel) // stride + 1, (width - kernel) // stride + 1
        channels = outputs
    return layers, height * width * channels


def _convolve(images: jax.Array, weights: jax.Array, stride: int) -> jax.Array:
    return jax.lax.conv_general_dilated(
        images, weights, (stride, stride), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def _orthogonal(gain: float) -> Any:
    return jax.nn.initializers.orthogonal(gain)
