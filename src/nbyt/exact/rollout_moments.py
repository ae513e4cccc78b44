"""Exact mean and variance of the gradients of one env's rollout."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Unpack

import numpy as np
from jaxtyping import Float

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.gradient import Gradient, Local, Sums, advantages, expected, one_more, over_actions
from nbyt.exact.problem import Options, PerGradient, Problem, pose
from nbyt.exact.walk import Pairs
from nbyt.numbers import SIZE, STEPS
from nbyt.policy.actor_critic import Stage


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


def _bias(problem: Problem, gradient: Gradient, vector: Float[np.ndarray, " p"]) -> Bias:
    """Return the bias `vector` with its two parts.

    Advantage part: the mean over t of E[f (E[A | s, a] - target)] under the rollout's laws.
    Phase part: the mean over t of (law_t - stationary law) . E[f target + b | s].
    """
    steps = len(problem.laws)
    wrong = np.zeros(gradient.size)
    for law, excess in zip(problem.laws[::-1], _excesses(problem, steps), strict=True):
        local = gradient.mean(problem.chain.policy * excess, np.zeros_like(excess))
        wrong += gradient.expectation(law, local) / steps
    elsewhere = problem.laws.mean(axis=0) - problem.stationary
    return Bias(vector, wrong, gradient.expectation(elsewhere, _true(problem, gradient)))


def _true(problem: Problem, gradient: Gradient) -> Local:
    """Return E[f target + b] in each state."""
    policy = problem.chain.policy
    return gradient.mean(policy * problem.target, policy)


def _excesses(problem: Problem, steps: int) -> Iterator[Pairs]:
    """Yield E[A | s, a] - target with 1, 2, ... steps to go, from the critic's error alone.

    With e the critic's error and D, C the expectations of gamma e(s') over bootstraps and of c:
    excess_h = D e - C e + C (excess_{h-1} averaged over actions), where excess_0 = e. Without a
    time limit that is gamma (1 - lam) sum_{0 < l < h} (gamma lam)^{l-1} P^l e
    + gamma (gamma lam)^{h-1} P^h e.
    """
    chain = problem.chain
    error = problem.scores.values - problem.true.state
    later = error[chain.observation]  # a filler row is never carried to, so its own is not read
    bootstrapped = (chain.bootstrap @ error).reshape(chain.policy.shape)
    one_step = bootstrapped - chain.each(chain.carry, later)
    for _ in range(steps):
        yield (excess := one_step + chain.each(chain.carry, later))
        later = over_actions(chain, excess)


@dataclass(frozen=True, eq=False)
class GradientMoments:
    """The gradient of one env's rollout of T steps; with N envs its variances are divided by N.

    variance is the trace of the covariance matrix. individual is the part that T independent
    steps would have, covariance the rest, which may be negative. step_mean_square is the mean
    over the steps of |E g_t|^2. Lengths up to `grain` are rounding and count as 0.
    """

    mean: Float[np.ndarray, " p"]
    variance: float
    individual: float
    reference: Float[np.ndarray, " p"]
    bias: Bias
    step_mean_square: float
    grain: float

    @property
    def covariance(self) -> float:
        """What the steps of one rollout have in common."""
        return self.variance - self.individual

    @property
    def ess_ratio(self) -> float | None:
        """Effective samples per sample; above 1 where the steps' errors cancel."""
        return self.individual / self.variance if self.variance > 0 else None

    @property
    def cosine(self) -> float | None:
        """The cosine between mean gradient and reference; None where either is 0."""
        lengths = np.linalg.norm(self.mean), np.linalg.norm(self.reference)
        if min(lengths) <= self.grain:
            return None
        return float(self.mean @ self.reference / (lengths[0] * lengths[1]))

    @property
    def bias_factor(self) -> float | None:
        """cosine |cosine|: the alignment of infinitely many envs."""
        return None if self.cosine is None else self.cosine * abs(self.cosine)

    def noise_factor(self, envs: int) -> float | None:
        """Return |E G|^2 / (|E G|^2 + variance / envs), the expected cosine of two batches."""
        square = float(self.mean @ self.mean)
        whole = square + self.variance / SIZE.check(envs, "envs")
        return square / whole if whole > 0 else None

    def alignment(self, envs: int) -> float | None:
        """Return the signed share of the best possible improvement that one step keeps.

        bias factor times noise factor; None where the reference is 0.
        """
        noise = self.noise_factor(envs)
        if noise is None or np.linalg.norm(self.reference) <= self.grain:
            return None
        return 0.0 if self.bias_factor is None else self.bias_factor * noise

    def mse(self, envs: int) -> float:
        """Return the mean squared distance to the reference."""
        return self.bias.squared + self.variance / SIZE.check(envs, "envs")


