"""Rank layouts over all stages, and weigh the stages.

A layout's relative alignment at a stage is its alignment over the largest there, of actor or
critic, whichever has less; over the stages it is the mean, weighted by how much each counts.
Per second, alignment is first divided by the seconds of an update.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from operator import mul
from typing import Any

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate, added, mapped
from nbyt.stats.intervals import Samples, leave_one_out, redrawn
from nbyt.stats.products import Products, moments_of
from nbyt.stats.ranking import Candidate, Rows, common_sizes, percentiles, rank_scores, relative


@dataclass(frozen=True, eq=False)
class Evidence:
    """One gradient of one stage, at one lambda.

    The first row of each array is the estimate; in the others whole chains are redrawn.
    along: G* · E G, up to a factor that all T share. mean_sq: |E G|². variance: V(T) of one env.
    """

    steps: tuple[int, ...]
    along: Rows
    mean_sq: Rows
    variance: Rows

    def aligned(self, envs: Sequence[int]) -> Rows:
        """Return ρ|ρ| of each T with so many envs: its alignment, up to a common factor."""
        second_moment = self.mean_sq + self.variance / np.asarray(envs, float)
        rho = self.along / np.sqrt(np.where(second_moment > 0, second_moment, np.nan))
        return rho * np.abs(rho)


@dataclass(frozen=True, eq=False)
class StageEvidence:
    """A stage's evidence, and how much the stage counts.

    weight: the samples of training that it stands for. rho, alignments: of every T at the batch
    that was asked for, with jackknife intervals.
    partner: the same stage's evidence about the critic, where actor and critic decide.
    """

    name: str
    weight: float
    evidence: Evidence
    rho: tuple[Estimate, ...]
    alignments: tuple[Estimate, ...]
    partner: "StageEvidence | None" = None

    @property
    def counts(self) -> bool:
        """Return True if the stage is clear for this network or for its partner."""
        return self.clear or (self.partner is not None and self.partner.clear)

    @property
    def clear(self) -> bool:
        """Return True if some layout's gradient is significantly along the true one.

        A stage without such a layout is ranked by chance.
        """
        return any(rho.low is not None and rho.low > 0 for rho in self.rho)

    def harmful(self, place: int) -> bool:
        """Return True if a layout's gradient significantly points away from the true one."""
        high = self.rho[place].high
        return high is not None and high < 0

    def shares(self, envs: Sequence[int], price: Rows | float = 1.0) -> Rows:
        """Return each T's share of the best alignment per price.

        With a partner it is the smaller of the two: an actor learns from what its critic predicts,
        so a layout that starves either starves both. Where only one is clear, that one decides.
        """
        # A gradient that points away is as bad as can be, however small the best one is.
        shares = np.maximum(relative(self.evidence.aligned(envs) / price), -1.0)
        if self.partner is None or not self.partner.clear:
            return shares
        other = self.partner.shares(envs, price)
        return np.fmin(shares, other) if self.clear else other


def evidence_of(products: list[Products], draws: int, generator: np.random.Generator) -> Evidence:
    """Return the evidence in the products of every T, measured on the same chains."""
    chains, groups = common_sizes([Candidate(each, 1) for each in products])
    now, again = leave_one_out(chains, groups), redrawn(chains, draws, generator, groups)
    samples = Samples(
        np.vstack([now.chains[:1], again.chains]), np.vstack([now.groups[:1], again.groups])
    )
    moments = [moments_of(each, samples) for each in products]
    along = [
        # Without a unit each T has a reference of its own, by whose length it is divided.
        moment.along * each.unit
        if each.unit is not None
        else moment.along / np.sqrt(np.where(moment.reference_sq > 0, moment.reference_sq, np.nan))
        for moment, each in zip(moments, products, strict=True)
    ]
    return Evidence(
        tuple(each.steps for each in products),
        np.array(along).T,
        np.array([moment.mean_sq for moment in moments]).T,
        np.array([moment.variance for moment in moments]).T,
    )


def sample_weights(samples: Sequence[float]) -> Float[np.ndarray, " stages"]:
    """Return the samples that each stage stands for: those nearer to it than to any other."""
    return np.diff(_edges(samples))


def learning_weights(
    samples: Sequence[float], returns: Sequence[float | None]
) -> Float[np.ndarray, " stages"]:
    """Return the area between the best return of all stages and the learning curve, by stage.

    A run at its best return gains nothing from a better gradient, however long it goes on.
    Without returns, or without progress, samples decide.
    """
    if None in returns or len(set(returns)) < 2:
        return sample_weights(samples)
    times, heights = np.asarray(samples, float), np.asarray(returns, float)
    gaps = heights.max() - heights
    areas = []
    for begin, end in pairwise(_edges(samples)):
        corners = [begin, *times[(times > begin) & (times < end)], end]
        areas.append(np.trapezoid(np.interp(corners, times, gaps), corners))
    return np.array(areas)


