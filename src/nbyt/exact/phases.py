"""What envs that start together have in common: where in the episode an update finds them."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Unpack

import numpy as np
from jaxtyping import Float

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.limits import require_count, require_room
from nbyt.exact.problem import Options, PerGradient, Problem, pose
from nbyt.exact.recursion import advantages, expected
from nbyt.policy.stage import Stage


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


class Phase(PerGradient[PhaseMoments]):
    """The phase moments of actor, critic and total."""


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
    """Mean gradients of successive updates of a frozen policy, and their variance.

    All envs begin an episode together; start="stationary" shows envs at independent phases.
    With `centre`, mean and spread of the advantages are those over all updates.
    """
    require_count("updates", updates, 1)
    require_count("steps", steps, 1)
    options.setdefault("start", "reset")
    problem = pose(env, policy, steps=steps, gamma=gamma, lam=lam, **options)
    require_room(updates * len(problem.start), "the law of the state at every update")
    starts = _starts(problem, steps, updates)
    mixed = replace(problem, start=starts.mean(axis=0))
    return Phase(mixed, lambda posed, name: _phase(posed, name, starts))


def _starts(problem: Problem, steps: int, updates: int) -> Float[np.ndarray, "updates X"]:
    """The law of the first state of each update."""
    backwards = problem.chain.moves.T.tocsr()
    law, starts = problem.start, []
    for _ in range(updates):
        starts.append(law)
        for _ in range(steps):
            law = backwards @ law
    return np.stack(starts)


def _phase(problem: Problem, name: str, starts: Float[np.ndarray, "updates X"]) -> PhaseMoments:
    chain, gradient, steps = problem.chain, problem.gradient(name), problem.steps
    assert steps is not None
    require_room(len(starts) * gradient.size, "the mean gradient of every update")
    total = np.zeros((len(problem.start), gradient.size))
    for advantage in islice(advantages(chain), steps):
        total = chain.moves @ total
        gradient.add(total, expected(chain, gradient, advantage)[0])
    return PhaseMoments(starts @ total / steps)
