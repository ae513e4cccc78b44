"""The three gradients as contributions f(s, a) A + b(s, a), and the moments of their sums.

A is the advantage of the step. All are directions of descent, at a probability ratio of 1.
Moments are computed from the last step of a rollout backwards. With h steps to go the advantage is
A = delta + c A' and the gradient sum S = f A + b + S', where a prime is the same one step later.
Given the next state, (A', S') do not depend on the past, so every moment with h steps follows from
those with h - 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from nbyt.exact.limits import require_room
from nbyt.exact.scores import Block, Scores
from nbyt.exact.values import discounted
from nbyt.exact.walk import Chain, Law, Links, Pairs, Vectors

# Vectors over each state's own parameters.
Local = Float[np.ndarray, "X k"]


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
    def scale_square(self) -> Pairs:
        """|f|^2."""
        return (self.scale**2).sum(axis=2)

    @cached_property
    def shifted(self) -> bool:
        """Whether any b is not 0."""
        return bool(self.shift.any())

    @cached_property
    def _shift_moments(self) -> tuple[Pairs, Pairs]:
        """f . b and |b|^2."""
        return (self.scale * self.shift).sum(axis=2), (self.shift**2).sum(axis=2)

    @property
    def dense(self) -> bool:
        """Whether every state has all parameters, in their order."""
        return self.index.shape[1] == self.size

    def mean(self, scale: Pairs, shift: Pairs) -> Local:
        """Return sums over the actions of scale f + shift b."""
        scaled = np.einsum("xa,xak->xk", scale, self.scale)
        return scaled + np.einsum("xa,xak->xk", shift, self.shift) if self.shifted else scaled

    def square(self, mean: Pairs, square: Pairs) -> Pairs:
        """Return E |f A + b|^2 of advantages with that mean and mean square."""
        product, shift_square = self._shift_moments
        return self.scale_square * square + 2 * product * mean + shift_square

    def whole(self, local: Float[np.ndarray, "*n k"]) -> Float[np.ndarray, "*n p"]:
        """Return vectors over all parameters, from those of each state's own; X is first."""
        if self.dense:
            return local
        vectors = np.zeros((*local.shape[:-1], self.size))
        index = self.index.reshape(len(local), *(1,) * (local.ndim - 2), -1)
        np.put_along_axis(vectors, np.broadcast_to(index, local.shape), local, axis=-1)
        return vectors

    def add(self, to: Vectors, local: Local) -> None:
        """Add to each state's row, in place, the vector over the state's own parameters."""
        if self.dense:
            to += local
        else:
            to[np.arange(len(local))[:, None], self.index] += local

    def expectation(self, law: Law, local: Local) -> Float[np.ndarray, " p"]:
        """Return the mean under `law` of vectors over each state's own parameters."""
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
    mean: float
    spread: float


def gradient(name: str, scores: Scores, chain: Chain, weights: Weights) -> Gradient:
    """Return the gradient called "actor", "critic" or "total".

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
    """Raise if the moments of a gradient of these scores are too many numbers."""
    states, (_, actions, width) = len(chain.valid), block.value.shape
    links = states * actions if width == block.size else len(chain.pair)
    require_room(
        4 * states * block.size + 2 * states * actions * width + 3 * links * width,
        f"the gradient of {block.size:,} parameters in {states:,} states",
    )


def _placed(block: Block, shift: Float[np.ndarray, "S A k"], chain: Chain) -> Gradient:
    """Return the gradient on the chain's states; a filler row contributes nothing."""
    require_gradient_room(block, chain)
    at, valid = chain.observation, chain.valid[:, None, None]
    return Gradient(block.size, block.index[at], block.value[at] * valid, shift[at] * valid)


class Advantage(NamedTuple):
    """Mean and mean square of the advantage, given state and action; and of the next one."""

    mean: Pairs
    square: Pairs
    next_mean: Law
    next_square: Law


class Sums(NamedTuple):
    """Moments given the state: E S, E A S and E |S|^2."""

    total: Vectors
    product: Vectors
    square: Law


