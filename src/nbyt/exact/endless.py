"""The variance of very long rollouts, without a rollout."""

from dataclasses import dataclass
from typing import Unpack

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.problem import Options, PerGradient, Problem, pose
from nbyt.exact.recursion import endless_advantage, expected, onward
from nbyt.exact.stationary import discounted, potential
from nbyt.policy.stage import Stage


@dataclass(frozen=True, eq=False)
class LongRunVariance:
    """What T times the variance of a rollout of T steps goes to, as T grows.

    individual is the variance of one contribution: the limit if all steps were independent.
    """

    variance: float
    individual: float

    @property
    def tau(self) -> float | None:
        """Steps that are worth one independent step; None where nothing varies."""
        return self.variance / self.individual if self.individual > 0 else None


class LongRun(PerGradient[LongRunVariance]):
    """The long-run variances of actor, critic and total."""


def long_run(
    env: TabularEnv, policy: Stage, *, gamma: float, lam: float, **options: Unpack[Options]
) -> LongRun:
    """The limits of T V(T), and how many steps are worth one."""
    problem = pose(env, policy, steps=None, gamma=gamma, lam=lam, **options)
    return LongRun(problem, _long_run)


def _long_run(problem: Problem, name: str) -> LongRunVariance:
    """Cov(g, g) + 2 sum_k Cov(g_0, g_k) under the stationary law.

    With h = E[g | s] and its mean g, H = sum_k E[g_k - g | s_0] solves (I - P + 1 d) H = h - g,
    Y = sum_k E[A_0 (g_k - g) | s_0] solves (I - C) Y = E[A g_0 | s] - E[A | s] g + E[delta H'],
    and the sum over lags is E[f . (delta H' + c Y') + b . H'].
    """
    chain, gradient, law = problem.chain, problem.gradient(name), problem.stationary
    advantage = endless_advantage(chain)
    first, second = (gradient.whole(local) for local in expected(chain, gradient, advantage))
    mean = law @ first
    total = potential(chain.moves, law, first - mean)
    own_mean = (chain.policy * advantage.mean).sum(axis=1)
    gain = second - own_mean[:, None] * mean + chain.deltas @ total
    product = discounted(chain.carries, gain, what="the advantage of an endless rollout")
    square = chain.policy * gradient.square(advantage.mean, advantage.square)
    individual = float(law @ square.sum(axis=1) - mean @ mean)
    lagged = chain.policy * onward(chain, gradient, total, product)
    return LongRunVariance(individual + 2 * float(law @ lagged.sum(axis=1)), individual)
