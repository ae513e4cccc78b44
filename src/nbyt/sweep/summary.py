"""What a sweep shows: every layout's curve and score, who beats whom, and the advice beside it."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from nbyt.advice.costs import Costs
from nbyt.advice.libraries import defaults
from nbyt.report.numbers import listed
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats.estimate import Estimate, mapped, undetermined
from nbyt.stats.runs import iqm, rank_agreement
from nbyt.sweep.grid import Cell, Grid
from nbyt.sweep.layout_comparison import LayoutComparison, Pace, Split, pace_of, slowed
from nbyt.train.curves import Curve


def compare_with_advice(
    advice: Data, kind: str, race: LayoutComparison, start: float
) -> Data | None:
    """One answer of the advice, per sample or per second, held against its race.

    start: where the curves begin; losses are also told as a share of the way from there to the
    best.
    """
    answer = advice["advice"].get(kind)
    if answer is None:
        return None
    foretold: dict[Split, Data] = {
        (one["envs"], one["steps"]): one["relative"] for one in answer["ranking"]
    }
    advised = (answer["envs"], answer["steps"])
    place = race.layouts.index(advised) if advised in race.layouts else None
    loss = None if place is None else race.regrets.get(place)
    return {
        "envs": advised[0],
        "steps": advised[1],
        "ties": answer["ties"],
        "sentence": answer["sentence"],
        "is_best": place is not None and place == race.best,
        "regret": None if loss is None else loss.as_dict(),
        "regret_share": _share(loss, race, start),
        "best_wins": None if place is None else race.wins(race.best, place),
        "correlation": _correlation(foretold, race),
        "foretold": [foretold.get(split) for split in race.layouts],
    }


def _correlation(foretold: dict[Split, Data], race: LayoutComparison) -> Data:
    """Spearman's, over the layouts that were foretold and that have a finished seed."""
    pairs = [
        (scores, foretold[split]["value"])
        for split, scores in zip(race.layouts, race.scores, strict=True)
        if len(scores) and split in foretold and foretold[split]["value"] is not None
    ]
    said = np.array([one for _, one in pairs], float)
    return rank_agreement([one for one, _ in pairs], said, race.generator).as_dict()


def _share(loss: Estimate | None, race: LayoutComparison, start: float) -> Data | None:
    if loss is None or race.best is None:
        return None
    best = race.heights[race.best].over_training.value
    if best is None or best <= start:
        return None
    span = best - start
    return mapped(loss, lambda lost: lost / span).as_dict()


def verdict(race: LayoutComparison) -> Data | None:
    """The best layout and its ties, as data and as a sentence; None where none is finished."""
    if race.best is None:
        return None
    envs, steps = race.layouts[race.best]
    others = [place for place in range(len(race.layouts)) if place != race.best]
    known = [place for place in others if race.tied(place) is not None]
    tied = [place for place in known if race.tied(place)]
    open_ = bool(tied) and tied == known
    return {
        "envs": envs,
        "steps": steps,
        "over_training": race.heights[race.best].over_training.as_dict(),
        "ties": [list(race.layouts[place]) for place in tied],
        "no_measurable_difference": open_,
        "sentence": _sentence(race, race.best, known, tied),
        "to_settle": _to_settle(race, tied) if open_ else None,
    }


def _sentence(race: LayoutComparison, best: int, known: Sequence[int], tied: Sequence[int]) -> str:
    over = race.heights[best].over_training
    reached = f"{_name(race.layouts[best])} has the highest mean return over training, {over}"
    if not known:
        return f"{reached}; whether another is as good cannot be told."
    if tied == known:
        return f"No measurable difference between the layouts: {reached}, by a hair."
    if not tied:
        return f"{reached}, and the seeds tell it apart from all others{_but(race, known)}."
    names = listed([_name(race.layouts[place]) for place in tied])
    return f"{reached}; cannot be told apart from it: {names}{_but(race, known)}."


def _but(race: LayoutComparison, known: Sequence[int]) -> str:
    """The layouts that nothing can be said of, where there are some."""
    places = [k for k in range(len(race.layouts)) if k != race.best and k not in known]
    names = [_name(race.layouts[place]) for place in places]
    return f"; too few seeds to say: {listed(names)}" if names else ""


def _to_settle(race: LayoutComparison, tied: Sequence[int]) -> Data:
    """How many seeds would tell the best from the worst; the error falls with their root."""
    gaps = [one for place in tied if (one := race.behind[place])]
    worst = max(gaps, key=lambda one: one.value or 0.0)
    if not worst.value or worst.low is None or worst.value <= 0:
        return {"seeds": None, "sentence": "There is no gap that more seeds would make visible."}
    seeds = ceil(worst.replicates * ((worst.value - worst.low) / worst.value) ** 2)
    words = (
        f"About {seeds:,} seeds of each layout would tell the best from the worst, if the gap is "
        "as large as it looks."
    )
    return {"seeds": seeds, "sentence": words}


def _name(split: Split) -> str:
    return f"{split[0]}x{split[1]}"


