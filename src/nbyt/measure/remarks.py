"""What a reader must be told beside the numbers: limits of reference, chains and policy."""

import numpy as np

from nbyt.collect.pool import Pool
from nbyt.measure.request import Request
from nbyt.stats.jackknife import DEPENDABLE
from nbyt.stats.lags import LagProfile
from nbyt.stats.products import Products


def limit_weight(pool: Pool, gamma: float) -> float:
    """Mean weight gamma^k of the critic's value at time limits, k steps ahead, in the reference."""
    weight, later = np.zeros(pool.chains), []
    for truncated, terminated in zip(pool.truncated[::-1], pool.terminated[::-1], strict=True):
        weight = np.where(truncated, 1.0, np.where(terminated, 0.0, weight)) * gamma
        later.append(weight)
    return float(np.mean(later))


def remarks(
    request: Request,
    chains: int,
    products: dict[tuple[str, int, float], Products],
    lags: dict[str, LagProfile],
    limit_weight: float,
) -> tuple[str, ...]:
    """Sentences to show beside the numbers."""
    found = []
    if chains < DEPENDABLE:
        found.append(
            f"{chains} chains: intervals are approximate; from {DEPENDABLE} chains on they are not"
        )
    left = request.gamma**request.ahead
    if left > 0.0101:
        found.append(
            f"the reference looks {request.ahead} steps ahead, where a reward still counts for "
            f"{left:.0%}: beyond that it relies on the critic"
        )
    if limit_weight > 0.001:
        found.append(
            "this env cannot go on past its time limit: there the reference uses the critic, with "
            f"a mean weight of {limit_weight:.2f}"
        )
    found += [
        f"the chains are not independent in the {name}'s gradient (correlation at the same time "
        f"{profile.across}): do the envs share a seed?"
        for name, profile in lags.items()
        if not profile.independent
    ]
    actor = next(p for (name, _, _), p in products.items() if name == "actor")
    if not actor.step_square.any():
        found.append(
            "the actor's gradient is zero in every step: the policy has collapsed to one action, "
            "or all advantages are equal"
        )
    return tuple(found)
