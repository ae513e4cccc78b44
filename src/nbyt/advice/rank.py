"""The answer over all stages: the layouts in order, and what choosing another would lose.

A layout's relative alignment at a stage is its alignment over the largest there, for actor or
critic, whichever has the smaller; over the stages it is the mean, weighted by how much each counts.
Per second, alignment is first divided by the seconds of an update.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from nbyt.stats.comparison import Candidate, common_sizes
from nbyt.stats.estimate import LEVEL, Estimate, added, mapped, undetermined
from nbyt.stats.intervals import Samples, leave_one_out, redrawn
from nbyt.stats.products import Products, moments_of
from nbyt.stats.ranking import NOWHERE, relative, win_shares

Rows = Float[np.ndarray, "rows lengths"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """One gradient of one stage, at one lambda.

    The first row of each array is the estimate; in the others whole chains are drawn again.
    along: G* · E G, but for a factor that all T share. mean_sq: |E G|². variance: V(T) of one env.
    """

    steps: tuple[int, ...]
    along: Rows
    mean_sq: Rows
    variance: Rows

    def aligned(self, envs: Sequence[int]) -> Rows:
        """ρ|ρ| of each T with so many envs: its alignment, but for a factor that all T share."""
        second_moment = self.mean_sq + self.variance / np.asarray(envs, float)
        rho = self.along / np.sqrt(np.where(second_moment > 0, second_moment, np.nan))
        return rho * np.abs(rho)


@dataclass(frozen=True, eq=False)
class StageEvidence:
    """A stage's evidence, and how much the stage counts.

    weight: the samples of training that it stands for. rho, alignments: of every T at the batch
    that was asked for, with intervals that come from leaving out one chain at a time.
    partner: the same stage's evidence about the other network, where both have to be served.
    """

    name: str
    weight: float
    evidence: Evidence
    rho: tuple[Estimate, ...]
    alignments: tuple[Estimate, ...]
    partner: "StageEvidence | None" = None

    @property
    def counts(self) -> bool:
        """Whether the stage orders the layouts for this network or for its partner."""
        return self.clear or (self.partner is not None and self.partner.clear)

    @property
    def clear(self) -> bool:
        """Whether some layout's gradient surely has a part along the true one.

        A stage without such a layout orders nothing: its ranking is that of luck.
        """
        return any(one.low is not None and one.low > 0 for one in self.rho)

    def harmful(self, place: int) -> bool:
        """Whether a layout's gradient clearly points away from the true one."""
        high = self.rho[place].high
        return high is not None and high < 0

    def shares(self, envs: Sequence[int], price: Rows | float = 1.0) -> Rows:
        """Each T's share of the best alignment, of what it has for its price.

        With a partner it is the smaller of the two: an actor learns from what its critic says, so
        a layout that starves either starves both. Where only one of them is clear, it speaks.
        """
        own = _shares(self.evidence, envs, price)
        if self.partner is None or not self.partner.clear:
            return own
        other = self.partner.shares(envs, price)
        return np.fmin(own, other) if self.clear else other


def _shares(evidence: Evidence, envs: Sequence[int], price: Rows | float) -> Rows:
    # A gradient that points away is as bad as can be, however small the best one is beside it.
    return np.maximum(relative(evidence.aligned(envs) / price), -1.0)


def evidence_of(products: list[Products], draws: int, generator: np.random.Generator) -> Evidence:
    """The evidence in the products of every T, measured on the same chains."""
    chains, groups = common_sizes([Candidate(one, 1) for one in products])
    now, again = leave_one_out(chains, groups), redrawn(chains, draws, generator, groups)
    samples = Samples(
        np.vstack([now.chains[:1], again.chains]), np.vstack([now.groups[:1], again.groups])
    )
    found = [moments_of(one, samples) for one in products]
    along = [
        # Without a unit each T has a reference of its own, by whose length it is divided.
        one.along * own.unit
        if own.unit is not None
        else one.along / np.sqrt(np.where(one.reference_sq > 0, one.reference_sq, np.nan))
        for one, own in zip(found, products, strict=True)
    ]
    return Evidence(
        tuple(one.steps for one in products),
        np.array(along).T,
        np.array([one.mean_sq for one in found]).T,
        np.array([one.variance for one in found]).T,
    )


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
