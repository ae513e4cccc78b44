"""Comparison of two layouts on the same chains, by what ranks them: ρ = G*·E G / √z."""

import math
from dataclasses import dataclass, replace

import numpy as np

from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import (
    Replicates,
    Samples,
    deviations,
    is_rough,
    leave_one_out,
    ratio_set,
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
