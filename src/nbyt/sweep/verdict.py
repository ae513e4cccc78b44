"""The verdict of a race: the best layout, and what cannot be told apart from it."""

from collections.abc import Sequence
from math import ceil

from nbyt.rank.words import listed
from nbyt.results.values import Data
from nbyt.sweep.layout_comparison import LayoutComparison, Split


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
