"""Scores of layouts as a smooth function of log2 T: a Gaussian process with the noise of seeds.

Neighbouring T score alike, so each layout's seeds say something about its neighbours too. The noise
has a covariance: seeds are paired, and a lucky seed is lucky with most layouts.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import linalg

Column = Float[np.ndarray, " layouts"]
Square = Float[np.ndarray, "layouts layouts"]

# In octaves of T, and in multiples of the spread of the layouts' means.
LENGTHS = (0.75, 1.5, 3.0, 6.0)
HEIGHTS = (0.25, 0.5, 1.0, 2.0)
# The level of a landscape is unknown: its standard deviation in multiples of the same spread.
_LEVEL = 10.0
_JITTER = 1e-9


class Landscape(NamedTuple):
    """The scores of the layouts as they are believed to be: a normal distribution."""

    mean: Column
    covariance: Square

    def draws(
        self, count: int, generator: np.random.Generator
    ) -> Float[np.ndarray, "draws layouts"]:
        """Draw landscapes."""
        return generator.multivariate_normal(self.mean, self.covariance, count, method="eigh")


def matern(
    x: Float[np.ndarray, " x"], y: Float[np.ndarray, " y"], length: float
) -> Float[np.ndarray, "x y"]:
    """Return the Matern-5/2 correlation between points that lie in octaves of T."""
    distance = np.abs(np.subtract.outer(x, y)) * (np.sqrt(5) / length)
    correlation: np.ndarray = (1 + distance + distance**2 / 3) * np.exp(-distance)
    return correlation


def noise_of_means(scores: Float[np.ndarray, "layouts seeds"]) -> Square:
    """Estimate the covariance of the layouts' means over paired seeds.

    Variances are the sample's, each shrunk a little to the pool's; correlations are shrunk to their
    average, because a few seeds cannot say much about each pair.
    """
    layouts, seeds = scores.shape
    centred = scores - scores.mean(1, keepdims=True)
    covariance = centred @ centred.T / (seeds - 1)
    variances = np.diag(covariance)
    variances = (variances * (seeds - 1) + 2 * variances.mean()) / (seeds + 1)
    sd = np.sqrt(np.maximum(variances, _JITTER * max(1.0, float(np.ptp(scores)) ** 2)))
    correlation = covariance / np.sqrt(np.maximum(np.outer(*[np.diag(covariance)] * 2), 1e-300))
    off = ~np.eye(layouts, dtype=bool)
    average = float(np.clip(correlation[off].mean(), 0.0, 0.95)) if layouts > 1 else 0.0
    weight = layouts / (layouts + seeds)
    shrunk = (1 - weight) * correlation + weight * average
    np.fill_diagonal(shrunk, 1.0)
    noise: np.ndarray = np.outer(sd, sd) * shrunk / seeds
    return noise


def smooth(x: Column, means: Column, noise: Square) -> Landscape:
    """Return what the means of noisy scores say about the layouts, by empirical Bayes.

    x: log2 T. noise: the covariance of the means. Length and height of the process are those that
    make the means most likely.
    """
    spread = max(float(means.std()), float(np.sqrt(np.diag(noise).mean())), _JITTER)
    prior_mean = float(means.mean())
    best, kept = -np.inf, None
    for length in LENGTHS:
        for height in HEIGHTS:
            prior = (height * spread) ** 2 * matern(x, x, length) + (_LEVEL * spread) ** 2
            likelihood, landscape = posterior(prior_mean, prior, means, noise)
            if likelihood > best:
                best, kept = likelihood, landscape
    assert kept is not None
    return kept


def posterior(
    prior_mean: float | Column, prior: Square, means: Column, noise: Square
) -> tuple[float, Landscape]:
    """Return the log likelihood of the means under a normal prior, and the posterior."""
    factor = linalg.cho_factor(prior + noise, lower=True)
    residual = means - prior_mean
    gain = linalg.cho_solve(factor, prior).T
    determinant = 2 * np.log(np.diag(factor[0])).sum()
    likelihood = -0.5 * (residual @ linalg.cho_solve(factor, residual) + determinant)
    covariance = prior - gain @ prior
    return float(likelihood), Landscape(
        prior_mean + gain @ residual, (covariance + covariance.T) / 2
    )


def losses(mean: np.ndarray, untrained: float) -> np.ndarray:
    """Return the share of the way from untrained to the best layout that each layout loses."""
    gain = np.asarray(mean) - untrained
    lost: np.ndarray = 1 - gain / gain.max(axis=-1, keepdims=True)
    return lost
