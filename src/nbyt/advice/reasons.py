"""The sentences that go with an answer: why, what would help, and the numbers behind each.

They are made from the data of the JSON output.
"""

import re
from collections.abc import Sequence

from nbyt.advice.rank import Answer, Place
from nbyt.results.values import Data
from nbyt.stats.estimate import percent

_SOURCES = {
    "sampling": "which states and actions were visited",
    "own_step": "the env's response to the action itself",
    "credit": "later randomness that is credited to earlier actions",
    "coupling": "randomness that also decides what is visited next",
}
# A share of the variance, or a gain in alignment, that is worth a sentence.
_NOTABLE = 0.1
_SMALL = 0.03
_POOR_CRITIC = 0.5
_NOISY = 0.5


def reasons(
    answer: Answer,
    stages: Sequence[Data],
    stage: Data,
    objective: str,
    *,
    timed: bool = False,
    alone: Answer | None = None,
) -> list[str]:
    """Say what decides between the layouts: direction or noise, which term, which source, phase.

    stage: the one that counts most. timed: whether the answer is per second, so that time decides
    too. alone: the answer for the actor alone, where actor and critic decide.
    """
    layouts = {one["steps"]: one for one in stage["layouts"]}
    best = layouts[answer.best.steps]
    found = [
        *_sides(layouts, best, stage["name"], objective),
        *(_time(layouts, best) if timed else []),
        *(_critic(answer, alone, stages) if alone is not None else []),
        *_terms(best, stage["name"], objective),
        *_sources(stage, objective),
        *_phase(stage, best, objective),
        *_harm(answer),
    ]
    if answer.left_out:
        lost = sum(one["weight"] for one in stages if one["name"] in answer.left_out)
        found.append(
            f"Left out, because no layout's gradient is clearly along the true one there: "
            f"{listed(list(answer.left_out))}, {100 * lost:.0f} % of the weight."
        )
    return found


def remedies(answer: Answer, stage: Data, objective: str) -> list[str]:
    """Say what else would help: lambda, the critic, staggered starts, more data."""
    layouts = {one["steps"]: one for one in stage["layouts"]}
    best = layouts[answer.best.steps]
    return [
        *_other_lambda(stage, best, objective),
        *_better_critic(stage, layouts, objective),
        *_staggered(stage, best, objective),
        *_larger_batch(best, objective),
    ]


def _sides(layouts: dict[int, Data], best: Data, name: str, objective: str) -> list[str]:
    found = []
    for word, steps in (("Shorter", min(layouts)), ("Longer", max(layouts))):
        if steps == best["steps"]:
            continue
        other = layouts[steps]
        losses = {
            factor: _loss(best[objective][factor], other[objective][factor])
            for factor in ("bias_factor", "noise_factor")
        }
        known = {factor: loss for factor, loss in losses.items() if loss is not None}
        if len(known) < 2 or max(known.values()) < _SMALL:
            continue
        factor = max(known, key=lambda one: known[one])
        loses = {
            "bias_factor": ("loses direction", "the bias factor (cosine times its size)"),
            "noise_factor": ("loses to noise", "the noise factor"),
        }[factor]
        found.append(
            f"{word} T {loses[0]}: at {name} {loses[1]} is {_said(other[objective][factor])} for "
            f"{_split(other)}, and {_said(best[objective][factor])} for {_split(best)}."
        )
    return found


def _time(layouts: dict[int, Data], best: Data) -> list[str]:
    known = [one for one in layouts.values() if one["seconds"]["value"] is not None]
    if not known:
        return []
    slowest = max(known, key=lambda one: one["seconds"]["value"])
    own = best["seconds"]
    if slowest is best or slowest["seconds"]["value"] < (1 + _SMALL) * own["value"]:
        return ["An update takes about the same time whatever the split."]
    return [
        f"An update takes {_milliseconds(slowest['seconds'])} with {_split(slowest)}, and "
        f"{_milliseconds(own)} with {_split(best)}."
    ]


def _milliseconds(seconds: Data) -> str:
    scale, unit = (1, "s") if seconds["value"] >= 1 else (1000, "ms")
    value, low, high = (f"{scale * seconds[name]:.3g}" for name in ("value", "low", "high"))
    return f"{value} {unit} [{low}, {high}]"


def _loss(best: Data, other: Data) -> float | None:
    if best["value"] is None or other["value"] is None or best["value"] <= 0:
        return None
    return 1 - other["value"] / best["value"]


