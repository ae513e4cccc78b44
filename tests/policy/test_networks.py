"""Laws of networks: what a name means, and layers against convolutions written by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nbyt.errors import UsageError
from nbyt.policy.networks import (
    ACTIVATIONS,
    Draws,
    Network,
    apply_head,
    dense,
    head,
    init_torso,
    parse_network,
    trace_torso,
)

DRAWS = Draws(jax.random.key(0))


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("64x64", Network("mlp", (64, 64))),
        (" 256 ", Network("mlp", (256,))),
        ("32X16x8", Network("mlp", (32, 16, 8))),
        ("cnn", Network("cnn")),
        ("Table", Network("table")),
        ("auto", Network("auto")),
    ],
)
def test_a_name_means_one_network(text, network) -> None:
    assert parse_network(text) == network
    assert parse_network(text, "relu").activation == "relu"


@pytest.mark.parametrize("text", ["lstm", "GRU", "64-lstm", "rnn", "Transformer", "attention"])
def test_recurrent_networks_are_refused_with_the_reason(text) -> None:
    with pytest.raises(UsageError, match=r"recurrent policies .* hidden state") as error:
        parse_network(text)
    assert error.value.where == "network" and "64x64" in error.value.fix


@pytest.mark.parametrize(
    "text",
    ["", "0", "64x", "x64", "64x0", "-64", "6.4", "64 64", "big", "9999999", "1x" * 10 + "1"],
)
def test_other_names_are_refused(text) -> None:
    with pytest.raises(UsageError, match="unknown network"):
        parse_network(text)


def test_an_unknown_activation_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match="unknown activation 'sine'") as error:
        parse_network("64", "sine")
    assert all(name in error.value.fix for name in ACTIVATIONS)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (3, 3, 2, 6), (1, 1, 2, 9)])
def test_weights_are_orthogonal_with_their_gain(shape) -> None:
    w = np.asarray(DRAWS.orthogonal("role", 0, shape, 2.0)).reshape(-1, shape[-1])
    small = w.T @ w if w.shape[0] >= w.shape[1] else w @ w.T
    np.testing.assert_allclose(small, 4 * np.eye(min(w.shape)), atol=1e-5)


def test_orthogonal_weights_are_uniform() -> None:
    """By symmetry every entry of a uniform 2 x 2 orthogonal matrix has mean 0 and E[x^2] = 1/2."""
    rows = [DRAWS.orthogonal("role", index, (2, 2), 1.0) for index in range(1000)]
    found = np.stack([np.asarray(row) for row in rows])
    error = 4 / np.sqrt(1000)
    assert np.abs(found.mean(axis=0)).max() < error * np.sqrt(1 / 2)
    assert np.abs((found**2).mean(axis=0) - 0.5).max() < error * np.sqrt(1 / 8)
    assert abs((np.linalg.det(found) > 0).mean() - 0.5) < error / 2


def test_weights_are_found_by_role_and_index_and_key() -> None:
    def drawn(seed=0, role="actor.dense", index=0):
        return Draws(jax.random.key(seed)).orthogonal(role, index, (4, 4), 1.0)

    np.testing.assert_array_equal(drawn(), drawn())
    for other in (drawn(seed=1), drawn(role="critic.dense"), drawn(index=1)):
        assert not np.allclose(drawn(), other)
    assert not Draws(None).orthogonal("actor.dense", 0, (4, 4), 1.0).any()


def test_a_layer_starts_without_bias_and_a_head_is_stored_transposed() -> None:
    layer, last = dense(DRAWS, "role", 0, 5, 3), head(DRAWS, "role", 5, 3, gain=0.01)
    assert layer["w"].shape == (5, 3) and last["w"].shape == (3, 5)
    assert not layer["b"].any() and not last["b"].any()
    features = jnp.arange(5.0)
    expected = features @ np.asarray(last["w"]).T
    np.testing.assert_allclose(apply_head(last, features), expected, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(last["w"], axis=1), 0.01, rtol=1e-5)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_mlp_is_its_matrices(activation) -> None:
    network = Network("mlp", (6, 4), activation)
    layers = init_torso(network, DRAWS, "actor", (3,))
    layers = [{"w": x["w"], "b": x["b"] + 0.1} for x in layers]
    inputs = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)
    function = {
        "tanh": np.tanh,
        "relu": lambda x: np.where(x > 0, x, 0),
        "swish": lambda x: x / (1 + np.exp(-x)),
    }[activation]
    expected = inputs
    for layer in layers:
        expected = function(expected @ np.asarray(layer["w"]) + np.asarray(layer["b"]))
    found = trace_torso(network, layers, jnp.asarray(inputs), (3,))[-1]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def convolved(image: np.ndarray, w: np.ndarray, b: np.ndarray, stride: int) -> np.ndarray:
    """One image [H, W, C] with kernels [K, K, C, O], no padding, ReLU: four loops."""
    kernel = w.shape[0]
    rows = (image.shape[0] - kernel) // stride + 1
    columns = (image.shape[1] - kernel) // stride + 1
    out = np.zeros((rows, columns, w.shape[3]))
    for i in range(rows):
        for j in range(columns):
            patch = image[i * stride : i * stride + kernel, j * stride : j * stride + kernel]
            out[i, j] = np.maximum(np.tensordot(patch, w, axes=3) + b, 0)
    return out


@pytest.mark.parametrize(
    ("shape", "strides", "width"),
    [((6, 7, 2), (1,), 128), ((36, 40, 1), (4, 2, 1), 512)],
    ids=["small", "large"],
)
def test_a_cnn_is_its_convolutions(shape, strides, width) -> None:
    network = Network("cnn")
    layers = init_torso(network, DRAWS, "actor", shape)
    layers = [{"w": x["w"], "b": x["b"] + 0.05} for x in layers]
    images = np.random.default_rng(1).uniform(size=(3, *shape)).astype(np.float32)
    found = np.asarray(trace_torso(network, layers, jnp.asarray(images), shape)[-1])
    assert found.shape == (3, width)
    *kernels, last = [{k: np.asarray(v) for k, v in layer.items()} for layer in layers]
    for image, row in zip(images, found, strict=True):
        for layer, stride in zip(kernels, strides, strict=True):
            image = convolved(image, layer["w"], layer["b"], stride)
        expected = np.maximum(image.reshape(-1) @ last["w"] + last["b"], 0)
        np.testing.assert_allclose(row, expected, rtol=1e-3, atol=1e-4)
