"""The same T everywhere: learnt on other envs, or a library's default."""

from collections.abc import Sequence

import numpy as np

from benchmarks.proving.replay import Choice, Ground, Learn, Replay, Rule


class Constant:
    """One T; the nearest where a cell does not have it."""

    def __init__(self, octave: float) -> None:
        self._octave = octave

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Name the T, for nothing."""
        return Choice(cell.steps[int(np.abs(cell.octaves - self._octave).argmin())], 0.0)


def mean_losses(references: Sequence[Ground]) -> tuple[np.ndarray, np.ndarray]:
    """The octaves of T, and the mean loss at each over envs; those that few cells have are left."""
    octaves = np.unique(np.concatenate([one.octaves for one in references]))
    table: dict[str, list[np.ndarray]] = {}
    for one in references:
        row = np.full(len(octaves), np.nan)
        row[np.searchsorted(octaves, one.octaves)] = one.losses
        table.setdefault(one.cell.env, []).append(row)
    rows = np.array([np.mean(own, axis=0) for own in table.values()])
    known = np.isfinite(rows).sum(0) > len(rows) / 2
    return octaves[known], np.nanmean(rows[:, known], axis=0)


def constant(references: Sequence[Ground]) -> Rule:
    """The T with the least mean loss on the references."""
    octaves, means = mean_losses(references)
    return Constant(float(octaves[means.argmin()]))


def smoothed_constant(references: Sequence[Ground]) -> Rule:
    """The same, with losses averaged over three octaves: less of a noisy argmin."""
    octaves, means = mean_losses(references)
    padded = np.pad(means, 1, mode="edge")
    return Constant(float(octaves[((padded[:-2] + padded[1:-1] + padded[2:]) / 3).argmin()]))


def library(steps: int) -> Learn:
    """A library's default T."""
    return lambda references: Constant(float(np.log2(steps)))