def _critic(answer: Answer, alone: Answer, stages: Sequence[Data]) -> list[str]:
    """Say where the critic changes the answer: at the stage where it gains most."""
    mine, other = answer.best.steps, alone.best.steps
    gains = {}
    for stage in stages:
        known = {one["steps"]: one["critic"]["alignment"] for one in stage["layouts"]}
        if None not in (known[mine]["value"], known[other]["value"]):
            gain = stage["weight"] * (known[mine]["value"] - known[other]["value"])
            gains[stage["name"]] = (gain, known)
    if mine == other or not gains:
        return []
    name, (gain, known) = max(gains.items(), key=lambda one: one[1][0])
    if gain <= 0:
        return []
    there = next(place for place in answer.places if place.steps == other)
    return [
        f"The critic decides too: for the actor alone it would be {there.envs}x{there.steps}, but "
        f"at {name} the critic's alignment is {_said(known[other])} there, and "
        f"{_said(known[mine])} for {answer.best.envs}x{answer.best.steps}."
    ]


def _terms(best: Data, name: str, objective: str) -> list[str]:
    """Name the term of the variance that makes the noise, where its interval says so."""
    gradient = best[objective]
    whole, covariance = gradient["variance"]["value"], gradient["covariance"]
    if not whole or None in (covariance["value"], covariance["low"], covariance["high"]):
        return []
    share, low, high = (covariance[one] / whole for one in ("value", "low", "high"))
    if share >= _NOTABLE and low > 0:
        kind = "is in good part covariance between steps of one rollout:"
    elif share <= -_NOTABLE and high < 0:
        kind = "is lowered by covariance between steps of one rollout:"
    elif low > -2 * _NOTABLE and high < 2 * _NOTABLE:
        kind = "is that of single steps; covariance between steps of one rollout makes up"
    else:
        return []
    text = percent(covariance, whole)
    return [f"The noise of {_split(best)} at {name} {kind} {text} of the variance."]


def _sources(stage: Data, objective: str) -> list[str]:
    found = []
    looked = stage["closer"] or {"sources": {}}
    for layout in looked["sources"].get("layouts", []):
        parts = layout.get(objective)
        if parts is None or not parts["variance"]["value"]:
            continue
        whole = parts["variance"]["value"]
        name = max(_SOURCES, key=lambda one: parts[one]["value"] or 0.0)
        found.append(
            f"Its largest source at {_split(layout)} is {_SOURCES[name]}: "
            f"{percent(parts[name], whole)} of the variance."
        )
    return found


def _phase(stage: Data, best: Data, objective: str) -> list[str]:
    ratio = _phase_ratio(stage, best, objective)
    if ratio is None or ratio < _NOTABLE:
        return []
    return [
        f"Envs that all start at a reset together would add {ratio:.1f} times the variance of "
        f"{_split(best)}, which more envs do not remove."
    ]


def _phase_ratio(stage: Data, best: Data, objective: str) -> float | None:
    """Return what synchronised starts add to the variance, as a multiple; None if unclear."""
    looked = stage["closer"] or {"layouts": []}
    own = [one for one in looked["layouts"] if one["steps"] == best["steps"]]
    if not own:
        return None
    layout = own[0]  # phase is measured at the first lambda, which comes first
    part, whole = layout[objective].get("phase"), layout[objective]["variance"]["value"]
    if part is None or part["value"] is None or not whole or (part["low"] or 0) <= 0:
        return None
    return part["value"] / whole


def _harm(answer: Answer) -> list[str]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for place in sorted(answer.places, key=lambda place: place.steps):
        if place.harmful:
            groups.setdefault(place.harmful, []).append(f"{place.envs}x{place.steps}")
    return [
        f"Harmful at {listed(list(stages))}, where their gradient points away from the true one: "
        f"{listed(layouts)}."
        for stages, layouts in groups.items()
    ]


def _other_lambda(stage: Data, best: Data, objective: str) -> list[str]:
    own = best[objective]["alignment"]
    looked = stage["closer"] or {"layouts": []}
    others = [one for one in looked["layouts"] if one["lambda"] != stage["lambda"]]
    known = [one for one in others if one[objective]["alignment"]["value"] is not None]
    if not known or own["value"] is None or own["high"] is None:
        return []
    top = max(known, key=lambda one: one[objective]["alignment"]["value"])
    low = top[objective]["alignment"]["low"]
    if low is None or low <= own["value"]:
        return []
    return [
        f"Another lambda: {_split(top)} with lambda {top['lambda']:g} has alignment "
        f"{_said(top[objective]['alignment'])} at {stage['name']}, against {_said(own)} with "
        f"lambda {stage['lambda']:g}."
    ]


