"""The variance of a rollout's gradient, split by where it comes from."""

from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Unpack

import numpy as np
from jaxtyping import Float

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.gradient import Advantage, Gradient, advantages, expected
from nbyt.exact.limits import require_count, require_room
from nbyt.exact.problem import Options, PerGradient, Problem, pose
from nbyt.exact.walk import Chain
from nbyt.policy.stage import Stage

# What each step's luck adds to the variance of a rollout's gradient.
#
# Luck of the env is i = delta + c m(s') - m(s, a), luck of the policy is m(s, a) - m(s), with m the
# mean advantage. Credited to the step's own score f and to the trace e of earlier scores they make
# all noise of the advantages: T noise = sum_t (f + e) i + e (m(s, a) - m(s)). On Gbar, the gradient
# without that noise, the same draws act through S, the gradient sum still to come. Everything here
# is a difference of a martingale, so variances of different draws add up.


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
    """Return the steps of a rollout in their order, and E[S | first state]."""
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
    """Return what one step adds, and the next step seen from the start."""
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
    """Return Var(f m + b), E |f|^2 i^2 and E |f|^2 Var(A | s, a) of the step by itself."""
    mean, pairs = advantage.mean, law[:, None] * chain.policy
    own = gradient.expectation(law, expected(chain, gradient, advantage)[0])
    sampling = (pairs * gradient.square(mean, mean**2)).sum() - own @ own
    weight = pairs * gradient.scale_square
    variability = (weight * (advantage.square - mean**2)).sum()
    return float(sampling), float((weight * _env_luck(chain, advantage)).sum()), float(variability)


def _noise(
    chain: Chain, advantage: Advantage, behind: Behind, traced_square: Float[np.ndarray, "X A"]
) -> tuple[float, float]:
    """Return E |f + e|^2 i^2 and E |e|^2 (m(s, a) - m(s))^2."""
    environment = (chain.policy * traced_square * _env_luck(chain, advantage)).sum()
    spread = (chain.policy * _policy_luck(chain, advantage) ** 2).sum(axis=1)
    return float(environment), float(behind.trace_square @ spread)


def _visited(
    chain: Chain, ahead: Ahead, law: Float[np.ndarray, " X"], sums: _Sums
) -> tuple[float, float]:
    """Return E |E[S | s, a] - E[S | s]|^2 and E |E[S' | s'] - E[S' | s, a]|^2."""
    here = np.einsum("xa,xap->xp", chain.policy, sums.whole)
    actions = chain.policy * (sums.whole**2).sum(axis=2)
    there = chain.each(chain.probability, (ahead.later**2).sum(axis=1))
    transitions = chain.policy * (there - (sums.later**2).sum(axis=2))
    by_state = actions.sum(axis=1) - (here**2).sum(axis=1)
    return float(law @ by_state), float(law @ transitions.sum(axis=1))


def _coupled(chain: Chain, ahead: Ahead, behind: Behind, sums: _Sums) -> tuple[float, float]:
    """Return twice E[(m(s, a) - m(s)) e . E[S | s, a]] and twice E[i (f + e) . E[S' | s']]."""
    advantage = ahead.advantage
    led = np.einsum("xp,xap->xa", behind.trace, sums.whole) * _policy_luck(chain, advantage)
    carried = advantage.next_mean[:, None] * ahead.later
    with_luck = chain.each(chain.delta, ahead.later) + chain.each(chain.carry, carried)
    with_luck -= advantage.mean[..., None] * sums.later
    brought = np.einsum("xap,xap->xa", sums.traced, with_luck)
    return 2 * float((chain.policy * led).sum()), 2 * float((chain.policy * brought).sum())


def _env_luck(chain: Chain, advantage: Advantage) -> Float[np.ndarray, "X A"]:
    """Return E[i^2 | s, a]."""
    later = advantage.next_mean
    square = chain.mean_delta_square + 2 * chain.each(chain.delta_carry, later)
    square = square + chain.factor * chain.each(chain.carry, later**2)
    return square - advantage.mean**2


def _policy_luck(chain: Chain, advantage: Advantage) -> Float[np.ndarray, "X A"]:
    """Return m(s, a) - m(s)."""
    return advantage.mean - (chain.policy * advantage.mean).sum(axis=1, keepdims=True)


