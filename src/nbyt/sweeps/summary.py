"""What a sweep shows: every layout's curve and score, the best, who beats whom, and the advice."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from msgspec import convert
from msgspec.structs import asdict

from nbyt.dialects.defaults import defaults
from nbyt.report.numbers import listed
from nbyt.results.advice import Library
from nbyt.results.sweep import (
    AdviceComparison,
    CellCounts,
    FailedCell,
    Failure,
    FastestLayout,
    FinishedSeeds,
    SeedsNeeded,
    Sweep,
    SweptLayout,
    Verdict,
    Wins,
)
from nbyt.results.training import Settings
from nbyt.results.values import ByKind
from nbyt.results.values import Estimate as EstimateRecord
from nbyt.rng import numpy_stream
from nbyt.stats.estimate import Estimate, mapped, undetermined
from nbyt.stats.runs import FEWEST_TO_COMPARE, iqm, rank_agreement
from nbyt.sweeps.advice import Advised, replayed_race, usual_advice
from nbyt.sweeps.grid import Cell, Grid
from nbyt.sweeps.layout_comparison import LayoutComparison, Pace, Split, pace_of, record, slowed
from nbyt.training.costs import Costs
from nbyt.training.curves import Curve

NOT_TIMED = "the seconds of an update were not measured"


def summarise(
    grid: Grid,
    curves: Mapping[Cell, Curve],
    failures: Mapping[Cell, Failure],
    *,
    costs: Costs | None,
    advice: bool,
    cells: CellCounts,
    **facts: Any,
) -> Sweep:
    """Compare the layouts; return all that the page and the terminal show.

    What cannot be determined is None, or has a reason: a sweep may have failed or missing cells.
    facts: the other fields of `Sweep`, such as its folder.
    """
    samples = _compare(grid, curves)
    start = _start(samples)
    pace = None if costs is None else pace_of(costs, samples.layouts, _generator(grid, "pace"))
    seconds = None if pace is None or start is None else _timed(grid, samples, pace, start)
    libraries = tuple(convert(row, Library) for row in defaults(samples.layouts))
    failed = [cell for cell in grid.cells if cell in failures]
    return Sweep(
        **_grid_facts(grid),
        start=start,
        budget=None if pace is None else _budget(grid, pace),
        layouts=tuple(
            _layout(grid, place, samples, seconds, pace, failed, libraries)
            for place in range(len(grid.layouts))
        ),
        answer=ByKind(per_sample=verdict(samples), per_second=verdict(seconds)),
        defaults=libraries,
        wins=ByKind(per_sample=_wins(samples), per_second=_wins(seconds)),
        advice=_advice(grid, costs, samples, seconds, start) if advice else None,
        failures=tuple(FailedCell(**cell._asdict(), **asdict(failures[cell])) for cell in failed),
        cells=cells,
        **facts,
    )


def _grid_facts(grid: Grid) -> dict[str, Any]:
    return {
        "env": grid.env.id,
        "batch": grid.batch,
        "minibatch": grid.layouts[0].minibatch,
        "epochs": grid.layouts[0].epochs,
        "seeds": grid.seeds,
        "total": grid.total,
        "points": grid.points,
        "samples": tuple(number * grid.batch for number in grid.points),
        "settings": convert(grid.settings.as_dict(), Settings),
    }


def _advice(
    grid: Grid,
    costs: Costs | None,
    samples: LayoutComparison,
    seconds: LayoutComparison | None,
    start: float | None,
) -> ByKind[AdviceComparison] | None:
    """Compare with what would have been advised; None where there is nothing to compare."""
    if len(grid.layouts) < 2 or start is None:
        return None
    raced = None if costs is None else replayed_race(grid, samples, costs, start)
    return ByKind(
        per_sample=compare_with_advice(usual_advice(grid), samples, start),
        per_second=compare_with_advice(raced, seconds, start),
    )


def compare_with_advice(
    advised: Advised | None, comparison: LayoutComparison | None, start: float | None
) -> AdviceComparison | None:
    """Compare one answer of the advice, per sample or per second, with the trainings.

    start: where the curves begin; losses are also given as a share of the way from there to the
    best.
    """
    if advised is None or comparison is None or start is None:
        return None
    place = comparison.layouts.index(advised.split)
    loss = comparison.regrets.get(place)
    return AdviceComparison(
        envs=advised.split[0],
        steps=advised.split[1],
        sentence=advised.sentence,
        is_best=place == comparison.best,
        regret=None if loss is None else record(loss),
        regret_share=_share(loss, comparison, start),
        best_wins=comparison.wins(comparison.best, place),
        correlation=_correlation(advised.losses, comparison),
        foretold=tuple(
            record(advised.losses[split]) if split in advised.losses else None
            for split in comparison.layouts
        ),
    )


def _correlation(losses: Mapping[Split, Estimate], comparison: LayoutComparison) -> EstimateRecord:
    """Return Spearman's of what was kept and reached, over the layouts with a finished seed."""
    pairs = [
        (scores, 1 - losses[split].value)  # type: ignore[operator]
        for split, scores in zip(comparison.layouts, comparison.scores, strict=True)
        if len(scores) and split in losses and losses[split].value is not None
    ]
    values = np.array([value for _, value in pairs], float)
    scores = [scores for scores, _ in pairs]
    return record(rank_agreement(scores, values, comparison.generator))


