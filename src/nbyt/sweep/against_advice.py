"""The advice beside what happened: did it order the layouts, and what is lost by following it?"""

import numpy as np

from nbyt.results.values import Data
from nbyt.stats.combine import mapped
from nbyt.stats.estimate import Estimate
from nbyt.stats.regret import rank_agreement
from nbyt.sweep.layout_comparison import LayoutComparison, Split


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
