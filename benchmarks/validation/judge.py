"""Advice against what happened: does it order the layouts, and what is lost by following it?

Scores are mean returns over the whole of training; every seed has one at every layout. Losses are
in shares of the way from an untrained policy to the best layout.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.stats import spearmanr, trim_mean

Scores = Float[np.ndarray, "layouts seeds"]
_DRAWS = 2000


def iqm(scores: Float[np.ndarray, "... seeds"]) -> Float[np.ndarray, "..."]:
    """The mean of the middle half of the seeds."""
    return np.asarray(trim_mean(scores, 0.25, axis=-1))


def lost(
    scores: Scores, untrained: float, own: Sequence[int], generator: np.random.Generator
) -> dict[str, Any]:
    """What the layouts `own`, one for each advice, lose against the best one, on average.

    The best layout is chosen with one half of the seeds and all are held against it with the
    other: whoever is chosen for being best in the same seeds looks better than it is. Every draw
    takes new halves, and seeds with replacement within them.
    """
    best = int(iqm(scores).argmax())
    span = float(iqm(scores)[best] - untrained)
    draws = np.array([_draw(scores, own, generator) for _ in range(_DRAWS)]) / span
    low, high = np.quantile(draws, [0.025, 0.975])
    naive = float(np.mean(iqm(scores)[best] - iqm(scores)[list(own)])) / span
    return {"value": float(draws.mean()), "low": float(low), "high": float(high), "naive": naive}


def behind(
    scores: Scores,
    untrained: float,
    own: Sequence[int],
    other: int,
    generator: np.random.Generator,
) -> dict[str, float]:
    """How far the layouts `own` are behind another on average; below 0 where they are ahead."""
    span = float(iqm(scores).max() - untrained)
    seeds = scores.shape[1]
    draws = []
    for _ in range(_DRAWS):
        heights = iqm(scores[:, generator.integers(0, seeds, seeds)])
        picks = generator.choice(own, len(own))
        draws.append(heights[other] - heights[picks].mean())
    low, high = np.quantile(draws, [0.025, 0.975]) / span
    heights = iqm(scores)
    value = float(heights[other] - heights[list(own)].mean()) / span
    return {"value": value, "low": float(low), "high": float(high)}


def rank_correlation(
    scores: Scores, foretold: Float[np.ndarray, "advices layouts"], generator: np.random.Generator
) -> dict[str, float]:
    """Spearman's, of what an advice foretold and the IQM reached, on average over the advices."""
    seeds = scores.shape[1]
    draws = []
    for _ in range(_DRAWS // 4):
        heights = iqm(scores[:, generator.integers(0, seeds, seeds)])
        picks = generator.integers(0, len(foretold), len(foretold))
        draws.append(_spearman(heights, foretold[picks]))
    low, high = np.quantile(draws, [0.025, 0.975])
    return {"value": _spearman(iqm(scores), foretold), "low": float(low), "high": float(high)}


def _draw(scores: Scores, own: Sequence[int], generator: np.random.Generator) -> float:
    seeds = generator.permutation(scores.shape[1])
    half = len(seeds) // 2
    chosen, held = seeds[:half], seeds[half:]
    best = int(iqm(scores[:, generator.choice(chosen, len(chosen))]).argmax())
    heights = iqm(scores[:, generator.choice(held, len(held))])
    picks = generator.choice(own, len(own))
    return float(heights[best] - heights[picks].mean())


def _spearman(
    heights: Float[np.ndarray, " layouts"], foretold: Float[np.ndarray, "advices layouts"]
) -> float:
    return float(np.mean([spearmanr(row, heights).statistic for row in foretold]))