def advantages(chain: Chain) -> Iterator[Advantage]:
    """Return the advantage with 1, 2, 3, ... steps to go, without end."""
    later = np.zeros(len(chain.start)), np.zeros(len(chain.start))
    while True:
        yield (now := _advantage(chain, *later))
        later = over_actions(chain, now.mean), over_actions(chain, now.square)


def endless_advantage(chain: Chain) -> Advantage:
    """Return the advantage with no last step, as in a chain that is never cut."""
    what = "the advantage of an endless rollout"
    mean = discounted(chain.carries, over_actions(chain, chain.mean_delta), what=what)
    gain = chain.mean_delta_square + 2 * chain.each(chain.delta_carry, mean)
    square = discounted(chain.factor * chain.carries, over_actions(chain, gain), what=what)
    return _advantage(chain, mean, square)


def one_more(chain: Chain, gradient: Gradient, advantage: Advantage, later: Sums) -> Sums:
    """Return the moments with one more step to go than `later`.

    E S = E[f A + b + S'], E A S = E[f A^2 + b A + delta S' + c A' S'],
    E |S|^2 = E[|f A + b|^2 + 2 f . (delta S' + c A' S') + 2 b . S' + |S'|^2].
    """
    first, second = expected(chain, gradient, advantage)
    total, product = back(chain, later.total, later.product)
    gradient.add(total, first)
    gradient.add(product, second)
    square = gradient.square(advantage.mean, advantage.square)
    square = square + 2 * onward(chain, gradient, later.total, later.product)
    return Sums(total, product, over_actions(chain, square) + chain.moves @ later.square)


def expected(chain: Chain, gradient: Gradient, advantage: Advantage) -> tuple[Local, Local]:
    """Return E g and E A g of one step given its state, over the state's own parameters."""
    policy = chain.policy
    mean, square = policy * advantage.mean, policy * advantage.square
    return gradient.mean(mean, policy), gradient.mean(square, mean)


def back(chain: Chain, total: Vectors, product: Vectors) -> tuple[Vectors, Vectors]:
    """Return E S' and E (delta S' + c A' S') given the state, from those of the next."""
    return chain.moves @ total, chain.deltas @ total + chain.carries @ product


def onward(chain: Chain, gradient: Gradient, total: Vectors, product: Vectors) -> Pairs:
    """Return f . E[delta S' + c A' S'] + b . E S' given state and action."""
    inner = _along(chain, gradient, gradient.scale, (chain.delta, total), (chain.carry, product))
    if gradient.shifted:
        inner += _along(chain, gradient, gradient.shift, (chain.probability, total))
    return inner


def _along(
    chain: Chain,
    gradient: Gradient,
    local: Float[np.ndarray, "X A k"],
    *after: tuple[Links, Vectors],
) -> Pairs:
    """Return inner products of `local` with each (weight, vector) summed over next states."""
    if gradient.dense:
        summed = sum(chain.pairs(weight) @ vector for weight, vector in after)
        return np.einsum("xap,xap->xa", local, summed.reshape(local.shape))
    # In a table a score has few entries: those alone are read from the next states' vectors.
    states, actions, width = local.shape
    own, there = gradient.index[chain.pair // actions], chain.target[:, None]
    read = sum(weight[:, None] * vector[there, own] for weight, vector in after)
    links = np.einsum("ek,ek->e", local.reshape(-1, width)[chain.pair], read)
    return np.bincount(chain.pair, links, states * actions).reshape(states, actions)


def _advantage(chain: Chain, mean: Law, square: Law) -> Advantage:
    """Return E A = E[delta + c A'] and E A^2 = E[delta^2 + 2 delta c A' + c^2 A'^2]."""
    own_mean = chain.mean_delta + chain.each(chain.carry, mean)
    own_square = chain.mean_delta_square + 2 * chain.each(chain.delta_carry, mean)
    # c is 0 or the factor, so its square is the factor times c.
    own_square = own_square + chain.factor * chain.each(chain.carry, square)
    return Advantage(own_mean, own_square, mean, square)


def over_actions(chain: Chain, table: Pairs) -> Law:
    """Return means over the actions of each state."""
    return (chain.policy * table).sum(axis=1)
