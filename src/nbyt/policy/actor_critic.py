"""The actor-critic: its inputs, outputs and parameters; and stages, frozen ones."""

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from gymnasium import spaces

from nbyt.errors import UsageError
from nbyt.policy import normalise
from nbyt.policy.distributions import Categorical, Gaussian, Head, head_for
from nbyt.policy.networks import (
    SMALLEST_IMAGE,
    Draws,
    Layers,
    Network,
    apply_head,
    head,
    init_torso,
    trace_torso,
)


class Params(NamedTuple):
    """Everything that a policy and its critic consist of.

    torso: layers that both use, empty where the networks are separate. observation: moments of
    the observations, or None; they are data about the env and no gradient reaches them.
    """

    actor: Any
    critic: Any
    torso: Any = ()
    observation: normalise.RunningMoments | None = None


@dataclass(frozen=True)
class ActorCritic:
    """A policy and a critic as functions of `Params`; hashable, so compiled functions share it.

    kind: "vector", "image" or "index", how observations of `shape` are read (an index has the
    number of states as its shape). channels_first: images come as [C, H, W].
    """

    kind: str
    shape: tuple[int, ...]
    head: Head
    network: Network
    shared: bool = False
    channels_first: bool = False

    def init(self, key: jax.Array | None, *, normalise_observations: bool = False) -> Params:
        """Return initial parameters, all zero without a key.

        Only vectors are normalised; an index or an image has its own scale.
        """
        draws = Draws(key)
        moments = None
        if normalise_observations and self.kind == "vector":
            moments = normalise.fresh(self.encoded_shape)
        if self.network.kind == "table":
            states = self.shape[0]
            logits = jnp.zeros((states, self.head.outputs))
            return Params({"logits": logits}, {"values": jnp.zeros(states)}, (), moments)
        torso = self._torso(draws, "torso") if self.shared else ()
        actor = self._network(draws, "actor", torso, self.head.outputs, gain=0.01)
        critic = self._network(draws, "critic", torso, 1, gain=1.0)
        if isinstance(self.head, Gaussian):
            actor["log_std"] = jnp.zeros(self.head.outputs)
        return Params(actor, critic, torso, moments)

    def parameters(self, params: Params, observation: jax.Array) -> jax.Array:
        """Return the parameters of the action distribution at each observation."""
        if self.network.kind == "table":
            return params.actor["logits"][observation]
        features = self._features(params.torso or params.actor["layers"], params, observation)
        output = apply_head(params.actor["head"], features)
        if not isinstance(self.head, Gaussian):
            return output
        spread = jnp.broadcast_to(params.actor["log_std"], output.shape)
        return jnp.concatenate([output, spread], axis=-1)

    def value(self, params: Params, observation: jax.Array) -> jax.Array:
        """Return the critic's value of each observation."""
        if self.network.kind == "table":
            return params.critic["values"][observation]
        features = self._features(params.torso or params.critic["layers"], params, observation)
        return apply_head(params.critic["head"], features)[..., 0]

    def encode(self, params: Params, observation: jax.Array) -> jax.Array:
        """Return the networks' input for each observation."""
        if self.kind == "index":
            return jax.nn.one_hot(observation, self.shape[0])
        batch = observation.shape[: observation.ndim - len(self.shape)]
        if self.kind == "image":
            scale = 255.0 if observation.dtype == jnp.uint8 else 1.0
            images = observation.astype(jnp.float32) / scale
            return jnp.moveaxis(images, -3, -1) if self.channels_first else images
        flat = observation.reshape(*batch, -1).astype(jnp.float32)
        return (
            flat if params.observation is None else normalise.standardise(params.observation, flat)
        )

    def _torso(self, draws: Draws, role: str) -> Layers:
        return init_torso(self.network, draws, role, self.encoded_shape)

    def _network(
        self, draws: Draws, role: str, torso: Any, outputs: int, *, gain: float
    ) -> dict[str, Any]:
        layers = torso or self._torso(draws, role)
        width = layers[-1]["b"].shape[0]
        own = {} if torso else {"layers": layers}
        return {**own, "head": head(draws, role, width, outputs, gain)}

    def _features(self, layers: Any, params: Params, observation: jax.Array) -> jax.Array:
        inputs = self.encode(params, observation)
        return trace_torso(self.network, layers, inputs, self.encoded_shape)[-1]

    @property
    def encoded_shape(self) -> tuple[int, ...]:
        """Return the shape of the networks' input."""
        if self.kind == "image" and self.channels_first:
            return (*self.shape[1:], self.shape[0])
        if self.kind == "image":
            return self.shape
        return (prod(self.shape),)


def build(
    observation_space: spaces.Space,
    action_space: spaces.Space,
    network: Network,
    *,
    shared: bool = False,
) -> ActorCritic:
    """Build the actor-critic for an env's spaces; "auto" picks a table, a CNN or an MLP."""
    kind, shape = _reading(observation_space, network)
    usual = {"index": "table", "image": "cnn", "vector": "mlp"}[kind]
    chosen = replace(network, kind=usual) if network.kind == "auto" else network
    if chosen.kind == "table" and kind != "index":
        raise UsageError(
            f"a table needs numbered states, and this env's observations are {observation_space}",
            where="network",
            fix="use --network 64x64, or an env with a Discrete observation space",
        )
    if chosen.kind == "cnn" and kind != "image":
        raise UsageError(
            f"a CNN needs images [height, width, channels] of at least {SMALLEST_IMAGE} x "
            f"{SMALLEST_IMAGE} pixels, not {observation_space}",
            where="network",
            fix="use --network 64x64",
        )
    if chosen.kind == "table" and not isinstance(
        action_space, (spaces.Discrete, spaces.MultiDiscrete)
    ):
        raise UsageError(
            "a table policy needs discrete actions", where="network", fix="use --network 64x64"
        )
    # Channels are fewer than pixels: [4, 84, 84] has them first, [84, 84, 4] and [10, 10, 10] last.
    channels_first = kind == "image" and shape[0] < min(shape[1:])
    shared = shared and chosen.kind != "table"
    return ActorCritic(kind, shape, head_for(action_space), chosen, shared, channels_first)


def _reading(space: spaces.Space, network: Network) -> tuple[str, tuple[int, ...]]:
    if isinstance(space, spaces.Discrete):
        return "index", (int(space.n),)
    shape = tuple(space.shape or (1,))
    large = len(shape) == 3 and sorted(shape)[1] >= SMALLEST_IMAGE
    if large and network.kind in ("auto", "cnn"):
        return "image", shape
    return "vector", shape


@dataclass(frozen=True)
class Stage:
    """A frozen actor-critic: its functions, its parameters, and where it comes from.

    facts: env id, updates and steps made, layout, coefficients; plain JSON values.
    """

    policy: ActorCritic
    params: Params
    facts: dict[str, Any] = field(default_factory=dict)


def table(logits: Any, values: Any) -> Stage:
    """Build a stage from a softmax table [S, A] and a value table [S]."""
    logits, values = jnp.asarray(logits, jnp.float32), jnp.asarray(values, jnp.float32)
    if logits.ndim != 2 or values.shape != logits.shape[:1]:
        raise UsageError(
            f"logits {logits.shape} and values {values.shape} are not a pair of tables",
            where="policy.table",
            fix="give logits as [states, actions] and values as [states]",
        )
    states, actions = logits.shape
    policy = ActorCritic("index", (states,), Categorical(actions), Network("table"))
    return Stage(policy, Params({"logits": logits}, {"values": values}))