def chosen(areas: Float[np.ndarray, " stages"], samples: Sequence[float], count: int) -> list[int]:
    """Choose `count` stages: the last, one two thirds of the way, and the others by area.

    Those are in the middle of equal parts of the area. There are fewer where some coincide.
    """
    times = np.asarray(samples, float)
    late = [len(times) - 1, int(np.abs(times - 2 / 3 * times[-1]).argmin())][:count]
    so_far = np.cumsum(areas) / areas.sum()
    parts = max(count - len(late), 0)
    middles = (np.arange(parts) + 0.5) / max(parts, 1)
    return sorted({*late, *(int(np.searchsorted(so_far, middle)) for middle in middles)})


def summed_areas(
    areas: Float[np.ndarray, " stages"], samples: Sequence[float], places: Sequence[int]
) -> Float[np.ndarray, " chosen"]:
    """Add the area of every stage to that of the chosen stage nearest in samples."""
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
    regret: the share of the advised layout's alignment that this one loses. gap: the difference
    of `relative`, whose interval decides ties. harmful: stages at which its gradient
    significantly points away from the true one.
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
        """Return True if it ties with the best."""
        return self.gap.low is None or self.gap.low <= 0

    def as_dict(self) -> dict[str, Any]:
        """Return the data of the JSON output."""
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
    """All layouts, best first, and the stages that were left out because none is clear there."""

    places: tuple[Place, ...]
    left_out: tuple[str, ...] = field(default=())

    @property
    def best(self) -> Place:
        """Return the layout to use."""
        return self.places[0]

    @property
    def ties(self) -> tuple[Place, ...]:
        """Return the layouts that tie with the best."""
        return tuple(place for place in self.places[1:] if place.tied)

    @property
    def open(self) -> bool:
        """Return True if all layouts tie: no measurable difference."""
        return len(self.ties) == len(self.places) - 1

    def place(self, steps: int) -> Place:
        """Return the layout with this T."""
        return next(place for place in self.places if place.steps == steps)

    def more_needed(self) -> float | None:
        """Return the factor of chains at which best and worst would differ, if the gap stays.

        The error falls with the root of the chains. None where there is no gap.
        """
        gap = self.places[-1].gap
        if gap.value is None or gap.low is None or gap.value <= 0:
            return None
        return ((gap.value - gap.low) / gap.value) ** 2


def answer(
    stages: Sequence[StageEvidence], layouts: Sequence[tuple[int, int]], price: Rows | None = None
) -> Answer:
    """Rank the layouts (envs, steps) over all stages; for the same price, if one is given.

    The steps must be those of the evidence, in the same order. price: of an update of each
    layout, such as its seconds; the first row as estimated, the others with errors drawn.
    """
    counted = [stage for stage in stages if stage.counts] or list(stages)
    sizes = [envs for envs, _ in layouts]
    shares = [stage.shares(sizes, 1.0 if price is None else price) for stage in counted]
    rows = _over_stages([stage.weight for stage in counted], shares)
    order, win_share = rank_scores(rows)
    best = rows[:, order[0]]
    return Answer(
        tuple(
            Place(
                envs=layouts[k][0],
                steps=layouts[k][1],
                relative=percentiles(rows[:, k]),
                alignment=_mean_alignment(stages, k),
                win_share=win_share[k],
                regret=percentiles(1 - rows[:, k] / np.where(best > 0, best, np.nan)),
                gap=percentiles(best - rows[:, k]),
                harmful=tuple(stage.name for stage in stages if stage.harmful(k)),
            )
            for k in order
        ),
        tuple(stage.name for stage in stages if not stage.counts),
    )


def _over_stages(weights: list[float], rows: list[Rows]) -> Rows:
    """Return the weighted mean of relative alignments, of the stages where some is above 0."""
    shares = np.stack(rows)
    known = np.array(weights)[:, None, None] * np.isfinite(shares)
    total = known.sum(0)
    summed = np.sum(known * np.nan_to_num(shares), axis=0)
    return np.where(total > 0, summed / np.where(total > 0, total, 1.0), np.nan)


def _mean_alignment(stages: Sequence[StageEvidence], place: int) -> Estimate:
    """Return the weighted mean of the stages' alignments, of those that have one."""
    known = [(stage.weight, stage.alignments[place]) for stage in stages]
    known = [(w, each) for w, each in known if None not in (each.value, each.low, each.high)]
    if not known:
        return stages[0].alignments[place]
    total = sum(weight for weight, _ in known)
    mean, *parts = [mapped(one, partial(mul, weight / total)) for weight, one in known]
    for part in parts:
        mean = added(mean, part, 0.0)
    return mean
