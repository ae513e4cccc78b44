"""Every layer's inputs and signals: the two small arrays that a step's gradient is made of.

The gradient of a layer's weights at one step is the outer product of what goes into the layer and
of the signal that comes back to its output. Norms, inner products and sums over many steps follow
from those two, so no step's gradient is ever stored.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Shaped

from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.networks import image_convolutions, trace_torso

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
    """All layers at R steps, with the signals of `parts`."""
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
        found.append(_dense(trace[-1], {part: s["head"] for part, s in reaching.items()}))
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
    """A table is a layer whose input says which state it is."""
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
    """The gradient of one part's output to every layer's output, at each step.

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
    """A zero for every output of every layer, at each step."""
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
            found.append(_dense(inputs, reaching))
    return found


def _dense(inputs: jax.Array, signals: dict[str, jax.Array]) -> Layer:
    return Layer(_with_one(inputs[:, None]), {part: s[:, None] for part, s in signals.items()})


def _convolution(
    images: jax.Array, signals: dict[str, jax.Array], kernel: int, stride: int
) -> Layer:
    """A convolution is a dense layer at every pixel, whose input is the patch under the kernel."""
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
