"""A policy that follows Q-values: the best action, or with probability epsilon any action."""

from dataclasses import fields
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jaxtyping import Array, Float, Shaped

from nbyt.errors import UsageError
from nbyt.policy.actor_critic import ActorCritic, Params, build
from nbyt.policy.distributions import Categorical
from nbyt.policy.networks import Network


class QPolicy(ActorCritic):
    """An actor whose network gives Q-values; its `Params` have no critic.

    The actor's parameters hold epsilon beside the network's weights, as a Gaussian's hold its
    spread, so everything that acts with a policy acts with this one.
    """

    def init(self, key: jax.Array | None, *, normalise_observations: bool = False) -> Params:
        del normalise_observations
        return greedy(super().init(key).actor)

    def parameters(self, params: Params, observation: jax.Array) -> jax.Array:
        """Return log-probabilities of the actions at each observation."""
        return law(self.values(params, observation), params.actor["epsilon"])

    def values(self, params: Params, observation: Shaped[Array, "..."]) -> Float[Array, "... A"]:
        """Return the Q-value of every action at each observation."""
        return super().parameters(params, observation)

    def value(self, params: Params, observation: jax.Array) -> jax.Array:
        """Return the Q-value of the best action at each observation."""
        return self.values(params, observation).max(axis=-1)


def greedy(weights: dict[str, Any], epsilon: float | jax.Array = 0.0) -> Params:
    """Return the parameters of a Q-policy with these weights."""
    return Params({**weights, "epsilon": jnp.asarray(epsilon, jnp.float32)}, None)


def uniform_weights(policy: QPolicy, key: jax.Array) -> dict[str, Any]:
    """Draw weights and biases uniform within 1 / √inputs of their layer; a table's are zero.

    Drawn by NumPy, like orthogonal ones.
    """
    blank = weights_of(policy.init(None))
    if policy.network.kind == "table":
        return blank
    words = np.asarray(jax.random.key_data(key)).tolist()
    generator = np.random.default_rng(np.random.SeedSequence(words))

    def drawn(layer: dict[str, jax.Array], inputs: int) -> dict[str, jax.Array]:
        reach = inputs**-0.5
        return {
            name: jnp.asarray(generator.uniform(-reach, reach, own.shape), jnp.float32)
            for name, own in layer.items()
        }

    layers = [drawn(layer, prod(layer["w"].shape[:-1])) for layer in blank["layers"]]
    # A head's weights are stored [outputs, inputs].
    return {"layers": layers, "head": drawn(blank["head"], blank["head"]["w"].shape[1])}


def weights_of(params: Params) -> dict[str, Any]:
    return {name: leaf for name, leaf in params.actor.items() if name != "epsilon"}


def law(values: Any, epsilon: Any) -> Any:
    """Return the log-probabilities of acting by these Q-values; takes JAX and NumPy arrays."""
    actions = values.shape[-1]
    library = np if isinstance(values, np.ndarray) else jnp
    best = library.arange(actions) == values.argmax(axis=-1)[..., None]
    with np.errstate(divide="ignore"):  # an action that is never taken has log-probability -inf
        return library.log((1 - epsilon) * best + epsilon / actions)


def build_q(
    observation_space: spaces.Space, action_space: spaces.Space, network: Network
) -> QPolicy:
    """Build the Q-policy for an env's spaces, with a network as for an actor."""
    made = build(observation_space, action_space, network)
    if not isinstance(made.head, Categorical):
        raise UsageError(
            f"DQN needs one choice among numbered actions, and this env's are {action_space}",
            where="algo",
            fix="use --algo ppo, or an env with a Discrete action space",
        )
    return QPolicy(**{field.name: getattr(made, field.name) for field in fields(made)})