def _next(
    chain: Chain,
    behind: Behind,
    traced: Float[np.ndarray, "X A p"],
    traced_square: Float[np.ndarray, "X A"],
) -> Behind:
    """Return law and trace one step later, where e' = c (e + f)."""
    carry = chain.pairs(chain.carry).T.tocsr()
    weighted = (chain.policy[..., None] * traced).reshape(-1, traced.shape[2])
    square = chain.factor * (carry @ (chain.policy * traced_square).ravel())
    return Behind(chain.moves.T @ behind.law, carry @ weighted, square)


@dataclass(frozen=True)
class GradientSources:
    """Parts of the variance of one env's rollout gradient; with N envs divide by N.

    G = Gbar + noise, where Gbar has E[A | s, a] for each advantage. Three views of one variance.
    By meaning: sampling, own_step, credit, coupling. By term: sampling_individual and
    noise_individual are the individual part, the rest of sampling with shared_luck and coupling
    is the covariance. By what was drawn: start, actions, transitions.
    """

    sampling: float
    """Var(Gbar): which states and actions were visited."""
    sampling_individual: float
    """The part of `sampling` that single steps have by themselves."""
    environment: float
    """Var(noise) from the env's answers."""
    policy: float
    """Var(noise) from later actions."""
    own_step: float
    """The part of `environment` that is the answer to the step's own action."""
    noise_individual: float
    """The part of Var(noise) that single steps have by themselves."""
    coupling: float
    """2 Cov(Gbar, noise): the same luck decides what is visited next."""
    start: float
    """Var(E[G | first state])."""
    actions: float
    """What drawing the actions adds."""
    transitions: float
    """What the env's draws add."""

    @property
    def noise(self) -> float:
        """Var(noise)."""
        return self.environment + self.policy

    @property
    def credit(self) -> float:
        """Later noise credited to earlier actions; 0 where lam is 0."""
        return self.noise - self.own_step

    @property
    def shared_luck(self) -> float:
        """The part of Var(noise) that steps have in common; may be negative."""
        return self.noise - self.noise_individual

    @property
    def variance(self) -> float:
        """All of it."""
        return self.sampling + self.noise + self.coupling


class Sources(PerGradient[GradientSources]):
    """The sources of actor, critic and total."""


def sources(
    env: TabularEnv,
    policy: Stage,
    *,
    steps: int,
    gamma: float,
    lam: float,
    **options: Unpack[Options],
) -> Sources:
    """Calculate the variance of one env's rollout gradient, split by where it comes from."""
    require_count("steps", steps, 1)
    problem = pose(env, policy, steps=steps, gamma=gamma, lam=lam, **options)
    return Sources(problem, _sources)


def _sources(problem: Problem, name: str) -> GradientSources:
    chain, gradient = problem.chain, problem.gradient(name)
    steps, (states, actions) = len(problem.laws), chain.policy.shape
    require_room(
        (steps + 6 * actions) * states * gradient.size,
        f"the sources of {steps:,} steps in {states:,} states",
    )
    ahead, first = seen_from_end(chain, gradient, steps)
    behind = Behind(problem.start, np.zeros_like(first), np.zeros(states))
    sums = Parts()
    for step in ahead:
        found, behind = one_step(chain, gradient, step, behind)
        sums = Parts(*(old + new for old, new in zip(sums, found, strict=True)))
    mean = problem.start @ first
    start = float(problem.start @ (first**2).sum(axis=1) - mean @ mean)
    return _split(Parts(*(part / steps**2 for part in sums)), start / steps**2)


def _split(parts: Parts, start: float) -> GradientSources:
    return GradientSources(
        sampling=start + parts.visited_actions + parts.visited_transitions,
        sampling_individual=parts.sampling_individual,
        environment=parts.environment,
        policy=parts.policy,
        own_step=parts.own_step,
        noise_individual=parts.noise_individual,
        coupling=parts.coupled_actions + parts.coupled_transitions,
        start=start,
        actions=parts.visited_actions + parts.policy + parts.coupled_actions,
        transitions=parts.visited_transitions + parts.environment + parts.coupled_transitions,
    )
