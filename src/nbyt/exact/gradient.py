"""The three gradients, each as contributions of one form: f(s, a) A + b(s, a).

A is the advantage of the step. All are directions of descent, at a probability ratio of 1.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from nbyt.exact.limits import require_room
from nbyt.exact.scores import Block, Scores
from nbyt.exact.walk import Chain


@dataclass(frozen=True, eq=False)
class Gradient:
    """Contributions f A + b in every state X and action A of a chain, over `size` parameters.

    scale is f and shift is b; in state x both are 0 but for the parameters index[x].
    """

    size: int
    index: Int[np.ndarray, "X k"]
    scale: Float[np.ndarray, "X A k"]
    shift: Float[np.ndarray, "X A k"]

    @cached_property
    def scale_square(self) -> Float[np.ndarray, "X A"]:
        """|f|^2."""
        return (self.scale**2).sum(axis=2)

    @cached_property
    def scale_shift(self) -> Float[np.ndarray, "X A"]:
        """f . b."""
        return (self.scale * self.shift).sum(axis=2)

    @cached_property
    def shift_square(self) -> Float[np.ndarray, "X A"]:
        """|b|^2."""
        return (self.shift**2).sum(axis=2)

    @cached_property
    def shifted(self) -> bool:
        """Whether any b is not 0."""
        return bool(self.shift.any())

    @property
    def dense(self) -> bool:
        """Whether every state has all parameters, in their order."""
        return self.index.shape[1] == self.size

    def mean(
        self, scale: Float[np.ndarray, "X A"], shift: Float[np.ndarray, "X A"]
    ) -> Float[np.ndarray, "X k"]:
        """Sums over the actions of scale f + shift b."""
        made = np.einsum("xa,xak->xk", scale, self.scale)
        return made + np.einsum("xa,xak->xk", shift, self.shift) if self.shifted else made

    def square(
        self, mean: Float[np.ndarray, "X A"], square: Float[np.ndarray, "X A"]
    ) -> Float[np.ndarray, "X A"]:
        """E |f A + b|^2 of advantages with that mean and mean square."""
        return self.scale_square * square + 2 * self.scale_shift * mean + self.shift_square

    def whole(self, local: Float[np.ndarray, "*n k"]) -> Float[np.ndarray, "*n p"]:
        """Vectors over all parameters, from those of each state's own; X is the first axis."""
        if self.dense:
            return local
        made = np.zeros((*local.shape[:-1], self.size))
        index = self.index.reshape(len(local), *(1,) * (local.ndim - 2), -1)
        np.put_along_axis(made, np.broadcast_to(index, local.shape), local, axis=-1)
        return made

    def add(self, to: Float[np.ndarray, "X p"], local: Float[np.ndarray, "X k"]) -> None:
        """Adds to each state's row, in place, the vector over the state's own parameters."""
        if self.dense:
            to += local
        else:
            to[np.arange(len(local))[:, None], self.index] += local

    def expectation(
        self, law: Float[np.ndarray, " X"], local: Float[np.ndarray, "X k"]
    ) -> Float[np.ndarray, " p"]:
        """The mean under `law` of vectors over each state's own parameters."""
        if self.dense:
            return law @ local
        weighted = (law[:, None] * local).ravel()
        return np.bincount(self.index.ravel(), weighted, minlength=self.size)


class Weights(NamedTuple):
    """How the loss weighs its parts: the total's two coefficients, and the advantage's scale.

    The actor's advantage enters as (A - mean) / spread, the critic's as it is.
    """

    value: float
    entropy: float
    mean: float = 0.0
    spread: float = 1.0


def gradient(name: str, scores: Scores, chain: Chain, weights: Weights) -> Gradient:
    """The gradient called "actor", "critic" or "total".

    Actor: f = psi / spread, b = -mean psi / spread, with psi = d log pi(a|s). Critic: f = d V(s).
    Total: the actor's, plus value coefficient times the critic's, plus entropy coefficient times
    d H(s) = -sum_a pi(a|s) log pi(a|s) psi(s, a), which carries no advantage.
    """
    actor, critic = scores.actor, scores.critic
    scaled = actor.value / weights.spread
    if name == "actor":
        return _placed(replace(actor, value=scaled), -weights.mean * scaled, chain)
    if name == "critic":
        return _placed(critic, np.zeros_like(critic.value), chain)
    shift = weights.entropy * _entropy_slope(scores) - weights.mean * scaled
    valued = weights.value * critic.value
    if scores.joint:
        return _placed(replace(actor, value=scaled + valued), shift, chain)
    both = Block(
        actor.size + critic.size,
        np.concatenate([actor.index, actor.size + critic.index], axis=1),
        np.concatenate([scaled, valued], axis=2),
    )
    return _placed(both, np.concatenate([shift, np.zeros_like(valued)], axis=2), chain)


def _entropy_slope(scores: Scores) -> Float[np.ndarray, "S A k"]:
    policy = scores.policy
    information = -np.log(policy, where=policy > 0, out=np.zeros_like(policy))
    slope = np.einsum("sa,sak->sk", policy * information, scores.actor.value)
    return np.broadcast_to(slope[:, None], scores.actor.value.shape)


def require_gradient_room(block: Block, chain: Chain) -> None:
    """Nothing, or an error if the moments of a gradient of these scores are too many numbers."""
    states, (_, actions, width) = len(chain.valid), block.value.shape
    links = states * actions if width == block.size else len(chain.pair)
    require_room(
        4 * states * block.size + 2 * states * actions * width + 3 * links * width,
        f"the gradient of {block.size:,} parameters in {states:,} states",
    )


def _placed(block: Block, shift: Float[np.ndarray, "S A k"], chain: Chain) -> Gradient:
    """The gradient on the chain's states; a filler row contributes nothing."""
    require_gradient_room(block, chain)
    where, valid = chain.observation, chain.valid[:, None, None]
    return Gradient(
        block.size, block.index[where], block.value[where] * valid, shift[where] * valid
    )
