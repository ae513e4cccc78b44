"""Comparison of two layouts, and ranking of many: order, ties, win shares, and regrets.

Layouts are compared on the same chains by ρ = G*·E G / √z.

A table of scores has a row of estimates first; in each further row whole chains are redrawn.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import LEVEL, Estimate, undetermined
from nbyt.stats.intervals import (
    Replicates,
    Samples,
    deviations,
    is_rough,
    leave_one_out,
    ratio_set,
    redrawn,
    spread,
    student,
    within,
)
from nbyt.stats.products import Products, moments_of
from nbyt.stats.variance import FEW_DIRECTIONS, dimension

NO_LENGTH = "the estimate of |E G|² + V/N is not above 0"


@dataclass(frozen=True)
class Candidate:
    """A layout that may be chosen: the products at its T, and its N."""

    products: Products
    envs: int

    def rho(self, samples: Samples) -> Replicates:
        """Return ρ = x / √z in every sample, nan where z <= 0.

        ρ|ρ| is the alignment times |G*|², which all layouts share: it orders them alike, and the
        reference, which is measured worst of all, drops out. Where each T has a reference of its
        own (a total whose actor's part is normalised), it is divided by |G*| after all.
        """
        moments = moments_of(self.products, samples)
        rho = moments.along / _root(moments.second_moment(self.envs))
        unit = self.products.unit
        return np.asarray(rho / _root(moments.reference_sq) if unit is None else rho * unit)


@dataclass(frozen=True)
class Comparison:
    """How two layouts' ρ differ, paired on the same chains.

    `chains_needed` is how many chains would settle it if the difference is as large as it looks.
    """

    difference: Estimate
    ratio: Estimate
    told_apart: bool
    chains_needed: int | None


def _root(squares: Replicates) -> Replicates:
    return np.sqrt(np.where(squares > 0, squares, np.nan))


def compare(first: Candidate, second: Candidate) -> Comparison:
    """Compare two layouts by ρ, paired on the same chains.

    Parameters
    ----------
    first, second
        Layouts of the same chains.

    Returns
    -------
    Comparison
        Difference and ratio of their ρ, and whether the data show that they differ.

    Examples
    --------
    Twice the envs are better, at the same T:

    >>> import numpy as np
    >>> from nbyt.stats import Candidate, Products, compare
    >>> truth = np.ones(8)
    >>> g = truth + np.random.default_rng(0).normal(size=(64, 8))
    >>> r = np.tile(truth, (64, 1))
    >>> square = np.sum(g**2, axis=1)[None]
    >>> grams = [(a @ b.T)[None] for a, b in ((g, g), (g, r), (r, r))]
    >>> products = Products(1, square, square, np.zeros((1, 64)), np.full(64, 63), *grams)
    >>> comparison = compare(Candidate(products, 8), Candidate(products, 4))
    >>> comparison.told_apart
    True
    >>> print(comparison.ratio)
    1.056 [1.046, 1.067]
    """
    samples = common_samples([first, second])
    chains = first.products.chains
    found = compare_rho(first.rho(samples), second.rho(samples), chains)
    if min(dimension(one.products.difference) for one in (first, second)) >= FEW_DIRECTIONS:
        return found
    # In few directions the error is far from normal, as that of a cosine is.
    rough = [replace(one, approximate=True) for one in (found.difference, found.ratio)]
    return replace(found, difference=rough[0], ratio=rough[1])


def compare_rho(first: Replicates, second: Replicates, chains: int) -> Comparison:
    """Compare ρ in the full sample and with each chain left out."""
    gap = first - second
    if not np.all(np.isfinite(gap)):
        nothing = undetermined(NO_LENGTH, chains)
        return Comparison(nothing, nothing, told_apart=False, chains_needed=None)
    low, high = student(gap, chains)
    unclear = not (_far_from_zero(first, chains) or _far_from_zero(second, chains))
    rough = unclear or is_rough(gap, chains)
    difference = Estimate(float(gap[0]), low, high, chains, approximate=rough)
    apart = low > 0 or high < 0
    return Comparison(difference, _ratio(first, second, chains), apart, _needed(gap, chains))


def common_samples(candidates: list[Candidate]) -> Samples:
    """Return samples without one chain, or one sketch group, that fit all candidates."""
    return leave_one_out(*common_sizes(candidates))


def common_sizes(candidates: list[Candidate]) -> tuple[int, int]:
    """Return chains and sketch groups of candidates that were measured on the same chains."""
    chains = {candidate.products.chains for candidate in candidates}
    groups = {candidate.products.groups for candidate in candidates} - {1}
    if len(chains) != 1 or len(groups) > 1:
        raise ValueError(f"not the same chains and sketches: {chains} chains, {groups} groups")
    return chains.pop(), groups.pop() if groups else 1


def _ratio(first: Replicates, second: Replicates, chains: int) -> Estimate:
    low, high = within(ratio_set(first, second, chains), -math.inf, math.inf) or (None, None)
    value = float(first[0] / second[0]) if second[0] else None
    reason = ""
    if value is None or not math.isfinite((low or 0.0) + (high or 0.0)):
        reason = "the second layout's ρ is not clearly different from 0"
    rough = is_rough(first, chains) or not _far_from_zero(second, chains)
    return Estimate(value, low, high, chains, reason, rough)


def _far_from_zero(replicates: Replicates, chains: int) -> bool:
    """Return whether a divisor is twice as far from 0 as significance needs."""
    shape = spread(deviations(replicates, chains), chains)
    return abs(float(replicates[0])) > 2 * shape.quantile() * math.sqrt(shape.variance)


def _needed(gap: Replicates, chains: int) -> int | None:
    """Return n (t s / d)²: the error falls with the root of the chains, the difference stays."""
    shape = spread(deviations(gap, chains), chains)
    if gap[0] == 0.0:
        return None
    ratio = shape.quantile() * math.sqrt(shape.variance) / abs(float(gap[0]))
    return math.ceil(chains * ratio**2) if math.isfinite(ratio) else None


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
    best = rhos[order[0]]
    regrets = 1 - relative(rows)
    reason = NOWHERE if np.all(np.isnan(regrets[0])) else NO_LENGTH
    return Ranking(
        rho=tuple(_estimate(rho, chains) for rho in rhos),
        order=order,
        ties=tuple(i for i in order[1:] if not compare_rho(best, rhos[i], chains).told_apart),
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
