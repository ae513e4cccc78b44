"""What a sampler costs: the variance of its mini-batches' gradients over that of shuffled ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nbyt.minibatch.asked import Asked
from nbyt.minibatch.chance import distinct, thinned
from nbyt.minibatch.epochs import Update


@dataclass(frozen=True)
class Penalty:
    """Var(G_mb) of a sampler over Var(G_mb) of shuffle-and-chop, and the bounds it lies between."""

    value: float | None
    low: float | None
    high: float | None
    reason: str = ""

    def as_dict(self) -> dict[str, float | str | None]:
        """The form that JSON output promises for an estimate."""
        found: dict[str, float | str | None] = {
            "value": self.value,
            "low": self.low,
            "high": self.high,
        }
        return {**found, "reason": self.reason} if self.reason else found


NO_FORMULA = Penalty(
    None, None, None, "samples that share mini-batches are correlated: no formula, only a rollout"
)


def from_formula(updates: Sequence[Update], asked: Asked) -> Penalty:
    """The penalty of a sampler that treats all samples alike; only their number counts then.

    A mini-batch that weighs samples by w adds S² (Σw² - 1/n) to Var(G_B): (1 - m/n) S²/m for m
    different ones, (n-1)/n S²/m when they are fetched with replacement. The value is that of
    independent samples, Var(G_B) = S²/n. The bounds hold whatever Var(G_B) is.
    """
    weight = squared_weights(updates)
    usual, all_samples = 1 / asked.minibatch, 1 / asked.batch
    value = weight / usual
    if asked.minibatch == asked.batch:
        # Shuffled mini-batches add nothing here, so there is no bound of what is added instead.
        return Penalty(value, min(value, 1.0), value if value <= 1 + 1e-12 else None)
    added = (weight - all_samples) / (usual - all_samples)
    return Penalty(value, min(1.0, added), max(1.0, added))


def squared_weights(updates: Sequence[Update]) -> float:
    """The mean of Σw² over mini-batches; 1/m for m different samples."""
    return float(np.mean([_of_update(update) for update in updates]))


def _of_update(update: Update) -> float:
    if all(epoch.apart for epoch in update.epochs) and not update.wraps:
        return float(np.mean([1 / len(one) for one in update.minibatches]))
    some = thinned(update.minibatches)
    reach = update.epochs[0].batch
    keys, times = distinct(some, reach)
    sums = np.bincount(keys // reach, weights=times.astype(float) ** 2)
    return float(np.mean(sums / np.array([len(one) for one in some]) ** 2))
