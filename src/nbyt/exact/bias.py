"""How far the mean gradient is from the true one, and which part is whose."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from nbyt.exact.gradient import Gradient
from nbyt.exact.problem import Problem


@dataclass(frozen=True, eq=False)
class Bias:
    """E G - G*, its part from wrong advantages and its part from where the rollout is.

    vector is measured, advantage and phase come from formulas of their own; they add up to it.
    """

    vector: Float[np.ndarray, " p"]
    advantage: Float[np.ndarray, " p"]
    phase: Float[np.ndarray, " p"]

    @property
    def squared(self) -> float:
        """|E G - G*|^2."""
        return float(self.vector @ self.vector)


def reference(problem: Problem, gradient: Gradient) -> Float[np.ndarray, " p"]:
    """G*: the mean contribution with true advantages under the stationary law.

    Actor: E[psi A], critic: E[(V - V_critic) d V_critic], with the policy's own V and A and no
    time limit in them. A filler row counts as a row that gives 0.
    """
    return gradient.expectation(problem.stationary, _true(problem, gradient))


def bias(problem: Problem, gradient: Gradient, mean: Float[np.ndarray, " p"]) -> Bias:
    """The bias of a mean gradient and its two parts.

    Advantage part: the mean over t of E[f (E[A | s, a] - target)] under the rollout's laws.
    Phase part: the mean over t of (law_t - stationary law) . E[f target + b | s].
    """
    steps = len(problem.laws)
    wrong = np.zeros(gradient.size)
    for law, excess in zip(problem.laws[::-1], _excesses(problem, steps), strict=True):
        local = gradient.mean(problem.chain.policy * excess, np.zeros_like(excess))
        wrong += gradient.expectation(law, local) / steps
    elsewhere = problem.laws.mean(axis=0) - problem.stationary
    phase = gradient.expectation(elsewhere, _true(problem, gradient))
    return Bias(mean - reference(problem, gradient), wrong, phase)


def _true(problem: Problem, gradient: Gradient) -> Float[np.ndarray, "X k"]:
    """E[f target + b] in each state."""
    policy = problem.chain.policy
    return gradient.mean(policy * problem.target, policy)


def _excesses(problem: Problem, steps: int) -> list[Float[np.ndarray, "X A"]]:
    """E[A | s, a] - target with 1, 2, ..., `steps` steps to go, from the critic's error alone.

    With e the critic's error and D, C the expectations of gamma e(s') over bootstraps and of c:
    excess_h = D e - C e + C (excess_{h-1} averaged over actions), where excess_0 = e. Without a
    time limit that is gamma (1 - lam) sum_{0 < l < h} (gamma lam)^{l-1} P^l e
    + gamma (gamma lam)^{h-1} P^h e.
    """
    chain = problem.chain
    error = problem.scores.values - problem.true.state
    here = error[chain.observation]  # a filler row is never carried to, so its own is not read
    bootstrapped = (chain.bootstrap @ error).reshape(chain.policy.shape)
    one_step = bootstrapped - chain.each(chain.carry, here)
    made, later = [], here
    for _ in range(steps):
        made.append(one_step + chain.each(chain.carry, later))
        later = (chain.policy * made[-1]).sum(axis=1)
    return made
