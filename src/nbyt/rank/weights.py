"""Which stages to measure, and how much each counts: by what was still to be learned there."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float


def sample_weights(samples: Sequence[float]) -> Float[np.ndarray, " stages"]:
    """The samples that each stage stands for: those nearer to it than to any other stage."""
    edges = _edges(samples)
    return np.diff(edges)


def learning_weights(
    samples: Sequence[float], returns: Sequence[float | None]
) -> Float[np.ndarray, " stages"]:
    """The area between the best return of all stages and the learning curve, around each stage.

    A run that has arrived gains nothing from a better gradient, however long it goes on; one that
    has far to go gains with every sample. Without returns, or without progress, samples decide.
    """
    if any(one is None for one in returns) or len(set(returns)) < 2:
        return sample_weights(samples)
    times, heights = np.asarray(samples, float), np.asarray(returns, float)
    edges = _edges(samples)
    gaps = heights.max() - heights
    found = []
    for begin, end in pairwise(edges):
        corners = [begin, *times[(times > begin) & (times < end)], end]
        found.append(np.trapezoid(np.interp(corners, times, gaps), corners))
    return np.array(found)


def chosen(areas: Float[np.ndarray, " stages"], samples: Sequence[float], count: int) -> list[int]:
    """The places of so many stages: the last, one two thirds of the way, and the others by area.

    Those are in the middle of equal parts of the area. Fewer, where some would be the same stage.
    """
    times = np.asarray(samples, float)
    late = [len(times) - 1, int(np.abs(times - 2 / 3 * times[-1]).argmin())][:count]
    so_far = np.cumsum(areas) / areas.sum()
    parts = max(count - len(late), 0)
    middles = (np.arange(parts) + 0.5) / max(parts, 1)
    return sorted({*late, *(int(np.searchsorted(so_far, middle)) for middle in middles)})


def gathered(
    areas: Float[np.ndarray, " stages"], samples: Sequence[float], places: Sequence[int]
) -> Float[np.ndarray, " chosen"]:
    """The areas of all stages, each given to the chosen stage that is nearest in samples."""
    times = np.asarray(samples, float)
    nearest = np.abs(times[:, None] - times[list(places)]).argmin(axis=1)
    return np.bincount(nearest, weights=areas, minlength=len(places))


def _edges(samples: Sequence[float]) -> Float[np.ndarray, " edges"]:
    times = np.asarray(samples, float)
    return np.concatenate([[0.0], (times[1:] + times[:-1]) / 2, times[-1:]])
