"""What layouts did on reference tasks, and what a few trainings on a new task add to it.

A landscape is the score of every T as a share of the best. The prior is a mixture of the landscapes
of reference tasks, each also shifted by an octave or two, with more or less noise, and one broad
component. The trainings of a race weigh the components and move each. How the mixture is built was
chosen on the development tasks of the proving ground.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from nbyt.stats.landscape import losses, matern

# Shifts of a reference in octaves, with their weights.
_SHIFTS = {0: 0.5, -1: 0.125, 1: 0.125, -2: 0.125, 2: 0.125}
_NOISE_FACTORS = (0.5, 1.0, 2.0, 4.0)
# How far a task may lie from a reference: everywhere, and more where the reference has a slope.
_APART, _APART_ON_SLOPES, _APART_LENGTH = 0.04, 0.5, 2.0
_BROAD = 0.15
# A part of a training is not all of it: how far its promise may lie from the score.
_PROMISE = 0.06
# Seeds are paired: what two arms share of their noise, and over how many octaves.
_SHARED, _SHARED_LENGTH = 0.4, 6.0
# The scale of scores, as a factor of what the best arm has reached.
_SCALES = np.exp(np.linspace(-0.8, 0.8, 21))
LEAST_NOISE = 0.03


class Reference(NamedTuple):
    """A landscape that is known: scores as shares of the best, and the noise of one training."""

    octaves: Float[np.ndarray, " steps"]
    mean: Float[np.ndarray, " steps"]
    covariance: Float[np.ndarray, "steps steps"]
    noise: Float[np.ndarray, " steps"]


class _Component(NamedTuple):
    weight: float
    mean: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray


def landscapes_given(
    references: Sequence[Reference],
    octaves: Float[np.ndarray, " steps"],
    tried: Sequence[int],
    gains: Float[np.ndarray, "arms seeds"],
    generator: np.random.Generator,
    draws: int = 400,
) -> Float[np.ndarray, "draws steps"]:
    """Draw landscapes from the posterior.

    octaves: log2 of every T. tried: the places of those that were trained. gains: the promised
    scores above an untrained policy, of the same seeds in every arm; NaN where an arm lacks a seed.
    """
    places, gains = with_evidence(tried, gains)
    parts = _components(references, octaves)
    means_of_arms = np.nanmean(gains, axis=1)
    level = max(float(np.sort(means_of_arms)[-max(1, len(places) // 3) :].mean()), 1e-12)
    weights, means, factors = [], [], []
    for part in parts:
        for factor in _NOISE_FACTORS:
            log_weight, mean, covariance = _given(part, factor, octaves, places, gains / level)
            weights.append(np.log(part.weight) + log_weight)
            means.append(mean)
            factors.append(np.linalg.cholesky(covariance + 1e-9 * np.eye(len(octaves))))
    table = np.array(weights)
    share = np.exp(table - table.max())
    picked = generator.choice(share.size, size=draws, p=(share / share.sum()).ravel())
    rows, scales = np.unravel_index(picked, share.shape)
    noise = generator.normal(size=(draws, len(octaves)))
    drawn = [
        means[row][scale] + factors[row] @ one
        for row, scale, one in zip(rows, scales, noise, strict=True)
    ]
    return np.array(drawn)


def with_evidence(
    tried: Sequence[int], gains: Float[np.ndarray, "arms seeds"]
) -> tuple[Int[np.ndarray, " places"], Float[np.ndarray, "places seeds"]]:
    """Return the places and gains of the arms that have at least one seed."""
    known = np.isfinite(gains).any(1)
    if not known.any():
        raise ValueError("no arm of the race has a gain")
    return np.array(tried, int)[known], np.asarray(gains)[known]


def drawn_losses(drawn: Float[np.ndarray, "draws steps"]) -> Float[np.ndarray, "draws steps"]:
    """Return the loss of every T in each drawn landscape."""
    lost: np.ndarray = np.clip(losses(np.maximum(drawn, 1e-6), 0.0), 0.0, 1.0)
    return lost


def _components(references: Sequence[Reference], octaves: np.ndarray) -> list[_Component]:
    found = []
    each = (1 - _BROAD) / len(references)
    for one in references:
        for shift, weight in _SHIFTS.items():
            at = np.clip(octaves - shift, one.octaves.min(), one.octaves.max())
            mean = np.interp(at, one.octaves, one.mean)
            spread = _APART + _APART_ON_SLOPES * np.minimum(0.5, mean.max() - mean)
            apart = np.outer(spread, spread) * matern(octaves, octaves, _APART_LENGTH)
            places = np.abs(np.subtract.outer(at, one.octaves)).argmin(1)
            own = one.covariance[np.ix_(places, places)]
            noise = np.exp(np.interp(at, one.octaves, np.log(one.noise)))
            found.append(_Component(each * weight, mean, own + apart, noise))
    plain = [part for place, part in enumerate(found) if place % len(_SHIFTS) == 0]
    means = np.array([part.mean for part in plain])
    broad = np.cov(means.T) if len(means) > 1 else np.zeros((len(octaves),) * 2)
    broad = 0.7 * broad + 0.3 * np.diag(np.diag(broad)) + 0.1**2 * matern(octaves, octaves, 2.0)
    noise = np.exp(np.mean([np.log(part.noise) for part in plain], axis=0))
    return [*found, _Component(_BROAD, means.mean(0), broad, noise)]


def _given(
    part: _Component, factor: float, octaves: np.ndarray, places: np.ndarray, gains: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log likelihood at every scale, the posterior means there, and its covariance.

    Two arms share the noise of the seeds that both have. What seeds say about the noise itself is
    taken from those that every arm has.
    """
    arms = len(places)
    there = np.isfinite(gains).astype(float)
    together = there @ there.T
    counts = np.diag(together)
    x = octaves[places]
    noise = factor * part.noise[places]
    shared = _SHARED * np.exp(-np.abs(np.subtract.outer(x, x)) / _SHARED_LENGTH)
    np.fill_diagonal(shared, 1.0)
    seed_noise = np.outer(noise, noise) * shared
    prior = part.covariance[np.ix_(places, places)]
    noise_of_means = seed_noise * together / np.outer(counts, counts)
    total = prior + _PROMISE**2 * matern(x, x, 2.0) + noise_of_means
    inverse = np.linalg.inv(total)
    gain = part.covariance[:, places] @ inverse
    covariance = part.covariance - gain @ part.covariance[places]
    scaled = np.nanmean(gains, axis=1) / _SCALES[:, None]
    residual = scaled - part.mean[places]
    log = -0.5 * np.einsum("sa,ab,sb->s", residual, inverse, residual)
    log -= 0.5 * np.linalg.slogdet(total)[1] + arms * np.log(_SCALES)
    complete = gains[:, there.all(0)]
    seeds = complete.shape[1]
    if seeds > 1:
        centred = complete - complete.mean(1, keepdims=True)
        scatter = centred @ centred.T
        log -= 0.5 * np.sum(np.linalg.inv(seed_noise) * scatter) / _SCALES**2
        log -= (seeds - 1) * (0.5 * np.linalg.slogdet(seed_noise)[1] + arms * np.log(_SCALES))
    means = part.mean + residual @ gain.T
    return log, means, (covariance + covariance.T) / 2
