"""Exact mean and variance of the gradients of one env's rollout."""

from itertools import islice
from typing import Literal

import numpy as np

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.bias import bias, reference
from nbyt.exact.gradient import Gradient
from nbyt.exact.gradient_moments import GradientMoments
from nbyt.exact.problem import PerGradient, Problem, pose
from nbyt.exact.recursion import advantages, expected, nothing_left, one_more
from nbyt.exact.scores import Features
from nbyt.policy.stage import Stage

# Rounding of the double precision sums here, and of the single precision values that stages keep.
_SUM_ROUNDING, _VALUE_ROUNDING = 1e-12, 2.0**-22


class Moments(PerGradient[GradientMoments]):
    """The moments of actor, critic and total."""


def moments(
    env: TabularEnv,
    policy: Stage,
    *,
    steps: int,
    gamma: float,
    lam: float,
    start: Literal["stationary", "reset"] = "stationary",
    centre: bool = False,
    features: Features | None = None,
    value_coefficient: float = 0.5,
    entropy_coefficient: float = 0.0,
    autoreset: Literal["same-step", "next-step"] = "same-step",
) -> Moments:
    """Mean, variance and bias of the gradients of one env's rollout of `steps` steps.

    The options are those of `Options`. With `centre` the actor's advantage and reference are
    divided by the spread of the rollout's advantages. autoreset="next-step" counts filler rows
    among the `steps`, as a library does that keeps them; nbyt's own pools take them out.
    """
    problem = pose(
        env,
        policy,
        steps=steps,
        gamma=gamma,
        lam=lam,
        start=start,
        centre=centre,
        features=features,
        value_coefficient=value_coefficient,
        entropy_coefficient=entropy_coefficient,
        autoreset=autoreset,
    )
    return Moments(problem, rollout_moments)


def rollout_moments(problem: Problem, name: str) -> GradientMoments:
    """The moments of one gradient G = (1/T) sum_t g_t.

    individual is T^-2 sum_t (E |g_t|^2 - |E g_t|^2).
    """
    gradient, chain = problem.gradient(name), problem.chain
    steps = len(problem.laws)
    sums = nothing_left(chain, gradient)
    individual = mean_square = 0.0
    for law, advantage in zip(problem.laws[::-1], islice(advantages(chain), steps), strict=True):
        sums = one_more(chain, gradient, advantage, sums)
        own = gradient.expectation(law, expected(chain, gradient, advantage)[0])
        square = chain.policy * gradient.square(advantage.mean, advantage.square)
        individual += float(law @ square.sum(axis=1) - own @ own) / steps**2
        mean_square += float(own @ own) / steps
    mean = problem.start @ sums.total
    return GradientMoments(
        mean / steps,
        float(problem.start @ sums.square - mean @ mean) / steps**2,
        individual,
        reference(problem, gradient),
        bias(problem, gradient, mean / steps),
        mean_square,
        _grain(problem, gradient, name),
    )


def _grain(problem: Problem, gradient: Gradient, name: str) -> float:
    """The length that rounding alone can give a reference that is 0.

    A critic with the true values has them in single precision, so its reference is not quite 0.
    """
    chain = problem.chain
    weight = problem.stationary[:, None] * chain.policy * np.sqrt(gradient.scale_square)
    value = np.abs(problem.scores.values)[chain.observation, None]
    if name == "critic":
        return _VALUE_ROUNDING * float((weight * value).sum())
    size = value + np.abs(problem.true.action)[chain.observation]
    return _SUM_ROUNDING * float((weight * size).sum())
