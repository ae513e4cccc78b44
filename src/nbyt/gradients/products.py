"""Sums, norms and inner products of steps' gradients, from their layers alone.

Leading axes of a layer's arrays are rows of steps; here they are [B, t]: B groups of t steps.
"""

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Shaped

from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.networks import image_convolutions, trace_torso

# The gradient of a layer's weights at one step is the outer product of what goes into the layer and
# of the signal that comes back to its output. Norms, inner products and sums over many steps follow
# from those two, so no step's gradient is ever stored.

# What is differentiated: log pi(a|s), V(s), and the entropy of pi(.|s).
PARTS = ("actor", "critic", "entropy")

Signals = dict[str, Float[Array, "R Q O"]]


class Layer(NamedTuple):
    """One layer at R steps: its weights' gradient is the sum over positions of inputs x signals.

    inputs carry a 1 for the bias. Q is 1 for a dense layer, the number of pixels for a
    convolution. signals has a part only where that part's gradient reaches this layer.
    """

    inputs: Float[Array, "R Q I"]
    signals: Signals


def layers(
    policy: ActorCritic,
    params: Params,
    observation: Shaped[Array, "R ..."],
    action: Shaped[Array, "R ..."],
    parts: tuple[str, ...],
) -> list[Layer]:
    """Return all layers at R steps, with the signals of `parts`."""
    if policy.network.kind == "table":
        return _tables(policy, params, observation, action, parts)
    found: list[Layer] = []
    signals = {part: _signals(policy, params, observation, action, part) for part in parts}
    if policy.shared:
        trace = _trace(policy, params, params.torso, observation)
        found += _trunk(policy, trace, {part: s["trunk"] for part, s in signals.items()})
    for side, own in (("actor", ("actor", "entropy")), ("critic", ("critic",))):
        reaching = {part: signals[part] for part in parts if part in own}
        if not reaching:
            continue
        if not policy.shared:
            trace = _trace(policy, params, getattr(params, side)["layers"], observation)
            found += _trunk(policy, trace, {part: s["trunk"] for part, s in reaching.items()})
        found.append(_layers_dense(trace[-1], {part: s["head"] for part, s in reaching.items()}))
        if side == "actor" and "log_std" in params.actor:
            spread = {part: s["log_std"][:, None] for part, s in reaching.items()}
            found.append(Layer(jnp.ones((len(observation), 1, 1)), spread))
    return found


def _tables(
    policy: ActorCritic,
    params: Params,
    observation: jax.Array,
    action: jax.Array,
    parts: tuple[str, ...],
) -> list[Layer]:
    """Treat a table as a layer whose input says which state it is."""
    state = jax.nn.one_hot(observation, policy.shape[0])[:, None]
    rows = params.actor["logits"][observation]
    signals = {}
    if "actor" in parts:
        signals["actor"] = jax.grad(lambda x: policy.head.log_prob(x, action).sum())(rows)[:, None]
    if "entropy" in parts:
        signals["entropy"] = jax.grad(lambda x: policy.head.entropy(x).sum())(rows)[:, None]
    found = [Layer(state, signals)] if signals else []
    if "critic" in parts:
        found.append(Layer(state, {"critic": jnp.ones((len(observation), 1, 1))}))
    return found


def _signals(
    policy: ActorCritic, params: Params, observation: jax.Array, action: jax.Array, part: str
) -> dict[str, Any]:
    """Return the gradient of one part's output to every layer's output, at each step.

    A bias of its own for every step makes this one backward pass: steps do not meet.
    """
    side = "critic" if part == "critic" else "actor"
    trunk = list(params.torso or getattr(params, side)["layers"])
    nudges = {
        "trunk": _nudges(policy, trunk, len(observation)),
        "head": jnp.zeros((len(observation), *getattr(params, side)["head"]["b"].shape)),
    }
    if side == "actor" and "log_std" in params.actor:
        nudges["log_std"] = jnp.zeros((len(observation), *params.actor["log_std"].shape))

    def output(nudges: dict[str, Any]) -> jax.Array:
        nudged = _nudged(params, side, trunk, nudges)
        if part == "critic":
            return policy.value(nudged, observation).sum()
        parameters = policy.parameters(nudged, observation)
        if part == "actor":
            return policy.head.log_prob(parameters, action).sum()
        return policy.head.entropy(parameters).sum()

    return jax.grad(output)(nudges)


def _nudges(policy: ActorCritic, trunk: list[Any], rows: int) -> list[jax.Array]:
    """Return a zero for every output of every layer, at each step."""
    shapes: list[tuple[int, ...]] = []
    convolutions = image_convolutions(policy.encoded_shape) if policy.network.kind == "cnn" else ()
    height, width = policy.encoded_shape[:2] if convolutions else (0, 0)
    for _, kernel, stride in convolutions:
        height, width = (height - kernel) // stride + 1, (width - kernel) // stride + 1
        shapes.append((rows, height, width))
    shapes += [(rows,)] * (len(trunk) - len(shapes))
    return [
        jnp.zeros((*shape, *layer["b"].shape)) for shape, layer in zip(shapes, trunk, strict=True)
    ]


def _nudged(params: Params, side: str, trunk: list[Any], nudges: dict[str, Any]) -> Params:
    moved = [
        {"w": layer["w"], "b": layer["b"] + nudge}
        for layer, nudge in zip(trunk, nudges["trunk"], strict=True)
    ]
    own = dict(getattr(params, side))
    own["head"] = {"w": own["head"]["w"], "b": own["head"]["b"] + nudges["head"]}
    if "log_std" in nudges:
        own["log_std"] = own["log_std"] + nudges["log_std"]
    if params.torso:
        params = params._replace(torso=moved)
    else:
        own["layers"] = moved
    return params._replace(actor=own) if side == "actor" else params._replace(critic=own)


