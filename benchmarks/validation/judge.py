"""Advice against what happened: does it order the layouts, and what is lost by following it?

Scores are mean returns over the whole of training; every seed has one at every layout. Losses are
in shares of the way from an untrained policy to the best layout.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from nbyt.stats import runs
from nbyt.stats.runs import DRAWS, iqm, redrawn

Scores = Float[np.ndarray, "layouts seeds"]


def lost(
    scores: Scores, untrained: float, own: Sequence[int], generator: np.random.Generator
) -> dict[str, Any]:
    """What the layouts `own`, one for each advice, lose against the best one, on average.

    The best layout is chosen with one half of the seeds and all are held against it with the
    other (`nbyt.stats.runs.losses`); naive: without that.
    """
    heights = iqm(scores)
    span = float(heights.max() - untrained)
    losses = runs.losses(list(scores), generator) / span
    draws = losses[np.arange(DRAWS)[:, None], _picks(own, generator)].mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    naive = float(np.mean(heights.max() - heights[list(own)])) / span
    return {"value": float(draws.mean()), "low": float(low), "high": float(high), "naive": naive}


def behind(
    scores: Scores,
    untrained: float,
    own: Sequence[int],
    other: int,
    generator: np.random.Generator,
) -> dict[str, float]:
    """How far the layouts `own` are behind another on average; below 0 where they are ahead."""
    heights = iqm(scores)
    span = float(heights.max() - untrained)
    drawn = _drawn(scores, generator)
    picked = drawn[np.arange(DRAWS)[:, None], _picks(own, generator)].mean(axis=1)
    low, high = np.quantile(drawn[:, other] - picked, [0.025, 0.975]) / span
    value = float(heights[other] - heights[list(own)].mean()) / span
    return {"value": value, "low": float(low), "high": float(high)}


def rank_correlation(
    scores: Scores, foretold: Float[np.ndarray, "advices layouts"], generator: np.random.Generator
) -> dict[str, float]:
    """Spearman's, of what an advice foretold and the IQM reached, on average over the advices."""
    drawn = _drawn(scores, generator)
    every = np.stack([runs.rank_correlation(drawn, row) for row in foretold], axis=1)
    picks = _picks(range(len(foretold)), generator)
    draws = every[np.arange(DRAWS)[:, None], picks].mean(axis=1)
    low, high = np.nanquantile(draws, [0.025, 0.975])
    value = np.mean([runs.rank_correlation(iqm(scores), row) for row in foretold])
    return {"value": float(value), "low": float(low), "high": float(high)}


def _drawn(scores: Scores, generator: np.random.Generator) -> Float[np.ndarray, "draws layouts"]:
    """The layouts' IQMs, of the same drawn seeds for all of them."""
    return iqm(scores[:, redrawn(scores.shape[1], generator)]).T


def _picks(own: Sequence[int], generator: np.random.Generator) -> np.ndarray:
    """Which of the advices each draw takes, with replacement."""
    return np.asarray(own)[redrawn(len(own), generator)]