def _share(
    loss: Estimate | None, comparison: LayoutComparison, start: float
) -> EstimateRecord | None:
    if loss is None or comparison.best is None:
        return None
    best = comparison.layout_scores[comparison.best].over_training.value
    if best is None or best <= start:
        return None
    span = best - start
    return record(mapped(loss, lambda lost: lost / span))


def verdict(comparison: LayoutComparison | None) -> Verdict | None:
    """Return the best layout and its ties, and a sentence about them; None if none is finished."""
    if comparison is None or comparison.best is None:
        return None
    envs, steps = comparison.layouts[comparison.best]
    others = [place for place in range(len(comparison.layouts)) if place != comparison.best]
    known = [place for place in others if comparison.tied(place) is not None]
    tied = [place for place in known if comparison.tied(place)]
    all_tie = bool(tied) and tied == known
    return Verdict(
        envs=envs,
        steps=steps,
        over_training=record(comparison.layout_scores[comparison.best].over_training),
        ties=tuple(comparison.layouts[place] for place in tied),
        no_measurable_difference=all_tie,
        sentence=_sentence(comparison, comparison.best, known, tied),
        to_settle=_seeds_needed(comparison, others, known, tied),
    )


def _sentence(
    comparison: LayoutComparison, best: int, known: Sequence[int], tied: Sequence[int]
) -> str:
    if not known:
        return "No winner is named."
    if tied == known:
        return f"No measurable difference between the layouts{_but(comparison, known)}."
    over = comparison.layout_scores[best].over_training
    reached = f"{_name(comparison.layouts[best])} has the highest mean return over training, {over}"
    if not tied:
        return f"{reached}, and the seeds separate it from all others{_but(comparison, known)}."
    names = listed([_name(comparison.layouts[place]) for place in tied])
    return f"{reached}; tied with it: {names}{_but(comparison, known)}."


def _but(comparison: LayoutComparison, known: Sequence[int]) -> str:
    """Name the layouts with too few seeds, if there are any."""
    places = [k for k in range(len(comparison.layouts)) if k != comparison.best and k not in known]
    names = [_name(comparison.layouts[place]) for place in places]
    return f"; too few seeds to say: {listed(names)}" if names else ""


def _seeds_needed(
    comparison: LayoutComparison, others: Sequence[int], known: Sequence[int], tied: Sequence[int]
) -> SeedsNeeded | None:
    """Say how many seeds would decide; None where something is decided already."""
    if not others:
        return SeedsNeeded(seeds=None, sentence="A single layout has nothing to compare it with.")
    if not known:
        return _seeds_to_compare(comparison, others)
    return _seeds_to_separate(comparison, tied) if tied == known else None


def _seeds_to_compare(comparison: LayoutComparison, others: Sequence[int]) -> SeedsNeeded:
    """Say how many seeds a layout needs before it can be compared at all."""
    counts = [len(scores) for scores in comparison.scores]
    assert comparison.best is not None
    seeds = min(counts[comparison.best], max(counts[place] for place in others))
    words = (
        f"Comparing layouts takes {FEWEST_TO_COMPARE} finished seeds of each; with {seeds}, "
        f"{FEWEST_TO_COMPARE - seeds} more of each are needed."
    )
    return SeedsNeeded(seeds=FEWEST_TO_COMPARE, sentence=words)


