"""Ranking of layouts: order, ties, and what a choice would lose if the chains had been others."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from nbyt.stats.comparison import NO_LENGTH, Candidate, common_samples, common_sizes, compare_rho
from nbyt.stats.estimate import LEVEL, Estimate, undetermined
from nbyt.stats.intervals import Replicates, Samples, is_rough, redrawn, student

DRAWS = 1000
NOWHERE = "no layout's gradient points along the reference"


@dataclass(frozen=True)
class Ranking:
    """Layouts in the order of ρ. Numbers stand for places in the list of candidates.

    `ties` are those that cannot be told apart from the best. `win_share` is how often each has the
    largest ρ when whole chains are redrawn; `regret` the share of the best alignment it loses.
    """

    rho: tuple[Estimate, ...]
    order: tuple[int, ...]
    ties: tuple[int, ...]
    win_share: tuple[float, ...]
    regret: tuple[Estimate, ...]


def rank(
    candidates: list[Candidate], generator: np.random.Generator, draws: int = DRAWS
) -> Ranking:
    """The candidates ranked by ρ, best first."""
    chains, groups = common_sizes(candidates)
    samples = common_samples(candidates)
    found = [candidate.rho(samples) for candidate in candidates]
    heights = [rho[0] if np.isfinite(rho[0]) else -np.inf for rho in found]
    order = sorted(range(len(found)), key=lambda place: -heights[place])
    again = scores(candidates, redrawn(chains, draws, generator, groups))
    now = np.array([[rho[0] * abs(rho[0]) for rho in found]])
    return Ranking(
        rho=tuple(_estimate(rho, chains) for rho in found),
        order=tuple(order),
        ties=tuple(i for i in order[1:] if _tied(found[order[0]], found[i], chains)),
        win_share=tuple(float(share) for share in win_shares(again)),
        regret=tuple(_regrets(relative(now)[0], relative(again), chains)),
    )


def scores(candidates: list[Candidate], samples: Samples) -> Float[np.ndarray, "samples layouts"]:
    """ρ|ρ| of every candidate in every sample: its alignment, but for a common factor."""
    rhos = np.array([candidate.rho(samples) for candidate in candidates]).T
    return rhos * np.abs(rhos)


def relative(
    scores: Float[np.ndarray, "samples layouts"],
) -> Float[np.ndarray, "samples layouts"]:
    """Each score over the best of its sample; nan where no score is above 0."""
    best = np.max(np.where(np.isnan(scores), -np.inf, scores), axis=-1, keepdims=True)
    return scores / np.where(best > 0, best, np.nan)


def win_shares(scores: Float[np.ndarray, "samples layouts"]) -> Float[np.ndarray, " layouts"]:
    """Return the share of all samples in which each layout has the largest score.

    A sample in which no layout has a score is won by none, so shares may add up to less than 1.
    """
    decided = scores[~np.isnan(scores).all(axis=-1)]
    winners = np.argmax(np.where(np.isnan(decided), -np.inf, decided), axis=-1)
    return np.bincount(winners, minlength=scores.shape[-1]) / len(scores)


def _estimate(rho: Replicates, chains: int) -> Estimate:
    if not np.all(np.isfinite(rho)):
        return undetermined(NO_LENGTH, chains)
    low, high = student(rho, chains)
    return Estimate(float(rho[0]), low, high, chains, approximate=is_rough(rho, chains))


def _tied(best: Replicates, other: Replicates, chains: int) -> bool:
    return not compare_rho(best, other, chains).told_apart


def _regrets(
    now: Float[np.ndarray, " layouts"], again: Float[np.ndarray, "draws layouts"], chains: int
) -> list[Estimate]:
    """1 - relative score, with the percentiles of the redrawn samples: approximate by nature."""
    tails = [(1 + LEVEL) / 2, (1 - LEVEL) / 2]
    found = []
    for place, share in enumerate(now):
        seen = again[np.isfinite(again[:, place]), place]
        if np.isnan(share) or not len(seen):
            found.append(undetermined(NOWHERE if np.all(np.isnan(now)) else NO_LENGTH, chains))
            continue
        low, high = 1 - np.quantile(seen, tails)
        found.append(Estimate(float(1 - share), float(low), float(high), chains, "", True))
    return found
