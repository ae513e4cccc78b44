"""Fieller sets: every ratio that the data do not contradict, however weak the denominator."""

import math

import numpy as np

from nbyt.stats.jackknife import Bounds, bias_corrected, deviations, spread
from nbyt.stats.samples import Replicates

EVERYTHING: list[Bounds] = [(-math.inf, math.inf)]


def ratio_set(numerator: Replicates, denominator: Replicates, chains: int) -> list[Bounds]:
    """All h for which numerator - h denominator lies within t jackknife errors of 0, in pieces.

    One piece if the denominator is clearly not 0, else two that reach to infinity, or all numbers.
    Both are corrected for their bias of order 1/n, which is as large as the error itself where the
    error has no part of first order: a cosine at 1, the top of its range.
    """
    scale = max(float(np.max(np.abs(numerator))), float(np.max(np.abs(denominator))))
    if scale == 0.0:
        return EVERYTHING
    top, bottom = numerator / scale, denominator / scale
    a, b = bias_corrected(top, chains), bias_corrected(bottom, chains)
    pulls = deviations(top, chains), deviations(bottom, chains)
    # The degrees of freedom are those at h = a/b, written without the division.
    factor = spread(b * pulls[0] - a * pulls[1], chains).quantile() ** 2
    return _at_most_zero(
        b * b - factor * float(pulls[1] @ pulls[1]),
        -2 * (a * b - factor * float(pulls[0] @ pulls[1])),
        a * a - factor * float(pulls[0] @ pulls[0]),
    )


def within(pieces: list[Bounds], least: float, most: float) -> Bounds | None:
    """The smallest interval that holds the set's part in [least, most]; None if it has none."""
    cut = [(max(low, least), min(high, most)) for low, high in pieces]
    kept = [piece for piece in cut if piece[0] <= piece[1]]
    if not kept:
        return None
    return min(low for low, _ in kept), max(high for _, high in kept)


def _at_most_zero(square: float, linear: float, constant: float) -> list[Bounds]:
    """Where square h² + linear h + constant <= 0."""
    if square == 0.0:
        return _half_line(linear, constant)
    inside = linear * linear - 4 * square * constant
    if square < 0 and inside < 0:
        return EVERYTHING
    # With square > 0 the point a/b is always in the set: only rounding can make this negative.
    inside = max(inside, 0.0)
    # The root that adds numbers of one sign first; the other follows without cancellation.
    larger = -(linear + math.copysign(math.sqrt(inside), linear)) / 2
    roots = sorted((larger / square, constant / larger)) if larger else [0.0, 0.0]
    if square > 0:
        return [(roots[0], roots[1])]
    return [(-math.inf, roots[0]), (roots[1], math.inf)]


def _half_line(linear: float, constant: float) -> list[Bounds]:
    if linear == 0.0:
        return EVERYTHING if constant <= 0 else []
    root = -constant / linear
    return [(-math.inf, root)] if linear > 0 else [(root, math.inf)]
