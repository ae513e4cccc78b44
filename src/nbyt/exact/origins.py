"""Where the variance of a rollout's gradient comes from."""

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.limits import require_count, require_room
from nbyt.exact.noise import Behind, Parts, one_step, seen_from_end
from nbyt.exact.problem import Options, PerGradient, Problem, pose
from nbyt.policy.stage import Stage


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
        """Later luck credited to earlier actions; 0 where lam is 0."""
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
    """The variance of one env's rollout gradient, split by where it comes from."""
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
