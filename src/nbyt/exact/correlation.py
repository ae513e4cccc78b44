"""Correlation of the steps of one rollout by lag, and of envs that start together by phase."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Unpack

import numpy as np
from jaxtyping import Float

from nbyt.envs.tabular import TabularEnv
from nbyt.errors import UsageError
from nbyt.exact.gradient import (
    Advantage,
    Gradient,
    advantages,
    back,
    endless_advantage,
    expected,
    onward,
    over_actions,
)
from nbyt.exact.limits import require_room
from nbyt.exact.problem import Options, PerGradient, Problem, pose
from nbyt.exact.values import discounted, potential
from nbyt.exact.walk import Chain, Law
from nbyt.numbers import STEPS, Number
from nbyt.policy.actor_critic import Stage


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


LongRun = PerGradient[LongRunVariance]


def long_run(
    env: TabularEnv, policy: Stage, *, gamma: float, lam: float, **options: Unpack[Options]
) -> LongRun:
    """Return the limits of T V(T), and how many steps are worth one."""
    return LongRun(pose(env, policy, steps=None, gamma=gamma, lam=lam, **options), _long_run)


def _long_run(problem: Problem, name: str) -> LongRunVariance:
    """Return Cov(g, g) + 2 sum_k Cov(g_0, g_k) under the stationary law.

    With h = E[g | s] and its mean g, H = sum_k E[g_k - g | s_0] solves (I - P + 1 d) H = h - g,
    Y = sum_k E[A_0 (g_k - g) | s_0] solves (I - C) Y = E[A g_0 | s] - E[A | s] g + E[delta H'],
    and the sum over lags is E[f . (delta H' + c Y') + b . H'].
    """
    chain, gradient, law = problem.chain, problem.gradient(name), problem.stationary
    advantage = endless_advantage(chain)
    first, second = (gradient.whole(local) for local in expected(chain, gradient, advantage))
    mean = law @ first
    total = potential(chain.moves, law, first - mean)
    own_mean = over_actions(chain, advantage.mean)
    gain = second - own_mean[:, None] * mean + chain.deltas @ total
    product = discounted(chain.carries, gain, what="the advantage of an endless rollout")
    square = over_actions(chain, gradient.square(advantage.mean, advantage.square))
    individual = float(law @ square - mean @ mean)
    lagged = over_actions(chain, onward(chain, gradient, total, product))
    return LongRunVariance(individual + 2 * float(law @ lagged), individual)


@dataclass(frozen=True, eq=False)
class PhaseMoments:
    """The mean gradient of each update, when all envs started together.

    Its variance over the updates does not shrink with the number of envs.
    """

    means: Float[np.ndarray, "updates p"]

    @property
    def mean(self) -> Float[np.ndarray, " p"]:
        """The mean gradient over all updates."""
        return self.means.mean(axis=0)

    @property
    def variance(self) -> float:
        """The mean over updates of |E_j G - mean|^2."""
        return float(((self.means - self.mean) ** 2).sum(axis=1).mean())


Phase = PerGradient[PhaseMoments]


def phase(
    env: TabularEnv,
    policy: Stage,
    *,
    steps: int,
    gamma: float,
    lam: float,
    updates: int,
    **options: Unpack[Options],
) -> Phase:
    """Return mean gradients of successive updates of a frozen policy, and their variance.

    All envs begin an episode together; start="stationary" shows envs at independent phases.
    With `centre`, mean and spread of the advantages are those over all updates.
    """
    steps, updates = STEPS.check(steps, "steps"), STEPS.check(updates, "updates")
    options.setdefault("start", "reset")
    problem = pose(env, policy, steps=steps, gamma=gamma, lam=lam, **options)
    require_room(updates * len(problem.start), "the law of the state at every update")
    starts = problem.chain.laws(problem.start, updates, stride=steps)
    mixed = replace(problem, start=starts.mean(axis=0))
    return Phase(mixed, lambda posed, name: _phase(posed, name, starts))


def _phase(problem: Problem, name: str, starts: Float[np.ndarray, "updates X"]) -> PhaseMoments:
    chain, gradient, steps = problem.chain, problem.gradient(name), problem.steps
    assert steps is not None
    require_room(len(starts) * gradient.size, "the mean gradient of every update")
    total = np.zeros((len(problem.start), gradient.size))
    for advantage in islice(advantages(chain), steps):
        total = chain.moves @ total
        gradient.add(total, expected(chain, gradient, advantage)[0])
    return PhaseMoments(starts @ total / steps)


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


Lags = PerGradient[LagProfile]


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
    """Return covariances of contributions up to `count` steps apart.

    With `steps`, within a rollout of that length; without (None), of an endless one, which is
    stationary.
    """
    most = STEPS.high if steps is None else max(STEPS.check(steps, "steps") - 1, 0)
    count = Number(0, most, whole=True).check(count, "count")
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
        laws = list(problem.laws[past])[::-1]
        sums[: len(laws)] += _covariances(chain, gradient, advantage, laws, means[past][::-1])
    return LagProfile(sums / (steps - np.arange(count + 1)), steps)


def _covariances(
    chain: Chain,
    gradient: Gradient,
    advantage: Advantage,
    laws: list[Law],
    means: list[Float[np.ndarray, " p"]],
) -> Float[np.ndarray, " lags"]:
    """Return tr Cov(g_{u-k}, g_u) for k = 0, 1, ..., given laws and means of g at u, u-1, ...

    R_k = E[g_u | s_{u-k}] and Y_k = E[A_{u-k} g_u | s_{u-k}] follow from R_{k-1} and Y_{k-1} like
    the moments of a sum, and E[g_{u-k} . g_u] = E[f . (delta R_{k-1} + c Y_{k-1}) + b . R_{k-1}].
    """
    square = over_actions(chain, gradient.square(advantage.mean, advantage.square))
    products = [float(laws[0] @ square)]
    total, product = (gradient.whole(local) for local in expected(chain, gradient, advantage))
    for law in laws[1:]:
        products.append(float(law @ over_actions(chain, onward(chain, gradient, total, product))))
        total, product = back(chain, total, product)
    return np.array(products) - np.array([float(mean @ means[0]) for mean in means])
