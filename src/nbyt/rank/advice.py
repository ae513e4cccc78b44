"""The advice in words and plain data: what to use, how sure that is, what ties with it."""

from collections.abc import Sequence

from nbyt.rank.answer import Answer, Place
from nbyt.rank.reasons import reasons, remedies
from nbyt.rank.words import listed, percent
from nbyt.results.values import Data


def advice(
    answer: Answer,
    stages: Sequence[Data],
    libraries: Sequence[Data],
    objective: str,
    samples: int,
    *,
    timed: bool = False,
    alone: Answer | None = None,
) -> Data:
    """One answer as JSON promises it, per sample or, if timed, per second.

    samples: env steps of all pools, for what more would cost. alone: the answer for the actor
    alone, where actor and critic decide.
    """
    best = answer.best
    return {
        "envs": best.envs,
        "steps": best.steps,
        "alignment": best.alignment.as_dict(),
        "relative": best.relative.as_dict(),
        "win_share": best.win_share,
        "actor_alone": alone and [alone.best.envs, alone.best.steps],
        "ties": [[place.envs, place.steps] for place in answer.ties],
        "no_measurable_difference": answer.open,
        "sentence": sentence(answer),
        "to_settle": _to_settle(answer, samples),
        "reasons": reasons(answer, stages, objective, timed=timed, alone=alone),
        "remedies": remedies(answer, stages, objective),
        "left_out": list(answer.left_out),
        "ranking": [_placed(place, libraries) for place in answer.places],
    }


def sentence(answer: Answer) -> str:
    """The answer in one sentence."""
    best = answer.best
    ties = [f"{place.envs}x{place.steps}" for place in answer.ties]
    if answer.open:
        return f"No measurable difference between the layouts; {_name(best)} looks best by a hair."
    share = f"best in {100 * best.win_share:.0f} % of the resamples"
    if not ties:
        return f"Use {_name(best)}: {share}, and the data tell it apart from all others."
    return f"Use {_name(best)}: {share}; cannot be told apart from it: {listed(ties)}."


def current(answer: Answer, steps: int) -> Data:
    """The user's own layout in the ranking, and what a change would bring."""
    place, best = answer.place(steps), answer.best
    name = f"{place.envs}x{place.steps}"
    if place is best:
        words = f"Leave it: {name} is the layout advised."
    elif place.tied:
        words = f"Leave it: {name} cannot be told apart from {_name(best)}."
    else:
        words = (
            f"Change it: {name} loses {percent(place.regret.as_dict())} of the alignment that "
            f"{_name(best)} has."
        )
    return {**place.as_dict(), "sentence": words, "place": answer.places.index(place) + 1}


def _name(place: Place) -> str:
    return f"{place.envs} env{'s' * (place.envs > 1)} x {place.steps} step{'s' * (place.steps > 1)}"


def _placed(place: Place, libraries: Sequence[Data]) -> Data:
    layout = [place.envs, place.steps]
    here = [one["library"] for one in libraries if one["placed_at"] == layout]
    return {**place.as_dict(), "defaults_of": list(dict.fromkeys(here))}


def _to_settle(answer: Answer, samples: int) -> Data | None:
    """What it would take to tell the best from the worst, where nothing is told apart."""
    if not answer.open:
        return None
    more = answer.more_needed()
    if more is None:
        return {"sentence": "There is no gap that more chains would make visible.", "samples": None}
    words = (
        f"About {more:.1f} times the chains, {more * samples:,.0f} env steps, would tell the best "
        "from the worst, if the gap is as large as it looks."
    )
    return {"sentence": words, "samples": round(more * samples)}
