"""From the mini-batches of independent batches to numbers with intervals."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.results.values import Data
from nbyt.stats import mean
from nbyt.stats.sampling import spread, variance_ratio, with_replacement, without_replacement
from nbyt.studies.minibatch_tasks import plain


class Around(NamedTuple):
    """One scheme's mini-batches around G_B, a number for each of k batches."""

    square: Float[np.ndarray, " k"]
    centre: Float[np.ndarray, " k"]
    along: Float[np.ndarray, " k"]


class Batches(NamedTuple):
    """k independent batches: products of their gradients, mean |g_i|² of each, its mini-batches.

    around: by scheme, then by mini-batch size.
    """

    gram: Float[np.ndarray, "k k"]
    mean_square: Float[np.ndarray, " k"]
    around: dict[str, dict[int, Around]]

    @property
    def lengths(self) -> Float[np.ndarray, " k"]:
        """|G_B| of each batch."""
        return np.sqrt(np.diagonal(self.gram))

    def spread(self, samples: int) -> Float[np.ndarray, " k"]:
        """S² of each batch."""
        found = spread(self.mean_square, self.lengths**2, samples)
        assert isinstance(found, np.ndarray)
        return found


def summary(found: Batches, samples: int) -> Data:
    """All that the claims need of one gradient at one stage."""
    return {
        "shuffled": _sizes(found, "shuffled", samples),
        "fetched": _sizes(found, "fetched", samples),
        "epoch_of_fetching": _epoch(found, samples),
        "in_order": _in_order(found, samples),
    }


def _sizes(found: Batches, scheme: str, samples: int) -> list[Data]:
    """By mini-batch size: the variance, and the mean, beside what sampling says of them.

    total: Var(G_mb) / Var(G_B). against_formula: the added variance over that of the formula.
    apart: |mean of an epoch - G_B| / |G_B|. along: the mean of G_mb along G_B, over |G_B|.
    """
    formula = without_replacement if scheme == "shuffled" else with_replacement
    none = np.zeros(len(found.gram))
    rows = []
    for size, around in sorted(found.around[scheme].items()):
        expected = np.asarray(formula(found.spread(samples), samples, size))
        row = {
            "minibatch": size,
            "total": plain(variance_ratio(found.gram, around.square, none)),
            "formula": plain(variance_ratio(found.gram, expected, none)),
            "apart": plain(mean(np.sqrt(around.centre) / found.lengths)),
            "along": plain(mean(around.along)),
        }
        if np.all(expected > 0):
            row["against_formula"] = plain(mean(around.square / expected))
        else:  # the whole batch: what it adds is rounding
            row["added"] = plain(mean(around.square / found.spread(samples) * samples))
        rows.append(row)
    return rows


def _epoch(found: Batches, samples: int) -> Data:
    """The variance of a whole epoch's mean gradient when samples are fetched, over Var(G_B)."""
    size, around = min(found.around["fetched"].items(), key=lambda one: one[0])
    none = np.zeros(len(found.gram))
    expected = np.asarray(with_replacement(found.spread(samples), samples, samples))
    return {
        "minibatch": size,
        "total": plain(variance_ratio(found.gram, around.centre, none)),
        "formula": plain(variance_ratio(found.gram, expected, none)),
    }


def _in_order(found: Batches, samples: int) -> list[Data]:
    """Var(G_mb) of mini-batches that are not shuffled, over that of shuffled ones."""
    rows = []
    for scheme in ("consecutive", "time_slabs", "whole_envs"):
        for size, around in sorted(found.around.get(scheme, {}).items()):
            shuffled = np.asarray(without_replacement(found.spread(samples), samples, size))
            ratio = plain(variance_ratio(found.gram, around.square, shuffled))
            rows.append({"scheme": scheme, "minibatch": size, "ratio": ratio})
    return rows
