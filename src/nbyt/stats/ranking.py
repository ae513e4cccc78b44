"""Ranking of layouts by a score: their order, ties, win shares, and what a choice would lose.

A table of scores has a row of estimates first; in each further row whole chains are redrawn.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from nbyt.stats.comparison import NO_LENGTH, Candidate, common_samples, common_sizes, compare_rho
from nbyt.stats.estimate import LEVEL, Estimate, undetermined
from nbyt.stats.intervals import Replicates, Samples, is_rough, redrawn, student

DRAWS = 1000
NOWHERE = "no layout's gradient points along the reference"
Rows = Float[np.ndarray, "rows layouts"]


@dataclass(frozen=True)
class Ranking:
    """Layouts in the order of ρ. Numbers stand for places in the list of candidates.

    ties: those whose ρ does not differ significantly from the best. win_share: how often each has
    the largest ρ when whole chains are redrawn. regret: the share of the best alignment it loses.
    """

    rho: tuple[Estimate, ...]
    order: tuple[int, ...]
    ties: tuple[int, ...]
    win_share: tuple[float, ...]
    regret: tuple[Estimate, ...]


def rank(
    candidates: list[Candidate], generator: np.random.Generator, draws: int = DRAWS
) -> Ranking:
    """Rank the candidates by ρ, best first."""
    chains, groups = common_sizes(candidates)
    samples = common_samples(candidates)
    rhos = [candidate.rho(samples) for candidate in candidates]
    now = np.array([[rho[0] * abs(rho[0]) for rho in rhos]])
    rows = np.vstack([now, scores(candidates, redrawn(chains, draws, generator, groups))])
    order, win_share = rank_scores(rows)
    regrets = 1 - relative(rows)
    reason = NOWHERE if np.all(np.isnan(regrets[0])) else NO_LENGTH
    return Ranking(
        rho=tuple(_estimate(rho, chains) for rho in rhos),
        order=order,
        ties=tuple(i for i in order[1:] if _tied(rhos[order[0]], rhos[i], chains)),
        win_share=win_share,
        regret=tuple(percentiles(column, reason) for column in regrets.T),
    )


def rank_scores(rows: Rows) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the order of the layouts by the first row, and each one's win share in the others."""
    heights = np.where(np.isfinite(rows[0]), rows[0], -np.inf)
    order = np.argsort(-heights, kind="stable")
    return tuple(map(int, order)), tuple(map(float, win_shares(rows[1:])))


def percentiles(column: Float[np.ndarray, " rows"], reason: str = NOWHERE) -> Estimate:
    """Estimate a score by the first row and the 95 % range of the redrawn ones.

    Such an interval is approximate. reason: why there is no estimate, where the first row has none.
    """
    seen = column[1:][np.isfinite(column[1:])]
    if not np.isfinite(column[0]) or not len(seen):
        return undetermined(reason, len(seen))
    low, high = np.quantile(seen, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(column[0]), float(low), float(high), len(seen), approximate=True)


def scores(candidates: list[Candidate], samples: Samples) -> Float[np.ndarray, "samples layouts"]:
    """Return ρ|ρ| of every candidate in every sample: its alignment, up to a common factor."""
    rhos = np.array([candidate.rho(samples) for candidate in candidates]).T
    return np.asarray(rhos * np.abs(rhos))


def relative(rows: Rows) -> Rows:
    """Divide each score by the best of its row; nan where no score is above 0."""
    best = np.max(np.where(np.isnan(rows), -np.inf, rows), axis=-1, keepdims=True)
    return rows / np.where(best > 0, best, np.nan)


def win_shares(rows: Rows) -> Float[np.ndarray, " layouts"]:
    """Return the share of all rows in which each layout has the largest score.

    A row in which no layout has a score is won by none, so shares may add up to less than 1.
    """
    decided = rows[~np.isnan(rows).all(axis=-1)]
    winners = np.argmax(np.where(np.isnan(decided), -np.inf, decided), axis=-1)
    return np.bincount(winners, minlength=rows.shape[-1]) / len(rows)


def _estimate(rho: Replicates, chains: int) -> Estimate:
    if not np.all(np.isfinite(rho)):
        return undetermined(NO_LENGTH, chains)
    low, high = student(rho, chains)
    return Estimate(float(rho[0]), low, high, chains, approximate=is_rough(rho, chains))


def _tied(best: Replicates, other: Replicates, chains: int) -> bool:
    return not compare_rho(best, other, chains).told_apart
