"""What each step's luck adds to the variance of a rollout's gradient.

Luck of the env is i = delta + c m(s') - m(s, a), luck of the policy is m(s, a) - m(s), with m the
mean advantage. Credited to the step's own score f and to the trace e of earlier scores they make
all noise of the advantages: T noise = sum_t (f + e) i + e (m(s, a) - m(s)). On Gbar, the gradient
without that noise, the same draws act through S, the gradient sum still to come. Everything here
is a difference of a martingale, so variances of different draws add up.
"""

from itertools import islice
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.exact.chain import Chain
from nbyt.exact.gradient import Gradient
from nbyt.exact.recursion import Advantage, advantages, expected


class Ahead(NamedTuple):
    """A step seen from the rollout's end: its advantage, and E[S | s] one step later."""

    advantage: Advantage
    later: Float[np.ndarray, "X p"]


class Behind(NamedTuple):
    """A step seen from the rollout's start: the law of s, E[e; s] and E[|e|^2; s]."""

    law: Float[np.ndarray, " X"]
    trace: Float[np.ndarray, "X p"]
    trace_square: Float[np.ndarray, " X"]


class Parts(NamedTuple):
    """What a step adds to T^2 times each part of the variance.

    visited: to Var(Gbar), coupled: to 2 Cov(Gbar, noise), each by what drew the luck.
    """

    sampling_individual: float = 0.0
    own_step: float = 0.0
    noise_individual: float = 0.0
    environment: float = 0.0
    policy: float = 0.0
    visited_actions: float = 0.0
    visited_transitions: float = 0.0
    coupled_actions: float = 0.0
    coupled_transitions: float = 0.0


class _Sums(NamedTuple):
    """E[S' | s, a], E[S | s, a], and E[e + f; s] for each action."""

    later: Float[np.ndarray, "X A p"]
    whole: Float[np.ndarray, "X A p"]
    traced: Float[np.ndarray, "X A p"]


def seen_from_end(
    chain: Chain, gradient: Gradient, steps: int
) -> tuple[list[Ahead], Float[np.ndarray, "X p"]]:
    """The steps of a rollout in their order, and E[S | first state]."""
    total = np.zeros((len(chain.start), gradient.size))
    made = []
    for advantage in islice(advantages(chain), steps):
        made.append(Ahead(advantage, total))
        total = chain.moves @ total
        gradient.add(total, expected(chain, gradient, advantage)[0])
    return made[::-1], total


def one_step(
    chain: Chain, gradient: Gradient, ahead: Ahead, behind: Behind
) -> tuple[Parts, Behind]:
    """What one step adds, and the next step seen from the start."""
    advantage = ahead.advantage
    scale = gradient.whole(gradient.scale)
    later = chain.each(chain.probability, ahead.later)
    own = gradient.whole(gradient.scale * advantage.mean[..., None] + gradient.shift)
    traced = behind.trace[:, None] + behind.law[:, None, None] * scale
    sums = _Sums(later, later + own, traced)
    both = np.einsum("xap,xp->xa", scale, behind.trace)
    traced_square = behind.trace_square[:, None] + 2 * both
    traced_square += behind.law[:, None] * gradient.scale_square
    parts = Parts(
        *_own(chain, gradient, advantage, behind.law),
        *_noise(chain, advantage, behind, traced_square),
        *_visited(chain, ahead, behind.law, sums),
        *_coupled(chain, ahead, behind, sums),
    )
    return parts, _next(chain, behind, traced, traced_square)


def _own(
    chain: Chain, gradient: Gradient, advantage: Advantage, law: Float[np.ndarray, " X"]
) -> tuple[float, float, float]:
    """Var(f m + b), E |f|^2 i^2 and E |f|^2 Var(A | s, a) of the step by itself."""
    mean, pairs = advantage.mean, law[:, None] * chain.policy
    own = gradient.expectation(law, expected(chain, gradient, advantage)[0])
    sampling = (pairs * gradient.square(mean, mean**2)).sum() - own @ own
    weight = pairs * gradient.scale_square
    variability = (weight * (advantage.square - mean**2)).sum()
    return float(sampling), float((weight * _env_luck(chain, advantage)).sum()), float(variability)


def _noise(
    chain: Chain, advantage: Advantage, behind: Behind, traced_square: Float[np.ndarray, "X A"]
) -> tuple[float, float]:
    """E |f + e|^2 i^2 and E |e|^2 (m(s, a) - m(s))^2."""
    environment = (chain.policy * traced_square * _env_luck(chain, advantage)).sum()
    spread = (chain.policy * _policy_luck(chain, advantage) ** 2).sum(axis=1)
    return float(environment), float(behind.trace_square @ spread)


def _visited(
    chain: Chain, ahead: Ahead, law: Float[np.ndarray, " X"], sums: _Sums
) -> tuple[float, float]:
    """E |E[S | s, a] - E[S | s]|^2 and E |E[S' | s'] - E[S' | s, a]|^2."""
    here = np.einsum("xa,xap->xp", chain.policy, sums.whole)
    actions = chain.policy * (sums.whole**2).sum(axis=2)
    there = chain.each(chain.probability, (ahead.later**2).sum(axis=1))
    transitions = chain.policy * (there - (sums.later**2).sum(axis=2))
    by_state = actions.sum(axis=1) - (here**2).sum(axis=1)
    return float(law @ by_state), float(law @ transitions.sum(axis=1))


def _coupled(chain: Chain, ahead: Ahead, behind: Behind, sums: _Sums) -> tuple[float, float]:
    """Twice E[(m(s, a) - m(s)) e . E[S | s, a]] and twice E[i (f + e) . E[S' | s']]."""
    advantage = ahead.advantage
    led = np.einsum("xp,xap->xa", behind.trace, sums.whole) * _policy_luck(chain, advantage)
    carried = advantage.next_mean[:, None] * ahead.later
    with_luck = chain.each(chain.delta, ahead.later) + chain.each(chain.carry, carried)
    with_luck -= advantage.mean[..., None] * sums.later
    brought = np.einsum("xap,xap->xa", sums.traced, with_luck)
    return 2 * float((chain.policy * led).sum()), 2 * float((chain.policy * brought).sum())


def _env_luck(chain: Chain, advantage: Advantage) -> Float[np.ndarray, "X A"]:
    """E[i^2 | s, a]."""
    later = advantage.next_mean
    square = chain.mean_delta_square + 2 * chain.each(chain.delta_carry, later)
    square = square + chain.factor * chain.each(chain.carry, later**2)
    return square - advantage.mean**2


def _policy_luck(chain: Chain, advantage: Advantage) -> Float[np.ndarray, "X A"]:
    """m(s, a) - m(s)."""
    return advantage.mean - (chain.policy * advantage.mean).sum(axis=1, keepdims=True)


def _next(
    chain: Chain,
    behind: Behind,
    traced: Float[np.ndarray, "X A p"],
    traced_square: Float[np.ndarray, "X A"],
) -> Behind:
    """Law and trace one step later, where e' = c (e + f)."""
    carry = chain.pairs(chain.carry).T.tocsr()
    weighted = (chain.policy[..., None] * traced).reshape(-1, traced.shape[2])
    square = chain.factor * (carry @ (chain.policy * traced_square).ravel())
    return Behind(chain.moves.T @ behind.law, carry @ weighted, square)
