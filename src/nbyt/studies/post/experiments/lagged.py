"""Contributions some steps apart: their correlation, and histograms of their cosines."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from nbyt.measure.batches import LaggedProducts
from nbyt.results.values import Data
from nbyt.stats.lags import LagProducts, lag_profile

LAGS = (1, 5, 10, 20)
HISTOGRAM_LAGS = (1, 5, 10, 40)
EDGES = np.linspace(-1.0, 1.0, 41)


def lag_correlations(
    products: LaggedProducts, weight: Float[np.ndarray, "T n"], gram: Float[np.ndarray, "n n"]
) -> Data:
    """Correlation of contributions by lag, within a rollout and with another env's."""
    within = _weighted(products.within, weight, weight)
    across = _weighted(products.across, weight, np.roll(weight, -1, axis=1))
    rows = LagProducts(
        lags=np.array(LAGS),
        within=np.stack([within[lag].mean(axis=0) for lag in LAGS]),
        square=np.mean(products.square * weight**2, axis=0),
        means=gram,
        step_pairs=across[0].mean(axis=0),
        partners=np.ones(len(gram), int),
    )
    others = replace(rows, within=np.stack([across[lag].mean(axis=0) for lag in LAGS]))
    return {
        "within": [one.as_dict() for one in lag_profile(rows).within],
        "across": [one.as_dict() for one in lag_profile(others).within],
    }


def _weighted(
    products: dict[int, np.ndarray], early: Float[np.ndarray, "T n"], late: Float[np.ndarray, "T n"]
) -> dict[int, np.ndarray]:
    """Products of contributions from those of scores."""
    return {
        lag: scores * early[: len(early) - lag] * late[lag:] for lag, scores in products.items()
    }


def cosine_histograms(products: LaggedProducts, weight: Float[np.ndarray, "T n"]) -> Data:
    """Shares of pairs in each bin of the cosine, and the mean cosine, by lag."""
    length = np.sqrt(products.square) * np.abs(weight)
    found: Data = {"heights": [], "mean": []}
    for lag in HISTOGRAM_LAGS:
        pairs = _weighted({lag: products.within[lag]}, weight, weight)[lag]
        both = length[: len(length) - lag] * length[lag:]
        cosine = pairs[both > 0] / both[both > 0]
        counts, _ = np.histogram(np.clip(cosine, -1, 1), EDGES)
        found["heights"].append(counts / len(cosine))
        found["mean"].append(float(cosine.mean()))
    return found
