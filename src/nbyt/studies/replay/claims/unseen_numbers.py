"""Levels at home and abroad, by sampling: paired differences, with intervals over seeds."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from nbyt.results.values import Data
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.jackknife import student
from nbyt.studies.numbers import mean_of

RANDOM = "uniform"

Levels = Float[np.ndarray, "seeds moments"]
Statistic = Callable[[list[Levels]], float]
_LEAST = 3


def levels(data: Data, sampling: str, condition: str) -> Levels:
    """What runs reach under a condition at the moments of their last half."""
    seeds = next(row for row in data["rows"] if row["sampling"] == sampling)["seeds"]
    found = [_of(seed, data, condition) for seed in seeds]
    return np.array(found, float)[:, -(len(data["steps"]) // 2) :]


def along(data: Data, sampling: str, condition: str) -> list[Estimate]:
    """The mean over seeds at every moment."""
    seeds = next(row for row in data["rows"] if row["sampling"] == sampling)["seeds"]
    columns = zip(*(_of(seed, data, condition) for seed in seeds), strict=True)
    return [mean_of(column) for column in columns]


def others(data: Data) -> list[str]:
    """The samplings that the random one is compared with."""
    return [row["sampling"] for row in data["rows"] if row["sampling"] != RANDOM]


def level(data: Data, sampling: str, condition: str) -> Estimate:
    """The mean over seeds of what runs reach."""
    return mean_of(levels(data, sampling, condition).mean(1))


def gained(data: Data, other: str, condition: str) -> Estimate:
    """What random sampling reaches more than another, seed by seed."""
    first, second = (levels(data, one, condition).mean(1) for one in (RANDOM, other))
    return mean_of(first - second)


def dropped(data: Data, sampling: str, condition: str) -> Estimate:
    """What is lost from home to abroad."""
    home, abroad = _both(data, sampling, condition)
    return mean_of(home.mean(1) - abroad.mean(1))


def retained(data: Data, sampling: str, condition: str) -> Estimate:
    """The level abroad over that at home, both means over seeds."""
    return over_seeds(_share, _both(data, sampling, condition))


def retained_more(data: Data, other: str, condition: str) -> Estimate:
    """The share that random sampling retains less the share that another does."""
    both = [*_both(data, RANDOM, condition), *_both(data, other, condition)]
    return over_seeds(lambda some: _share(some[:2]) - _share(some[2:]), both)


def gained_at_equal_home(data: Data, other: str, condition: str) -> Estimate:
    """What random sampling reaches more abroad than runs of another that are as good at home.

    The difference abroad less slope times that at home; the slope of abroad on home is common to
    both samplings, fitted to all moments around each one's mean.
    """
    both = [*_both(data, RANDOM, condition), *_both(data, other, condition)]
    return over_seeds(_beyond, both)


def over_seeds(statistic: Statistic, some: list[Levels]) -> Estimate:
    """The statistic of arrays with a row for each seed; interval by leaving out each seed."""
    count = len(some[0])
    if count < _LEAST:
        return undetermined(f"{count} seeds are too few", count)
    without = [
        statistic([np.delete(levels, seed, axis=0) for levels in some]) for seed in range(count)
    ]
    found = np.array([statistic(some), *without])
    if not np.isfinite(found).all():
        return undetermined("the levels at home are 0, or all alike", count)
    return Estimate(float(found[0]), *student(found, count), count, approximate=True)


def _of(seed: Data, data: Data, condition: str) -> list[float]:
    return seed["home"] if condition == data["home"] else seed["abroad"][condition]


def _both(data: Data, sampling: str, condition: str) -> list[Levels]:
    return [levels(data, sampling, one) for one in (data["home"], condition)]


def _share(both: list[Levels]) -> float:
    home, abroad = (levels.mean() for levels in both)
    return float(abroad / home) if home else np.nan


def _beyond(some: list[Levels]) -> float:
    home, abroad = np.stack(some[::2]), np.stack(some[1::2])
    centred = [levels - levels.mean(axis=(1, 2), keepdims=True) for levels in (home, abroad)]
    spread = float((centred[0] ** 2).sum())
    slope = float((centred[0] * centred[1]).sum()) / spread if spread else np.nan
    gains = [float(levels[0].mean() - levels[1].mean()) for levels in (home, abroad)]
    return gains[1] - slope * gains[0]
