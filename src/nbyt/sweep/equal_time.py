"""Layouts at equal wall seconds: what each has reached by the time that the fastest is through."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate
from nbyt.stats.runs import DRAWS
from nbyt.workflow.costs import Costs, Split


class Pace(NamedTuple):
    """How fast layouts are beside the fastest: 1, or less.

    seconds: of one update of each. drawn: the paces as they may be. fastest: its place.
    """

    seconds: tuple[Estimate, ...]
    value: Float[np.ndarray, " layouts"]
    drawn: Float[np.ndarray, "draws layouts"]
    fastest: int


def pace_of(costs: Costs, layouts: Sequence[Split], generator: np.random.Generator) -> Pace:
    """The paces of the layouts; what slows all of them alike changes none."""
    rows = costs.redrawn(layouts, DRAWS, generator)
    paces = rows.min(axis=1, keepdims=True) / rows
    return Pace(costs.seconds(layouts), paces[0], paces[1:], int(rows[0].argmin()))


def slowed(
    returns: Float[np.ndarray, "seeds points"],
    points: Sequence[int],
    start: float,
    paces: Float[np.ndarray, " draws"],
) -> Float[np.ndarray, "draws seeds points"]:
    """The returns at the moments at which the fastest layout is at each point.

    Between two points a curve is a straight line; before its first it comes from `start`.
    """
    seeds = len(returns)
    known = np.hstack([np.full((seeds, 1), start), returns])
    at = np.array([0, *points], float)
    reached = paces[:, None] * at[1:]
    right = np.clip(np.searchsorted(at, reached, side="left"), 1, len(at) - 1)
    share = (reached - at[right - 1]) / (at[right] - at[right - 1])
    found = known[:, right - 1] * (1 - share) + known[:, right] * share
    return np.moveaxis(found, 0, 1)