def _better_critic(stage: Data, layouts: dict[int, Data], objective: str) -> list[str]:
    quality = stage["critic"]["explained_variance"]
    short = layouts[min(layouts)][objective]["bias_factor"]
    if quality["value"] is None or quality["value"] > _POOR_CRITIC:
        return []
    if short["value"] is None or short["value"] > _NOISY:
        return []
    return [
        f"A better critic: at {stage['name']} it explains {_said(quality)} of the returns' "
        "variance, and short T lean on it most."
    ]


def _staggered(stage: Data, best: Data, objective: str) -> list[str]:
    ratio = _phase_ratio(stage, best, objective)
    if ratio is None or ratio < _NOTABLE:
        return []
    return ["Staggered starts: let the envs begin at random phases of an episode."]


def _larger_batch(best: Data, objective: str) -> list[str]:
    noise = best[objective]["noise_factor"]
    if noise["value"] is None or not 0 < noise["value"] < _NOISY:
        return []
    more = 4 * noise["value"] / (1 + 3 * noise["value"])
    return [
        f"A larger batch: the noise factor of {_split(best)} is {_said(noise)}; with four "
        f"times the envs it would be about {more:.2f}."
    ]


def advice(
    answer: Answer,
    stages: Sequence[Data],
    stage: Data,
    libraries: Sequence[Data],
    objective: str,
    *,
    timed: bool = False,
    alone: Answer | None = None,
) -> Data:
    """Return one answer as in the JSON output, per sample or, if timed, per second.

    stage: the one that counts most. alone: the answer for the actor alone, where actor and critic
    decide.
    """
    best, samples = answer.best, sum(each["pool"]["samples"] for each in stages)
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
        "reasons": reasons(answer, stages, stage, objective, timed=timed, alone=alone),
        "remedies": remedies(answer, stage, objective),
        "left_out": list(answer.left_out),
        "ranking": [_placed(place, libraries) for place in answer.places],
    }


def sentence(answer: Answer) -> str:
    """Return the answer in one sentence."""
    best = answer.best
    ties = [f"{place.envs}x{place.steps}" for place in answer.ties]
    if answer.open:
        return f"No measurable difference between the layouts; {_name(best)} is slightly ahead."
    share = f"best in {100 * best.win_share:.0f} % of the resamples"
    if not ties:
        return f"Use {_name(best)}: {share}, clearly better than all others."
    return f"Use {_name(best)}: {share}; tied with {listed(ties)}."


def current(answer: Answer, steps: int) -> Data:
    """Return the user's own layout in the ranking, and whether to change it."""
    place, best = answer.place(steps), answer.best
    name = f"{place.envs}x{place.steps}"
    if place is best:
        words = f"Leave it: {name} is the layout advised."
    elif place.tied:
        words = f"Leave it: {name} is tied with {_name(best)}."
    else:
        words = (
            f"Change it: {name} loses {percent(place.regret.as_dict())} of the alignment that "
            f"{_name(best)} has."
        )
    return {**place.as_dict(), "sentence": words, "place": answer.places.index(place) + 1}


def _split(layout: Data) -> str:
    return f"{layout['envs']}x{layout['steps']}"


def _name(place: Place) -> str:
    return f"{place.envs} env{'s' * (place.envs > 1)} x {place.steps} step{'s' * (place.steps > 1)}"


def _placed(place: Place, libraries: Sequence[Data]) -> Data:
    layout = [place.envs, place.steps]
    here = [one["library"] for one in libraries if one["placed_at"] == layout]
    return {**place.as_dict(), "defaults_of": list(dict.fromkeys(here))}


def _to_settle(answer: Answer, samples: int) -> Data | None:
    """Return how many env steps would separate best and worst, where all tie."""
    if not answer.open:
        return None
    more = answer.more_needed()
    if more is None:
        return {"sentence": "There is no gap that more chains would show.", "samples": None}
    words = (
        f"About {more:.1f} times the chains, {more * samples:,.0f} env steps, would separate the "
        "best from the worst, if the gap stays the same."
    )
    return {"sentence": words, "samples": round(more * samples)}


def listed(texts: list[str]) -> str:
    """Join words with commas, and an "and" before the last."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _said(number: Data) -> str:
    """Format a number for a sentence, such as .31 [.27, .36]."""
    if number["value"] is None:
        return "undetermined"
    value, low, high = (_two_decimals(number[end]) for end in ("value", "low", "high"))
    return f"{'about ' if number.get('approximate') else ''}{value} [{low}, {high}]"


def _two_decimals(x: float | None) -> str:
    if x is None:
        return "?"
    text = f"{x:.2f}" if abs(x) >= 0.095 or x == 0 else f"{x:.2g}"
    return re.sub(r"^(-?)0\.", r"\1.", text)
