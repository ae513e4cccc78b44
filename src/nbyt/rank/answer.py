"""The answer over all stages: the layouts in order, and what choosing another would lose.

A layout's relative alignment at a stage is its alignment over the largest there, for actor or
critic, whichever has the smaller; over the stages it is the mean, weighted by how much each counts.
Per second, alignment is first divided by the seconds of an update.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from nbyt.rank.evidence import Rows, StageEvidence
from nbyt.stats.combine import added, mapped
from nbyt.stats.estimate import LEVEL, Estimate, undetermined
from nbyt.stats.ranking import NOWHERE, win_shares


@dataclass(frozen=True)
class Place:
    """A layout in the ranking.

    relative: its share of the best alignment, over all stages. alignment: the mean of the stages'.
    regret: the share of the advised layout's alignment that this one loses. gap: how far it is
    behind, with an interval that decides whether it is tied. harmful: stages at which its
    gradient clearly points away from the true one.
    """

    envs: int
    steps: int
    relative: Estimate
    alignment: Estimate
    win_share: float
    regret: Estimate
    gap: Estimate
    harmful: tuple[str, ...] = ()

    @property
    def tied(self) -> bool:
        """Whether the data cannot tell it apart from the best."""
        return self.gap.low is None or self.gap.low <= 0

    def as_dict(self) -> dict[str, Any]:
        """The form that JSON output promises."""
        return {
            "envs": self.envs,
            "steps": self.steps,
            "relative": self.relative.as_dict(),
            "alignment": self.alignment.as_dict(),
            "win_share": self.win_share,
            "regret": self.regret.as_dict(),
            "tied_with_best": self.tied,
            "harmful_at": list(self.harmful),
        }


@dataclass(frozen=True)
class Answer:
    """All layouts, best first, and the stages that were left out because they order nothing."""

    places: tuple[Place, ...]
    left_out: tuple[str, ...] = field(default=())

    @property
    def best(self) -> Place:
        """The layout to use."""
        return self.places[0]

    @property
    def ties(self) -> tuple[Place, ...]:
        """Layouts that the data cannot tell apart from the best."""
        return tuple(place for place in self.places[1:] if place.tied)

    @property
    def open(self) -> bool:
        """Whether no layout can be told apart from the best: no measurable difference."""
        return len(self.ties) == len(self.places) - 1

    def place(self, steps: int) -> Place:
        """The layout with so many steps."""
        return next(place for place in self.places if place.steps == steps)

    def more_needed(self) -> float | None:
        """How many times the chains would tell the best from the worst, if the gap stays.

        The error falls with the root of the chains. None where there is no gap to see.
        """
        gap = self.places[-1].gap
        if gap.value is None or gap.low is None or gap.value <= 0:
            return None
        return ((gap.value - gap.low) / gap.value) ** 2


def answer(
    stages: Sequence[StageEvidence],
    layouts: Sequence[tuple[int, int]],
    price: Rows | None = None,
) -> Answer:
    """The layouts (envs, steps) ranked over all stages; for the same price, if one is given.

    The steps must be those of the evidence, in the same order. price: of an update of each
    layout, such as its seconds; the first row as estimated, the others with errors drawn.
    """
    counted = [one for one in stages if one.counts] or list(stages)
    sizes = [envs for envs, _ in layouts]
    rows = [one.shares(sizes, 1.0 if price is None else price) for one in counted]
    found = _over_stages([one.weight for one in counted], rows)
    heights = np.where(np.isfinite(found[0]), found[0], -np.inf)
    order = [int(place) for place in np.argsort(-heights, kind="stable")]
    shares = win_shares(found[1:])
    places = [
        _place(stages, layouts[k], k, found[:, k], found[:, order[0]], float(shares[k]))
        for k in order
    ]
    return Answer(tuple(places), tuple(one.name for one in stages if not one.counts))


def _over_stages(weights: list[float], rows: list[Rows]) -> Rows:
    """The weighted mean of relative alignments; a stage where none is above 0 is left out."""
    shares = np.stack(rows)
    known = np.array(weights)[:, None, None] * np.isfinite(shares)
    total = known.sum(0)
    summed = np.sum(known * np.nan_to_num(shares), axis=0)
    return np.where(total > 0, summed / np.where(total > 0, total, 1.0), np.nan)


def _place(
    stages: Sequence[StageEvidence],
    layout: tuple[int, int],
    place: int,
    own: Float[np.ndarray, " rows"],
    best: Float[np.ndarray, " rows"],
    share: float,
) -> Place:
    envs, steps = layout
    return Place(
        envs=envs,
        steps=steps,
        relative=_percentiles(own),
        alignment=_mean_alignment(stages, place),
        win_share=share,
        regret=_percentiles(1 - own / np.where(best > 0, best, np.nan)),
        gap=_percentiles(best - own),
        harmful=tuple(one.name for one in stages if one.harmful(place)),
    )


def _percentiles(rows: Float[np.ndarray, " rows"]) -> Estimate:
    """The first row, and the 95 % range of the redrawn ones: approximate by nature."""
    seen = rows[1:][np.isfinite(rows[1:])]
    if not np.isfinite(rows[0]) or not len(seen):
        return undetermined(NOWHERE, len(seen))
    low, high = np.quantile(seen, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(rows[0]), float(low), float(high), len(seen), approximate=True)


def _mean_alignment(stages: Sequence[StageEvidence], place: int) -> Estimate:
    """The weighted mean of the stages' alignments, of those that have one."""
    known = [(one.weight, one.alignments[place]) for one in stages]
    known = [(w, one) for w, one in known if None not in (one.value, one.low, one.high)]
    if not known:
        return stages[0].alignments[place]
    total = sum(weight for weight, _ in known)
    parts = [_scaled(alignment, weight / total) for weight, alignment in known]
    mean = parts[0]
    for part in parts[1:]:
        mean = added(mean, part, 0.0)
    return mean


def _scaled(estimate: Estimate, share: float) -> Estimate:
    return mapped(estimate, lambda x: share * x)
