"""Action distributions as pure functions of one parameter array.

Every head turns the actor's output into actions, log-probabilities and entropies. Noise is drawn
apart from its use, so that a whole rollout's noise comes from one call and sampling inside the
rollout is only arithmetic; that arithmetic takes JAX's arrays and NumPy's alike.
"""

from dataclasses import dataclass
from math import log, pi, prod
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jaxtyping import Array, Float, Int

from nbyt.errors import EnvUsageError

Arrays = Array | np.ndarray


@runtime_checkable
class Head(Protocol):
    """One family of action distributions; hashable, so it can be static in a compiled function."""

    @property
    def outputs(self) -> int:
        """Return the number of outputs of the actor network."""

    def noise(self, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
        """Draw independent noise for `shape` actions."""

    def sample(self, parameters: Any, noise: Any) -> Any:
        """Return actions as the policy chose them (unclipped)."""

    def to_env(self, action: Any) -> Any:
        """Return actions as the environment takes them."""

    def log_prob(self, parameters: jax.Array, action: jax.Array) -> jax.Array:
        """Return the log-probability of each action."""

    def entropy(self, parameters: jax.Array) -> jax.Array:
        """Return the entropy of each distribution."""


@dataclass(frozen=True)
class Categorical:
    """One choice among `actions`; the parameters are logits."""

    actions: int

    @property
    def outputs(self) -> int:
        return self.actions

    def noise(self, key: jax.Array, shape: tuple[int, ...]) -> Float[Array, "... A"]:
        return jax.random.gumbel(key, (*shape, self.actions))

    def sample(
        self, parameters: Float[Arrays, "... A"], noise: Float[Arrays, "... A"]
    ) -> Int[Arrays, "..."]:
        return (parameters + noise).argmax(axis=-1).astype(jnp.int32)

    def to_env(self, action: Int[Arrays, "..."]) -> Int[Arrays, "..."]:
        return action

    def log_prob(
        self, parameters: Float[Array, "... A"], action: Int[Array, "..."]
    ) -> Float[Array, "..."]:
        # A product with the one-hot action: its derivative is a product too, where that of an
        # indexed read would be a scatter, which is slow on every device.
        chosen = jax.nn.one_hot(action, self.actions, dtype=parameters.dtype)
        return jnp.sum(jax.nn.log_softmax(parameters) * chosen, axis=-1)

    def entropy(self, parameters: Float[Array, "... A"]) -> Float[Array, "..."]:
        log_probs = jax.nn.log_softmax(parameters)
        return -jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1)


@dataclass(frozen=True)
class MultiCategorical:
    """Several independent choices at once; the parameters are all their logits, concatenated."""

    sizes: tuple[int, ...]

    @property
    def outputs(self) -> int:
        return sum(self.sizes)

    def noise(self, key: jax.Array, shape: tuple[int, ...]) -> Float[Array, "... A"]:
        return jax.random.gumbel(key, (*shape, self.outputs))

    def sample(
        self, parameters: Float[Arrays, "... A"], noise: Float[Arrays, "... A"]
    ) -> Int[Arrays, "... D"]:
        parts = [part.argmax(axis=-1) for part in self._split(parameters + noise)]
        stack = np.stack if isinstance(parameters, np.ndarray) else jnp.stack
        return stack(parts, axis=-1).astype(jnp.int32)

    def to_env(self, action: Int[Arrays, "... D"]) -> Int[Arrays, "... D"]:
        return action

    def log_prob(
        self, parameters: Float[Array, "... A"], action: Int[Array, "... D"]
    ) -> Float[Array, "..."]:
        parts = [
            Categorical(size).log_prob(part, action[..., place])
            for place, (size, part) in enumerate(
                zip(self.sizes, self._split(parameters), strict=True)
            )
        ]
        return jnp.sum(jnp.stack(parts), axis=0)

    def entropy(self, parameters: Float[Array, "... A"]) -> Float[Array, "..."]:
        parts = [Categorical(part.shape[-1]).entropy(part) for part in self._split(parameters)]
        return jnp.sum(jnp.stack(parts), axis=0)

    def _split(self, array: Any) -> list[Any]:
        ends = [sum(self.sizes[: place + 1]) for place in range(len(self.sizes))]
        return [array[..., end - size : end] for size, end in zip(self.sizes, ends, strict=True)]


@dataclass(frozen=True)
class Gaussian:
    """Independent normals; the parameters are means, then log standard deviations.

    The policy's action is unbounded and its probability is that of the unclipped action; only the
    environment sees it clipped to its bounds.
    """

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def outputs(self) -> int:
        return prod(self.shape)

    def noise(self, key: jax.Array, shape: tuple[int, ...]) -> Float[Array, "... A"]:
        return jax.random.normal(key, (*shape, self.outputs))

    def sample(
        self, parameters: Float[Arrays, "... P"], noise: Float[Arrays, "... A"]
    ) -> Float[Arrays, "... A"]:
        mean, log_std = parameters[..., : self.outputs], parameters[..., self.outputs :]
        exp = np.exp if isinstance(parameters, np.ndarray) else jnp.exp
        return mean + exp(log_std) * noise

    def to_env(self, action: Float[Arrays, "... A"]) -> Float[Arrays, "..."]:
        clipped = action.clip(np.array(self.low, np.float32), np.array(self.high, np.float32))
        return clipped.reshape(*action.shape[:-1], *self.shape)

    def log_prob(
        self, parameters: Float[Array, "... P"], action: Float[Array, "... A"]
    ) -> Float[Array, "..."]:
        mean, log_std = jnp.split(parameters, 2, axis=-1)
        scaled = (action - mean) * jnp.exp(-log_std)
        return jnp.sum(-0.5 * scaled**2 - log_std - 0.5 * log(2 * pi), axis=-1)

    def entropy(self, parameters: Float[Array, "... P"]) -> Float[Array, "..."]:
        log_std = jnp.split(parameters, 2, axis=-1)[1]
        return jnp.sum(log_std + 0.5 * log(2 * pi) + 0.5, axis=-1)


def head_for(space: spaces.Space) -> Head:
    """Return the head whose actions belong to `space`."""
    if isinstance(space, spaces.Discrete):
        return Categorical(int(space.n))
    if isinstance(space, spaces.MultiDiscrete):
        return MultiCategorical(tuple(int(size) for size in space.nvec.reshape(-1)))
    if isinstance(space, spaces.Box):
        low, high = space.low.reshape(-1), space.high.reshape(-1)
        return Gaussian(tuple(space.shape), tuple(map(float, low)), tuple(map(float, high)))
    raise EnvUsageError(
        f"no policy for the action space {space}",
        where="action space",
        fix="wrap the env so that its actions are Discrete, MultiDiscrete or Box",
    )
