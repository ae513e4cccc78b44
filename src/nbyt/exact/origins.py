"""The variance of a rollout's gradient, split by where it comes from.

The draw of the env adds i = delta + c m(s') - m(s, a), that of the policy m(s, a) - m(s), with m
the mean advantage. Credited to the step's own score f and to the trace e of earlier scores they
make all noise of the advantages: T noise = sum_t (f + e) i + e (m(s, a) - m(s)). On Gbar, the
gradient without that noise, the same draws act through S, the gradient sum still to come.
Everything here is a difference of a martingale, so variances of different draws add up.
"""

from itertools import islice
from typing import NamedTuple, Unpack

import numpy as np

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.gradient import Advantage, Gradient, advantages, expected, over_actions
from nbyt.exact.limits import require_room
from nbyt.exact.problem import Options, PerGradient, Problem, pose
from nbyt.exact.walk import Chain, Law, Pairs, Vectors
from nbyt.numbers import STEPS
from nbyt.policy.actor_critic import Stage


class GradientSources(NamedTuple):
    """Parts of the variance of one env's rollout gradient; with N envs divide by N.

    G = Gbar + noise, where Gbar has E[A | s, a] for each advantage. Three views of one variance.
    By meaning: sampling, own_step, credit, coupling. By term: sampling_individual and
    noise_individual are the individual part, the rest of sampling with shared_luck and coupling
    is the covariance. By what was drawn: start, actions, transitions.
    """

    sampling: float = 0.0  # Var(Gbar): which states and actions were visited.
    sampling_individual: float = 0.0  # The part of `sampling` that single steps have by themselves.
    environment: float = 0.0  # Var(noise) from the env's answers.
    policy: float = 0.0  # Var(noise) from later actions.
    own_step: float = 0.0  # The part of `environment` that is the answer to the step's own action.
    noise_individual: float = 0.0  # The part of Var(noise) that single steps have by themselves.
    coupling: float = 0.0  # 2 Cov(Gbar, noise): the same luck decides what is visited next.
    start: float = 0.0  # Var(E[G | first state]).
    actions: float = 0.0  # What drawing the actions adds.
    transitions: float = 0.0  # What the env's draws add.

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


Sources = PerGradient[GradientSources]


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
    steps = STEPS.check(steps, "steps")
    return Sources(pose(env, policy, steps=steps, gamma=gamma, lam=lam, **options), _sources)


class _Behind(NamedTuple):
    """A step seen from the rollout's start: the law of s, E[e; s] and E[|e|^2; s]."""

    law: Law
    trace: Vectors
    trace_square: Law


def _sources(problem: Problem, name: str) -> GradientSources:
    chain, gradient = problem.chain, problem.gradient(name)
    steps, (states, actions) = len(problem.laws), chain.policy.shape
    require_room(
        (steps + 6 * actions) * states * gradient.size,
        f"the sources of {steps:,} steps in {states:,} states",
    )
    ahead, total = [], np.zeros((states, gradient.size))
    for advantage in islice(advantages(chain), steps):
        ahead.append((advantage, total))
        total = chain.moves @ total
        gradient.add(total, expected(chain, gradient, advantage)[0])
    behind = _Behind(problem.start, np.zeros_like(total), np.zeros(states))
    mean = problem.start @ total
    start = float(problem.start @ (total**2).sum(axis=1) - mean @ mean)
    parts = [GradientSources(start=start, sampling=start)]
    for advantage, later in reversed(ahead):
        part, behind = _one_step(chain, gradient, advantage, later, behind)
        parts.append(part)
    return GradientSources(*(sum(column) / steps**2 for column in zip(*parts, strict=True)))


def _one_step(
    chain: Chain, gradient: Gradient, advantage: Advantage, later: Vectors, behind: _Behind
) -> tuple[GradientSources, _Behind]:
    """Return what a step adds to T^2 times each part, and the next step seen from the start.

    later: E[S | s] one step later.
    """
    policy, mean, law = chain.policy, advantage.mean, behind.law
    by_env = _env_variance(chain, advantage)
    by_policy = mean - over_actions(chain, mean)[:, None]  # m(s, a) - m(s)
    scale = gradient.whole(gradient.scale)
    # E[S' | s, a], E[S | s, a], and for each action E[e + f; s] and E[|e + f|^2; s].
    after = chain.each(chain.probability, later)
    whole = after + gradient.whole(gradient.scale * mean[..., None] + gradient.shift)
    traced = behind.trace[:, None] + law[:, None, None] * scale
    traced_square = behind.trace_square[:, None] + 2 * np.einsum("xap,xp->xa", scale, behind.trace)
    traced_square += law[:, None] * gradient.scale_square
    # Of the step by itself: Var(f m + b), E |f|^2 i^2 and E |f|^2 Var(A | s, a).
    own = gradient.expectation(law, expected(chain, gradient, advantage)[0])
    pairs = law[:, None] * policy
    weight = pairs * gradient.scale_square
    # E |f + e|^2 i^2 and E |e|^2 (m(s, a) - m(s))^2.
    environment = (policy * traced_square * by_env).sum()
    noise = behind.trace_square @ over_actions(chain, by_policy**2)
    acted, moved = _visited(chain, law, later, after, whole)
    # Twice E[(m(s, a) - m(s)) e . E[S | s, a]] and twice E[i (f + e) . E[S' | s']].
    led = 2 * (policy * np.einsum("xp,xap->xa", behind.trace, whole) * by_policy).sum()
    carried = chain.each(chain.carry, advantage.next_mean[:, None] * later)
    drawn = chain.each(chain.delta, later) + carried - mean[..., None] * after
    brought = 2 * (policy * np.einsum("xap,xap->xa", traced, drawn)).sum()
    part = GradientSources(
        sampling=float(acted + moved),
        sampling_individual=float((pairs * gradient.square(mean, mean**2)).sum() - own @ own),
        environment=float(environment),
        policy=float(noise),
        own_step=float((weight * by_env).sum()),
        noise_individual=float((weight * (advantage.square - mean**2)).sum()),
        coupling=float(led + brought),
        actions=float(acted + noise + led),
        transitions=float(moved + environment + brought),
    )
    # One step later, where e' = c (e + f).
    carry = chain.pairs(chain.carry).T.tocsr()
    weighted = (policy[..., None] * traced).reshape(-1, gradient.size)
    square = chain.factor * (carry @ (policy * traced_square).ravel())
    return part, _Behind(chain.moves.T @ law, carry @ weighted, square)


def _visited(
    chain: Chain, law: Law, later: Vectors, after: np.ndarray, whole: np.ndarray
) -> tuple[float, float]:
    """Return E |E[S | s, a] - E[S | s]|^2 and E |E[S' | s'] - E[S' | s, a]|^2."""
    here = np.einsum("xa,xap->xp", chain.policy, whole)
    acted = over_actions(chain, (whole**2).sum(axis=2)) - (here**2).sum(axis=1)
    there = chain.each(chain.probability, (later**2).sum(axis=1))
    moved = over_actions(chain, there - (after**2).sum(axis=2))
    return float(law @ acted), float(law @ moved)


def _env_variance(chain: Chain, advantage: Advantage) -> Pairs:
    """Return E[i^2 | s, a]."""
    later = advantage.next_mean
    square = chain.mean_delta_square + 2 * chain.each(chain.delta_carry, later)
    return square + chain.factor * chain.each(chain.carry, later**2) - advantage.mean**2