def _seeds_to_separate(comparison: LayoutComparison, tied: Sequence[int]) -> SeedsNeeded:
    """Estimate how many seeds would separate the best from the worst; errors fall as 1/√seeds."""
    gaps = [gap for place in tied if (gap := comparison.behind[place])]
    worst = max(gaps, key=lambda gap: gap.value or 0.0)
    if not worst.value or worst.low is None or worst.value <= 0:
        return SeedsNeeded(
            seeds=None, sentence="There is no gap that more seeds would make visible."
        )
    seeds = ceil(worst.replicates * ((worst.value - worst.low) / worst.value) ** 2)
    more = max(seeds - worst.replicates, 1)
    words = (
        f"About {seeds:,} seeds of each layout ({more:,} more) would separate the best from the "
        "worst, if the gap is as large as it looks."
    )
    return SeedsNeeded(seeds=seeds, sentence=words)


def _name(split: Split) -> str:
    return f"{split[0]}x{split[1]}"


def _generator(grid: Grid, role: str) -> np.random.Generator:
    return numpy_stream(grid.seeds[0], f"sweep.{role}")


def _compare(grid: Grid, curves: Mapping[Cell, Curve]) -> LayoutComparison:
    """Compare the layouts at equal samples; curves that are not finite do not count."""
    splits = tuple((one.envs, one.steps) for one in grid.layouts)
    whole = [cell for cell, curve in curves.items() if np.isfinite(curve.returns).all()]
    cells = [[cell for cell in whole if cell[:2] == split] for split in splits]
    ordered = [sorted(own, key=lambda cell: cell.seed) for own in cells]
    width = len(grid.points)
    return LayoutComparison(
        splits,
        tuple(tuple(cell.seed for cell in own) for own in ordered),
        tuple(
            np.array([curves[cell].returns for cell in own], float).reshape(-1, width)
            for own in ordered
        ),
        _generator(grid, "samples"),
    )


def _start(comparison: LayoutComparison) -> float | None:
    """Return where curves begin: the lowest IQM at the first point.

    The untrained policy is not evaluated, and this is the nearest to it.
    """
    firsts = [float(iqm(returns[:, 0])) for returns in comparison.returns if len(returns)]
    return min(firsts) if firsts else None


def _timed(grid: Grid, comparison: LayoutComparison, pace: Pace, start: float) -> LayoutComparison:
    """Compare the layouts at equal seconds."""
    return LayoutComparison(
        comparison.layouts,
        comparison.seeds,
        tuple(
            slowed(own, grid.points, start, np.array([at]))[0]
            for own, at in zip(comparison.returns, pace.value, strict=True)
        ),
        _generator(grid, "seconds"),
        lambda k: slowed(comparison.returns[k], grid.points, start, pace.drawn[:, k]),
    )


def _budget(grid: Grid, pace: Pace) -> FastestLayout:
    layout, update = grid.layouts[pace.fastest], pace.seconds[pace.fastest]
    seconds = mapped(update, lambda seconds: grid.points[-1] * seconds)
    return FastestLayout(envs=layout.envs, steps=layout.steps, seconds=record(seconds))


def _layout(
    grid: Grid,
    place: int,
    samples: LayoutComparison,
    seconds: LayoutComparison | None,
    pace: Pace | None,
    failed: Sequence[Cell],
    libraries: Sequence[Library],
) -> SweptLayout:
    split, finished = samples.layouts[place], samples.seeds[place]
    failures = sum(cell[:2] == split for cell in failed)
    update = undetermined(NOT_TIMED, 0) if pace is None else pace.seconds[place]
    nearest = [library.library for library in libraries if library.placed_at == split]
    return SweptLayout(
        envs=split[0],
        steps=split[1],
        seeds=FinishedSeeds(
            finished=finished,
            failed=failures,
            missing=len(grid.seeds) - len(finished) - failures,
        ),
        seconds=record(update),
        defaults_of=tuple(dict.fromkeys(nearest)),
        per_sample=samples.standing(place),
        per_second=None if seconds is None else seconds.standing(place),
    )


def _wins(comparison: LayoutComparison | None) -> Wins | None:
    """Return the probability that the first is better, for every pair of layouts."""
    if comparison is None:
        return None
    places = range(len(comparison.layouts))
    return tuple(tuple(comparison.wins(first, second) for second in places) for first in places)
