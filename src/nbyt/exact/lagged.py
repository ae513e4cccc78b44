"""How much two steps of one rollout have in common, by the steps between them."""

from dataclasses import dataclass
from itertools import islice
from typing import Unpack

import numpy as np
from jaxtyping import Float

from nbyt.envs.tabular import TabularEnv
from nbyt.errors import UsageError
from nbyt.exact.gradient import Gradient
from nbyt.exact.limits import require_count
from nbyt.exact.problem import Options, PerGradient, Problem, pose
from nbyt.exact.recursion import (
    Advantage,
    advantages,
    back,
    endless_advantage,
    expected,
    onward,
)
from nbyt.exact.walk import Chain
from nbyt.policy.stage import Stage


@dataclass(frozen=True, eq=False)
class LagProfile:
    """Covariances of contributions that are 0, 1, 2, ... steps apart, summed over parameters.

    covariance[k] is the mean over all pairs of steps k apart. steps is None where the advantages
    are those of an endless, stationary rollout.
    """

    covariance: Float[np.ndarray, " lags"]
    steps: int | None

    @property
    def correlation(self) -> Float[np.ndarray, " lags"] | None:
        """covariance[k] / covariance[0]; None where no contribution varies."""
        return self.covariance / self.covariance[0] if self.covariance[0] > 0 else None

    @property
    def variance(self) -> float | None:
        """The variance of the rollout's gradient that these lags explain.

        T^-2 (T covariance[0] + 2 sum_k (T - k) covariance[k]): all of it if all lags are here.
        None for an endless rollout.
        """
        if self.steps is None:
            return None
        pairs = self.steps - np.arange(len(self.covariance))
        pairs[1:] *= 2
        return float(pairs @ self.covariance) / self.steps**2


class Lags(PerGradient[LagProfile]):
    """The lag profiles of actor, critic and total."""


def lags(
    env: TabularEnv,
    policy: Stage,
    *,
    steps: int | None,
    gamma: float,
    lam: float,
    count: int,
    **options: Unpack[Options],
) -> Lags:
    """Covariances of contributions up to `count` steps apart.

    With `steps`, within a rollout of that length; without (None), of an endless one, which is
    stationary.
    """
    require_count("count", count, 0, None if steps is None else max(steps - 1, 0))
    problem = pose(env, policy, steps=steps, gamma=gamma, lam=lam, **options)
    if steps is None and problem.start is not problem.stationary:
        raise UsageError(
            "an endless rollout has forgotten its start", where="start", fix='start="stationary"'
        )
    return Lags(problem, lambda posed, name: _profile(posed, name, count))


def _profile(problem: Problem, name: str, count: int) -> LagProfile:
    chain, gradient = problem.chain, problem.gradient(name)
    if problem.steps is None:
        laws = [problem.stationary] * (count + 1)
        advantage = endless_advantage(chain)
        mean = gradient.expectation(laws[0], expected(chain, gradient, advantage)[0])
        means = [mean] * (count + 1)
        return LagProfile(_covariances(chain, gradient, advantage, laws, means), None)
    steps = problem.steps
    made = list(islice(advantages(chain), steps))[::-1]
    means = [
        gradient.expectation(law, expected(chain, gradient, advantage)[0])
        for law, advantage in zip(problem.laws, made, strict=True)
    ]
    sums = np.zeros(count + 1)
    for u, advantage in enumerate(made):
        past = slice(max(u - count, 0), u + 1)
        found = _covariances(
            chain, gradient, advantage, list(problem.laws[past])[::-1], means[past][::-1]
        )
        sums[: len(found)] += found
    return LagProfile(sums / (steps - np.arange(count + 1)), steps)


def _covariances(
    chain: Chain,
    gradient: Gradient,
    advantage: Advantage,
    laws: list[Float[np.ndarray, " X"]],
    means: list[Float[np.ndarray, " p"]],
) -> Float[np.ndarray, " lags"]:
    """tr Cov(g_{u-k}, g_u) for k = 0, 1, ..., given laws and means of g at u, u-1, ...

    R_k = E[g_u | s_{u-k}] and Y_k = E[A_{u-k} g_u | s_{u-k}] follow from R_{k-1} and Y_{k-1} like
    the moments of a sum, and E[g_{u-k} . g_u] = E[f . (delta R_{k-1} + c Y_{k-1}) + b . R_{k-1}].
    """
    square = chain.policy * gradient.square(advantage.mean, advantage.square)
    products = [float(laws[0] @ square.sum(axis=1))]
    total, product = (gradient.whole(local) for local in expected(chain, gradient, advantage))
    for law in laws[1:]:
        both = chain.policy * onward(chain, gradient, total, product)
        products.append(float(law @ both.sum(axis=1)))
        total, product = back(chain, total, product)
    return np.array(products) - np.array([float(mean @ means[0]) for mean in means])