# Rounding of the double precision sums here, and of the single precision values that stages keep.
_SUM_ROUNDING, _VALUE_ROUNDING = 1e-12, 2.0**-22


Moments = PerGradient[GradientMoments]


def moments(
    env: TabularEnv,
    policy: Stage,
    *,
    steps: int,
    gamma: float,
    lam: float,
    **options: Unpack[Options],
) -> Moments:
    """Calculate mean, variance and bias of the gradients of one env's rollout.

    Parameters
    ----------
    env
        An env that is a table.
    policy
        A stage of nbyt's own, of a table or a network.
    steps, gamma, lam
        T, the discount, and GAE's lambda.
    start
        "stationary", the law of the walk with its resets, or "reset", all envs begin an episode.
    centre
        Whether the actor's advantages are centred and divided by their spread over the rollout.
    features
        Scores that replace the stage's.
    value_coefficient, entropy_coefficient
        Those of the total.
    autoreset
        "next-step" counts filler rows among the `steps`, as a library does that keeps them;
        nbyt's own pools take them out.

    Returns
    -------
    Moments
        Of the actor's, the critic's and the total gradient, each calculated when it is asked for.

    Examples
    --------
    >>> from nbyt.exact import sticky
    >>> control = sticky()
    >>> exact = moments(control.env, control.stage, steps=32, gamma=0.99, lam=0.95)
    >>> bool(exact.actor.covariance > 0.5 * exact.actor.variance)  # of one env
    True
    """
    steps = STEPS.check(steps, "steps")
    return Moments(pose(env, policy, steps=steps, gamma=gamma, lam=lam, **options), _moments)


def _moments(problem: Problem, name: str) -> GradientMoments:
    """Return the moments of one gradient G = (1/T) sum_t g_t.

    individual is T^-2 sum_t (E |g_t|^2 - |E g_t|^2). The reference G* is the mean contribution
    with true advantages under the stationary law. Actor: E[psi A], critic:
    E[(V - V_critic) d V_critic], with the policy's own V and A and no time limit in them. A filler
    row counts as a row that gives 0.
    """
    gradient, chain = problem.gradient(name), problem.chain
    steps, zeros = len(problem.laws), np.zeros((len(chain.start), gradient.size))
    sums = Sums(zeros, zeros, np.zeros(len(zeros)))
    individual = mean_square = 0.0
    for law, advantage in zip(problem.laws[::-1], islice(advantages(chain), steps), strict=True):
        sums = one_more(chain, gradient, advantage, sums)
        own = gradient.expectation(law, expected(chain, gradient, advantage)[0])
        square = over_actions(chain, gradient.square(advantage.mean, advantage.square))
        individual += float(law @ square - own @ own) / steps**2
        mean_square += float(own @ own) / steps
    mean = problem.start @ sums.total
    reference = gradient.expectation(problem.stationary, _true(problem, gradient))
    return GradientMoments(
        mean / steps,
        float(problem.start @ sums.square - mean @ mean) / steps**2,
        individual,
        reference,
        _bias(problem, gradient, mean / steps - reference),
        mean_square,
        _grain(problem, gradient, name),
    )


def _grain(problem: Problem, gradient: Gradient, name: str) -> float:
    """Return the length that rounding alone can give a reference that is 0.

    A critic with the true values has them in single precision, so its reference is not quite 0.
    """
    chain = problem.chain
    weight = problem.stationary[:, None] * chain.policy * np.sqrt(gradient.scale_square)
    value = np.abs(problem.scores.values)[chain.observation, None]
    if name == "critic":
        return _VALUE_ROUNDING * float((weight * value).sum())
    size = value + np.abs(problem.true.action)[chain.observation]
    return _SUM_ROUNDING * float((weight * size).sum())
