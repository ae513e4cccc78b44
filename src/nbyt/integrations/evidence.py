"""What a training has shown of itself: its sizes, its rollouts, and its measured updates.

Everything is read from what the training computes anyway; no env is stepped for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from nbyt.results.probes import ProbeRecord

_FEWEST = 4  # rollouts or records that an average is taken over


class RolloutFacts(NamedTuple):
    """One rollout: how far each env is into its episode at its end, and what the critic knew.

    ages: steps since an env's last reset, below 0 where nobody knows. ends: episodes that ended.
    explained: share of the returns' variance that the values explain; None where all returns are
    equal. value, target: mean of the values and of the returns. deviation: of the returns.
    """

    ages: Int[np.ndarray, " N"]
    ends: int
    explained: float | None
    value: float
    target: float
    deviation: float


@dataclass
class Evidence:
    """All that rules may ask. None or empty: not known, and rules that need it are silent.

    updates: of the whole training, as far as it is planned.
    """

    envs: int
    steps: int
    minibatch: int | None = None
    epochs: int | None = None
    updates: int | None = None
    records: Sequence[ProbeRecord] = ()
    rollouts: list[RolloutFacts] = field(default_factory=list)

    @property
    def batch(self) -> int:
        return self.envs * self.steps

    @property
    def late(self) -> list[RolloutFacts]:
        """Return the rollouts of the second half: the first ones show how the training began."""
        found = self.rollouts[len(self.rollouts) // 2 :]
        return found if len(found) >= _FEWEST else []

    @property
    def late_records(self) -> list[ProbeRecord]:
        """Return the records without the first quarter of them, if there are enough."""
        found = list(self.records)[len(self.records) // 4 :]
        return found if len(found) >= _FEWEST else []


class Ages:
    """How many steps each env is into its episode, carried from rollout to rollout."""

    def __init__(self) -> None:
        self._ages: Int[np.ndarray, " N"] | None = None

    def after(
        self, starts: Bool[np.ndarray, "T N"], ended: Bool[np.ndarray, " N"]
    ) -> Int[np.ndarray, " N"]:
        """Return the ages after a rollout.

        starts: rows that begin an episode. ended: envs whose episode ended with the last row.
        """
        steps, envs = starts.shape
        before = np.zeros(envs, int) if self._ages is None else self._ages
        since = np.argmax(starts[::-1], axis=0) + 1
        ages = np.where(starts.any(axis=0), since, before + steps)
        self._ages = np.where(ended, 0, ages)
        return self._ages


def ages_within(ends: Bool[np.ndarray, "T N"]) -> Int[np.ndarray, " N"]:
    """Return the ages after a rollout of which nobody knows what came before.

    They are known where an episode ended within it; all are -1 where that is so in few envs.
    """
    since = np.argmax(ends[::-1], axis=0)
    known = ends.any(axis=0)
    # Envs whose end nobody saw are older than the rollout, each in a way of its own.
    older = len(ends) + np.arange(ends.shape[1])
    return np.where(known, since, older) if known.mean() >= 0.5 else np.full(older.shape, -1)


def rollout_facts(
    ages: Int[np.ndarray, " N"],
    ends: int,
    values: Float[np.ndarray, "T N"],
    returns: Float[np.ndarray, "T N"],
) -> RolloutFacts:
    """Return the facts of a rollout; returns: the critic's targets."""
    deviation = float(np.std(returns))
    explained = None
    if np.isfinite(deviation) and deviation > 1e-8:
        explained = 1.0 - float(np.var(returns - values)) / deviation**2
    level, target = float(np.mean(values)), float(np.mean(returns))
    return RolloutFacts(ages, ends, explained, level, target, deviation)