NOT_TIMED = "the seconds of an update were not measured"


def summarise(
    grid: Grid,
    curves: Mapping[Cell, Curve],
    failures: Mapping[Cell, dict[str, Any]],
    *,
    costs: Costs | None,
    advice: dict[str, Any] | None,
) -> Data:
    """All that the page and the terminal show, as plain data.

    What cannot be told is null, or has a reason: a sweep may have failed or missing cells.
    """
    samples = _race(grid, curves)
    start = _start(samples)
    pace = None if costs is None else pace_of(costs, samples.layouts, _generator(grid, "pace"))
    seconds = None if pace is None or start is None else _timed(grid, samples, pace, start)
    libraries = defaults(samples.layouts)
    races = {"per_sample": samples, "per_second": seconds}
    return {
        **_about(grid),
        "start": start,
        "budget": None if pace is None else _budget(grid, pace),
        "layouts": [_layout(grid, k, races, pace, failures, libraries) for k in _places(grid)],
        "answer": {kind: race and verdict(race) for kind, race in races.items()},
        "defaults": libraries,
        "wins": {kind: race and _wins(race) for kind, race in races.items()},
        "advice": None if advice is None else _beside(advice, races, start),
        "failures": [
            {**cell._asdict(), **failures[cell]} for cell in grid.cells if cell in failures
        ],
    }


def _about(grid: Grid) -> Data:
    first = grid.layouts[0]
    return {
        "env": grid.env.id,
        "batch": grid.batch,
        "minibatch": first.minibatch,
        "epochs": first.epochs,
        "seeds": list(grid.seeds),
        "total": grid.total,
        "points": list(grid.points),
        "samples": [number * grid.batch for number in grid.points],
        "settings": grid.settings.as_dict(),
    }


def _places(grid: Grid) -> range:
    return range(len(grid.layouts))


def _generator(grid: Grid, role: str) -> np.random.Generator:
    return numpy_stream(grid.seeds[0], f"sweep.{role}")


def _race(grid: Grid, curves: Mapping[Cell, Curve]) -> LayoutComparison:
    """The layouts at equal samples; a curve that is not finite is none."""
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


def _start(race: LayoutComparison) -> float | None:
    """Where curves begin: the lowest IQM at the first point.

    An untrained policy is not played, and this is the nearest to it that the curves know.
    """
    heights = [float(iqm(own[:, 0])) for own in race.returns if len(own)]
    return min(heights) if heights else None


def _timed(grid: Grid, race: LayoutComparison, pace: Pace, start: float) -> LayoutComparison:
    """The layouts at equal seconds."""
    return LayoutComparison(
        race.layouts,
        race.seeds,
        tuple(
            slowed(own, grid.points, start, np.array([at]))[0]
            for own, at in zip(race.returns, pace.value, strict=True)
        ),
        _generator(grid, "seconds"),
        lambda k: slowed(race.returns[k], grid.points, start, pace.drawn[:, k]),
    )


def _budget(grid: Grid, pace: Pace) -> Data:
    """The seconds that the fastest layout takes for all updates, and which one that is."""
    layout, one = grid.layouts[pace.fastest], pace.seconds[pace.fastest]
    whole = mapped(one, lambda seconds: grid.points[-1] * seconds)
    return {"envs": layout.envs, "steps": layout.steps, "seconds": whole.as_dict()}


def _layout(
    grid: Grid,
    place: int,
    races: Mapping[str, LayoutComparison | None],
    pace: Pace | None,
    failures: Mapping[Cell, Any],
    libraries: Sequence[Data],
) -> Data:
    layout, samples = grid.layouts[place], races["per_sample"]
    assert samples is not None
    split = [layout.envs, layout.steps]
    failed = sum(list(cell[:2]) == split for cell in failures)
    finished = samples.seeds[place]
    seconds = undetermined(NOT_TIMED, 0) if pace is None else pace.seconds[place]
    return {
        "envs": layout.envs,
        "steps": layout.steps,
        "seeds": {
            "finished": list(finished),
            "failed": failed,
            "missing": len(grid.seeds) - len(finished) - failed,
        },
        "seconds": seconds.as_dict(),
        "defaults_of": _defaults_of(split, libraries),
        **{kind: race and race.standing(place) for kind, race in races.items()},
    }


def _defaults_of(split: list[int], libraries: Sequence[Data]) -> list[str]:
    here = [one["library"] for one in libraries if one["placed_at"] == split]
    return list(dict.fromkeys(here))


def _wins(race: LayoutComparison) -> list[list[Data | None]]:
    """Of every pair of layouts, how probable it is that the first is better."""
    places = range(len(race.layouts))
    return [[race.wins(first, second) for second in places] for first in places]


def _beside(
    advice: Data, races: Mapping[str, LayoutComparison | None], start: float | None
) -> Data:
    return {
        kind: None
        if race is None or start is None
        else compare_with_advice(advice, kind, race, start)
        for kind, race in races.items()
    }
