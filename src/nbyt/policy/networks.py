"""Networks as data and pure functions: an MLP, a CNN, a table.

Written out in plain JAX: measuring a gradient needs every layer's inputs and signals, and a list
of layers shows them without hooks.
"""

import re
import zlib
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nbyt.errors import UsageError

Layers = list[dict[str, jax.Array]]

ACTIVATIONS = {"tanh": jnp.tanh, "relu": jax.nn.relu, "swish": jax.nn.swish}
_RECURRENT = ("lstm", "gru", "rnn", "recurrent", "transformer", "attention")
_GAIN = 2**0.5

# (channels, kernel, stride) of each convolution, and the width of the dense layer behind them.
_SMALL_IMAGE = ((16, 3, 1),), 128
_LARGE_IMAGE = ((32, 8, 4), (64, 4, 2), (64, 3, 1)), 512
_LARGE_FROM = 36
_MOST_WEIGHTS = 2**27  # between layers: half a gigabyte, and four times that to train
SMALLEST_IMAGE = 3  # pixels on a side: the first kernel


@dataclass(frozen=True)
class Network:
    """Kind, widths and activation of a network."""

    kind: str
    widths: tuple[int, ...] = (64, 64)
    activation: str = "tanh"


def parse_network(text: str, activation: str = "tanh") -> Network:
    """Parse "64x64", "256", "cnn", "table" or "auto"."""
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
        widths = tuple(int(width) for width in word.split("x"))
        if sum(a * b for a, b in pairwise(widths)) <= _MOST_WEIGHTS:
            return Network("mlp", widths, activation)
        raise UsageError(
            f"network '{text}' has more than {_MOST_WEIGHTS:,} weights",
            where="network",
            fix="give narrower layers, such as 64x64",
        )
    raise UsageError(
        f"unknown network '{text}'",
        where="network",
        fix="give layer widths such as 64x64, or one of: auto, cnn, table",
    )


class Draws:
    """Orthogonal weights, found by role and index like every random number here.

    Drawn by NumPy: the same in JAX would compile a QR decomposition for each shape, for seconds.
    Without a key all weights are zero, which is all that a template of shapes needs.
    """

    def __init__(self, key: jax.Array | None) -> None:
        self._words = None if key is None else np.asarray(jax.random.key_data(key)).tolist()

    def orthogonal(self, role: str, index: int, shape: tuple[int, ...], gain: float) -> jax.Array:
        """Draw weights whose columns (or rows, if fewer) are orthogonal, of length gain."""
        if self._words is None:
            return jnp.zeros(shape)
        rows, columns = prod(shape[:-1]), shape[-1]
        seed = np.random.SeedSequence([*self._words, zlib.crc32(role.encode()), index])
        normal = np.random.default_rng(seed).normal(size=(max(rows, columns), min(rows, columns)))
        unit, triangle = np.linalg.qr(normal)
        unit *= np.sign(np.diag(triangle))  # without this the draw would not be uniform
        unit = unit if rows >= columns else unit.T
        return jnp.asarray(gain * unit.reshape(shape), jnp.float32)


def dense(draws: Draws, role: str, index: int, inputs: int, outputs: int) -> dict[str, jax.Array]:
    """Return the parameters of a dense layer: orthogonal weights [inputs, outputs], zero bias."""
    weights = draws.orthogonal(role, index, (inputs, outputs), _GAIN)
    return {"w": weights, "b": jnp.zeros(outputs)}


def head(draws: Draws, role: str, inputs: int, outputs: int, gain: float) -> dict[str, jax.Array]:
    """Return the parameters of an output layer, its weights stored [outputs, inputs].

    The gradient of narrow weights is then a short-by-long product, which XLA does six times
    faster on CPU than the long-by-short one.
    """
    weights = draws.orthogonal(f"{role}.head", 0, (inputs, outputs), gain).T
    return {"w": weights, "b": jnp.zeros(outputs)}


def apply_head(layer: dict[str, jax.Array], features: jax.Array) -> jax.Array:
    """Return the outputs of `head` for features [..., inputs]."""
    return features @ layer["w"].T + layer["b"]


def init_torso(network: Network, draws: Draws, role: str, shape: tuple[int, ...]) -> Layers:
    """Return all layers before the output layer, for encoded observations of `shape`."""
    layers: Layers = []
    width, widths = prod(shape), network.widths
    if network.kind == "cnn":
        convolutions, dense_width = _image_layers(shape)
        layers, width = _init_convolutions(convolutions, draws, role, shape)
        widths = (dense_width,)
    for place, outputs in enumerate(widths):
        layers.append(dense(draws, f"{role}.dense", place, width, outputs))
        width = outputs
    return layers


def trace_torso(
    network: Network, layers: Layers, inputs: jax.Array, shape: tuple[int, ...]
) -> list[jax.Array]:
    """Return the input of every layer, then the features; images [B, H, W, C] into convolutions."""
    if network.kind != "cnn":
        return _trace_dense(layers, inputs, ACTIVATIONS[network.activation])
    convolutions = image_convolutions(shape)
    images = inputs.reshape(-1, *shape)
    trace = []
    for layer, (_, _, stride) in zip(layers, convolutions, strict=False):
        trace.append(images)
        images = jax.nn.relu(_convolve(images, layer["w"], stride) + layer["b"])
    flat = images.reshape(*inputs.shape[: inputs.ndim - len(shape)], -1)
    return trace + _trace_dense(layers[len(convolutions) :], flat, jax.nn.relu)


def _trace_dense(layers: Layers, inputs: jax.Array, activation: Any) -> list[jax.Array]:
    trace = [inputs]
    for layer in layers:
        trace.append(activation(trace[-1] @ layer["w"] + layer["b"]))
    return trace


def image_convolutions(shape: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    return _image_layers(shape)[0]


def _image_layers(shape: tuple[int, ...]) -> tuple[tuple[tuple[int, int, int], ...], int]:
    return _LARGE_IMAGE if min(shape[:2]) >= _LARGE_FROM else _SMALL_IMAGE


def _init_convolutions(
    convolutions: tuple[tuple[int, int, int], ...],
    draws: Draws,
    role: str,
    shape: tuple[int, ...],
) -> tuple[Layers, int]:
    layers: Layers = []
    height, width, channels = shape
    for place, (outputs, kernel, stride) in enumerate(convolutions):
        weights = draws.orthogonal(
            f"{role}.convolution", place, (kernel, kernel, channels, outputs), _GAIN
        )
        layers.append({"w": weights, "b": jnp.zeros(outputs)})
        height, width = (height - kernel) // stride + 1, (width - kernel) // stride + 1
        channels = outputs
    return layers, height * width * channels


def _convolve(images: jax.Array, weights: jax.Array, stride: int) -> jax.Array:
    return jax.lax.conv_general_dilated(
        images, weights, (stride, stride), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
