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
    """A landscape that is known: scores as shares of the best, and the noise of one training.

    promise: how much more than the score the first part of a training promises; slow layouts are
    promised less than they reach.
    """

    octaves: Float[np.ndarray, " steps"]
    mean: Float[np.ndarray, " steps"]
    covariance: Float[np.ndarray, "steps steps"]
    noise: Float[np.ndarray, " steps"]
    promise: Float[np.ndarray, " steps"] | float = 0.0


class _Components(NamedTuple):
    """The parts of the prior: weights, and for each what a `Reference` has over T."""

    weight: Float[np.ndarray, " parts"]
    mean: Float[np.ndarray, "parts steps"]
    covariance: Float[np.ndarray, "parts steps steps"]
    noise: Float[np.ndarray, "parts steps"]
    promise: Float[np.ndarray, "parts steps"]


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
    means = np.nanmean(gains, axis=1)
    level = max(float(np.sort(means)[-max(1, len(places) // 3) :].mean()), 1e-12)
    parts = _with_more_or_less_noise(_components(references, octaves))
    log, means, covariance = _given(parts, octaves, places, gains / level)
    log += np.log(parts.weight)[:, None]
    share = np.exp(log - log.max())
    picked = generator.choice(share.size, size=draws, p=(share / share.sum()).ravel())
    rows, scales = np.unravel_index(picked, share.shape)
    used, which = np.unique(rows, return_inverse=True)
    factors = np.linalg.cholesky(covariance[used] + 1e-9 * np.eye(len(octaves)))
    noise = generator.normal(size=(draws, len(octaves)))
    drawn: np.ndarray = means[rows, scales] + np.einsum("dst,dt->ds", factors[which], noise)
    return drawn


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


def _components(references: Sequence[Reference], octaves: np.ndarray) -> _Components:
    means, covariances, noises, promises = [], [], [], []
    smooth = matern(octaves, octaves, _APART_LENGTH)
    for one in references:
        for shift in _SHIFTS:
            at = np.clip(octaves - shift, one.octaves.min(), one.octaves.max())
            mean = np.interp(at, one.octaves, one.mean)
            spread = _APART + _APART_ON_SLOPES * np.minimum(0.5, mean.max() - mean)
            places = np.abs(np.subtract.outer(at, one.octaves)).argmin(1)
            own = one.covariance[np.ix_(places, places)]
            means.append(mean)
            covariances.append(own + np.outer(spread, spread) * smooth)
            noises.append(np.exp(np.interp(at, one.octaves, np.log(one.noise))))
            promises.append(np.interp(at, one.octaves, one.promise + np.zeros(len(one.octaves))))
    plain = np.array(means[:: len(_SHIFTS)])
    broad = np.cov(plain.T) if len(plain) > 1 else np.zeros((len(octaves),) * 2)
    broad = 0.7 * broad + 0.3 * np.diag(np.diag(broad)) + 0.1**2 * smooth
    weights = np.outer(np.full(len(references), 1 / len(references)), list(_SHIFTS.values()))
    return _Components(
        np.append((1 - _BROAD) * weights.ravel(), _BROAD),
        np.array([*means, plain.mean(0)]),
        np.array([*covariances, broad]),
        np.array([*noises, np.exp(np.log(noises[:: len(_SHIFTS)]).mean(0))]),
        np.array([*promises, np.mean(promises[:: len(_SHIFTS)], axis=0)]),
    )


def _with_more_or_less_noise(parts: _Components) -> _Components:
    """Return every part once for each factor of its noise."""
    count = len(_NOISE_FACTORS)
    factors = np.tile(_NOISE_FACTORS, len(parts.weight))
    all_of = _Components(*(np.repeat(table, count, axis=0) for table in parts))
    return all_of._replace(weight=all_of.weight / count, noise=all_of.noise * factors[:, None])


def _given(
    parts: _Components, octaves: np.ndarray, places: np.ndarray, gains: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log likelihoods and posterior means, [parts, scales, ...], and covariances, [parts].

    Two arms share the noise of the seeds that both have. What seeds say about the noise itself is
    taken from those that every arm has.
    """
    arms = len(places)
    there = np.isfinite(gains).astype(float)
    together = there @ there.T
    counts = np.diag(together)
    x = octaves[places]
    noise = parts.noise[:, places]
    shared = _SHARED * np.exp(-np.abs(np.subtract.outer(x, x)) / _SHARED_LENGTH)
    np.fill_diagonal(shared, 1.0)
    seed_noise = noise[:, :, None] * noise[:, None, :] * shared
    noise_of_means = seed_noise * together / np.outer(counts, counts)
    prior = parts.covariance[:, places][:, :, places]
    total = prior + _PROMISE**2 * matern(x, x, 2.0) + noise_of_means
    inverse = np.linalg.inv(total)
    gain = parts.covariance[:, :, places] @ inverse
    covariance = parts.covariance - gain @ parts.covariance[:, places]
    scaled = np.nanmean(gains, axis=1) / _SCALES[:, None]
    residual = scaled - (parts.mean + parts.promise)[:, None, places]
    log = -0.5 * np.einsum("psa,pab,psb->ps", residual, inverse, residual)
    log -= 0.5 * np.linalg.slogdet(total)[1][:, None] + arms * np.log(_SCALES)
    complete = gains[:, there.all(0)]
    seeds = complete.shape[1]
    if seeds > 1:
        centred = complete - complete.mean(1, keepdims=True)
        scatter = np.einsum("pab,ab->p", np.linalg.inv(seed_noise), centred @ centred.T)
        log -= 0.5 * scatter[:, None] / _SCALES**2
        determinant = np.linalg.slogdet(seed_noise)[1][:, None]
        log -= (seeds - 1) * (0.5 * determinant + arms * np.log(_SCALES))
    means = parts.mean[:, None] + residual @ gain.transpose(0, 2, 1)
    return log, means, (covariance + covariance.transpose(0, 2, 1)) / 2
