"""Moments of advantages and of gradient sums, from the last step of a rollout backwards.

With h steps to go the advantage is A = delta + c A' and the gradient sum S = f A + b + S', where
a prime is the same one step later. Given the next state, (A', S') do not depend on the past, so
every moment with h steps follows from those with h - 1.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.exact.gradient import Gradient
from nbyt.exact.values import discounted
from nbyt.exact.walk import Chain


class Advantage(NamedTuple):
    """Mean and mean square of the advantage, given state and action; and of the next one."""

    mean: Float[np.ndarray, "X A"]
    square: Float[np.ndarray, "X A"]
    next_mean: Float[np.ndarray, " X"]
    next_square: Float[np.ndarray, " X"]


class Sums(NamedTuple):
    """Moments given the state: E S, E A S and E |S|^2."""

    total: Float[np.ndarray, "X p"]
    product: Float[np.ndarray, "X p"]
    square: Float[np.ndarray, " X"]


def advantages(chain: Chain) -> Iterator[Advantage]:
    """The advantage with 1, 2, 3, ... steps to go, without end."""
    later = np.zeros(len(chain.start)), np.zeros(len(chain.start))
    while True:
        made = _advantage(chain, *later)
        yield made
        later = _over_actions(chain, made.mean), _over_actions(chain, made.square)


def endless_advantage(chain: Chain) -> Advantage:
    """The advantage with no last step, as in a chain that is never cut."""
    what = "the advantage of an endless rollout"
    mean = discounted(chain.carries, _over_actions(chain, chain.mean_delta), what=what)
    gain = chain.mean_delta_square + 2 * chain.each(chain.delta_carry, mean)
    square = discounted(chain.factor * chain.carries, _over_actions(chain, gain), what=what)
    return _advantage(chain, mean, square)


def nothing_left(chain: Chain, gradient: Gradient) -> Sums:
    """The moments with no step to go."""
    states = len(chain.start)
    zeros = np.zeros((states, gradient.size))
    return Sums(zeros, zeros, np.zeros(states))


def one_more(chain: Chain, gradient: Gradient, advantage: Advantage, later: Sums) -> Sums:
    """The moments with one more step to go than `later`.

    E S = E[f A + b + S'], E A S = E[f A^2 + b A + delta S' + c A' S'],
    E |S|^2 = E[|f A + b|^2 + 2 f . (delta S' + c A' S') + 2 b . S' + |S'|^2].
    """
    first, second = expected(chain, gradient, advantage)
    total, product = back(chain, later.total, later.product)
    gradient.add(total, first)
    gradient.add(product, second)
    square = gradient.square(advantage.mean, advantage.square)
    square = square + 2 * onward(chain, gradient, later.total, later.product)
    return Sums(total, product, _over_actions(chain, square) + chain.moves @ later.square)


def expected(
    chain: Chain, gradient: Gradient, advantage: Advantage
) -> tuple[Float[np.ndarray, "X k"], Float[np.ndarray, "X k"]]:
    """E g and E A g of one step given its state, over the state's own parameters."""
    policy = chain.policy
    mean, square = policy * advantage.mean, policy * advantage.square
    return gradient.mean(mean, policy), gradient.mean(square, mean)


def back(
    chain: Chain, total: Float[np.ndarray, "X p"], product: Float[np.ndarray, "X p"]
) -> tuple[Float[np.ndarray, "X p"], Float[np.ndarray, "X p"]]:
    """E S' and E (delta S' + c A' S') given the state, from E S' and E A' S' given the next."""
    return chain.moves @ total, chain.deltas @ total + chain.carries @ product


def onward(
    chain: Chain,
    gradient: Gradient,
    total: Float[np.ndarray, "X p"],
    product: Float[np.ndarray, "X p"],
) -> Float[np.ndarray, "X A"]:
    """f . E[delta S' + c A' S'] + b . E S' given state and action."""
    made = along(chain, gradient, gradient.scale, (chain.delta, total), (chain.carry, product))
    if gradient.shifted:
        made += along(chain, gradient, gradient.shift, (chain.probability, total))
    return made


def along(
    chain: Chain,
    gradient: Gradient,
    local: Float[np.ndarray, "X A k"],
    *after: tuple[Float[np.ndarray, " E"], Float[np.ndarray, "X p"]],
) -> Float[np.ndarray, "X A"]:
    """Inner products of `local` with the sum of each (weight, vector) over the next states."""
    states, actions, width = local.shape
    if gradient.dense:
        summed = sum(chain.pairs(weight) @ vector for weight, vector in after)
        return np.einsum("xap,xap->xa", local, summed.reshape(states, actions, width))
    # In a table a score has few entries: those alone are read from the next states' vectors.
    own = gradient.index[chain.pair // actions]
    there = chain.target[:, None]
    read = sum(weight[:, None] * vector[there, own] for weight, vector in after)
    links = np.einsum("ek,ek->e", local.reshape(-1, width)[chain.pair], read)
    return np.bincount(chain.pair, links, states * actions).reshape(states, actions)


def _advantage(
    chain: Chain, mean: Float[np.ndarray, " X"], square: Float[np.ndarray, " X"]
) -> Advantage:
    """E A = E[delta + c A'], E A^2 = E[delta^2 + 2 delta c A' + c^2 A'^2] by state and action."""
    own_mean = chain.mean_delta + chain.each(chain.carry, mean)
    own_square = chain.mean_delta_square + 2 * chain.each(chain.delta_carry, mean)
    # c is 0 or the factor, so its square is the factor times c.
    own_square = own_square + chain.factor * chain.each(chain.carry, square)
    return Advantage(own_mean, own_square, mean, square)


def _over_actions(chain: Chain, table: Float[np.ndarray, "X A"]) -> Float[np.ndarray, " X"]:
    return (chain.policy * table).sum(axis=1)