def _trace(policy: ActorCritic, params: Params, trunk: Any, observation: jax.Array) -> Any:
    encoded = policy.encode(params, observation)
    return trace_torso(policy.network, trunk, encoded, policy.encoded_shape)


def _trunk(
    policy: ActorCritic, trace: list[jax.Array], signals: dict[str, list[jax.Array]]
) -> list[Layer]:
    convolutions = image_convolutions(policy.encoded_shape) if policy.network.kind == "cnn" else ()
    found = []
    for place, inputs in enumerate(trace[:-1]):
        reaching = {part: s[place] for part, s in signals.items()}
        if place < len(convolutions):
            found.append(_convolution(inputs, reaching, *convolutions[place][1:]))
        else:
            found.append(_layers_dense(inputs, reaching))
    return found


def _layers_dense(inputs: jax.Array, signals: dict[str, jax.Array]) -> Layer:
    return Layer(_with_one(inputs[:, None]), {part: s[:, None] for part, s in signals.items()})


def _convolution(
    images: jax.Array, signals: dict[str, jax.Array], kernel: int, stride: int
) -> Layer:
    """Treat a convolution as a dense layer at every pixel, its input the patch below."""
    patches = jax.lax.conv_general_dilated_patches(
        images,
        (kernel, kernel),
        (stride, stride),
        "VALID",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    rows = len(images)
    flat = {part: s.reshape(rows, -1, s.shape[-1]) for part, s in signals.items()}
    return Layer(_with_one(patches.reshape(rows, -1, patches.shape[-1])), flat)


def _with_one(inputs: jax.Array) -> jax.Array:
    return jnp.concatenate([inputs, jnp.ones((*inputs.shape[:-1], 1))], axis=-1)


Weights = dict[str, Float[Array, "J B t"]]


def grouped(layers: list[Layer], groups: int) -> list[Layer]:
    """Return the layers with their R rows cut into groups, [B, t, Q, ...]."""
    return jax.tree.map(lambda x: x.reshape(groups, -1, *x.shape[1:]), layers)


def touched(layers: list[Layer], parts: tuple[str, ...] | list[str]) -> list[Layer]:
    """Return the layers that some of the parts reach, with the signals of those parts only."""
    kept = [
        Layer(layer.inputs, {part: s for part, s in layer.signals.items() if part in parts})
        for layer in layers
    ]
    return [layer for layer in kept if layer.signals]


def gram(layers: list[Layer], a: str, b: str) -> Float[Array, "B t t"]:
    """Return inner products of part a's gradients with part b's, between all steps of a group."""
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
    """Return inner products of part a's gradient at each step of one with part b's in the other."""
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
    sums = [
        jnp.einsum("btqi,btqo->bio", layer.inputs, _weighted(layer, weights)) for layer in layers
    ]
    return jnp.concatenate([s.reshape(s.shape[0], -1) for s in sums], axis=-1)


def many_sums(layers: list[Layer], weights: Weights) -> Float[Array, "J B P"]:
    """Return each group's weighted sum under J sets of weights, group by group in one product."""
    first = {part: w.swapaxes(0, 1) for part, w in weights.items()}
    reaching = [(layer, {part: first[part] for part in layer.signals}) for layer in layers]
    sums = [jax.lax.map(_one_group, layer) for layer in reaching]
    return jnp.concatenate([s.reshape(*s.shape[:2], -1) for s in sums], axis=-1).swapaxes(0, 1)


def size(layers: list[Layer]) -> int:
    return sum(layer.inputs.shape[-1] * _outputs(layer) for layer in layers)


def gram_is_cheaper(layers: list[Layer], steps: int) -> bool:
    """Return whether inner products of T steps cost less than their summed gradient."""
    dense = [layer for layer in layers if _dense(layer)]
    widths = sum(layer.inputs.shape[-1] + _outputs(layer) for layer in dense)
    return steps * widths <= size(dense)


def _one_group(group: tuple[Layer, Weights]) -> Float[Array, "J I O"]:
    """Sum one group, [t, Q, ...]; the J weights' signals are columns of one matrix."""
    layer, weights = group
    signals = _added(
        weights[part].T[:, None, :, None] * layer.signals[part][:, :, None, :]
        for part in layer.signals
    )
    rows, width = signals.shape[0] * signals.shape[1], layer.inputs.shape[-1]
    product = layer.inputs.reshape(rows, width).T @ signals.reshape(rows, -1)
    return product.reshape(width, *signals.shape[2:]).swapaxes(0, 1)


def _weighted(layer: Layer, weights: dict[str, jax.Array]) -> Float[Array, "B t Q O"]:
    return _added(weights[part][..., None, None] * layer.signals[part] for part in layer.signals)


def _added(arrays: Iterable[jax.Array]) -> jax.Array:
    return reduce(jnp.add, arrays)


def _written_out(layer: Layer, part: str) -> Float[Array, "B t P"]:
    """Return the gradient of each step; a convolution has few weights and many positions."""
    gradient = jnp.einsum("btqi,btqo->btio", layer.inputs, layer.signals[part])
    return gradient.reshape(*gradient.shape[:2], -1)


def _outer(a: jax.Array, b: jax.Array) -> Float[Array, "B t t"]:
    return jnp.einsum("bti,bsi->bts", a, b)


def _dense(layer: Layer) -> bool:
    return layer.inputs.shape[-2] == 1


def _outputs(layer: Layer) -> int:
    return next(iter(layer.signals.values())).shape[-1]
