"""The sentences of an answer: what to use, what other T lose, and why.

No sentence is made where the interval of its number does not support it.
"""

import re
from collections.abc import Sequence
from math import ceil

from nbyt.layout import Layout
from nbyt.report.advice_words import chance_words, hundredths
from nbyt.report.numbers import percent
from nbyt.results.advice import Goal, StageAdvice
from nbyt.results.measurement import Gradient, MeasuredLayout
from nbyt.results.prior import StaggerGain
from nbyt.results.values import Estimate, OfLayout
from nbyt.stats.estimate import printable
from nbyt.stats.race import CALIBRATED_FROM, is_calibrated

_SOURCES = {
    "sampling": "which states and actions were visited",
    "own_step": "the env's response to the action itself",
    "credit": "later randomness that is credited to earlier actions",
    "coupling": "randomness that also decides what is visited next",
}
# A share of the variance that is worth a sentence.
_NOTABLE = 0.1


def verdict(
    goal: Goal, best: OfLayout, loss: Estimate, within: float | None, *, raced: bool
) -> str:
    """Return the answer in one sentence."""
    head = {"time": "Fastest", "samples": "For the fewest samples"}[goal]
    expected = f"expected loss {percent(loss)}"
    if raced and within is not None:
        chance = f"P(within 5 % of the best) = {chance_words(within)}"
        return f"{head}: {in_words(best)}. {chance}; {expected}."
    if raced:
        return f"{head}: {in_words(best)}; {expected}."
    return f"{head}: {in_words(best)}, as on most tasks; {expected}."


def not_learnt(best: OfLayout, trainings: int, *, usual: bool) -> str:
    """Say that the race ranks nothing."""
    why = "the usual choice" if usual else "the best so far, which is hardly more than a guess"
    return (
        f"Nothing learnt: in {trainings} quarter trainings no layout got clearly beyond the "
        f"untrained policy, so nothing is ranked. {in_words(best)} is {why}; try a larger --total, "
        "or check that PPO learns this env at all."
    )


def current_words(own: OfLayout, best: OfLayout, loss: Estimate | None) -> str:
    """Say what the user's own layout loses."""
    name = f"Your {own.envs} x {own.steps}"
    if (own.envs, own.steps) == (best.envs, best.steps):
        return f"{name} is the layout advised: leave it."
    if loss is None or loss.value is None:
        return f"{name} was not compared."
    return f"{name} loses {percent(loss)} against the best layout."


def slower_words(best: OfLayout, speedup: Estimate) -> str:
    """Say how long the user's layout takes to get where the advised one gets."""
    times = f"{speedup.value:.2g} [{speedup.low:.2g}, {speedup.high:.2g}]"
    return f"It takes {times} times as long as {best.envs} x {best.steps} to reach the same return."


def explanations(stages: Sequence[StageAdvice], best: OfLayout) -> list[str]:
    """Say why, from the gradients of frozen policies: direction or noise, terms, sources, phase."""
    found: list[str] = []
    for stage in stages[-1:]:
        layouts = {one.steps: one for one in stage.layouts}
        own = layouts.get(best.steps)
        if own is None:
            continue
        found += [*_left(own, stage.name), *_sides(layouts, own, stage.name)]
        found += [*_terms(own, stage.name), *_sources(stage), *_phase(stage, own)]
    return found


def usual_words(goal: Goal, best: OfLayout, tasks: int, costs: str | None) -> list[str]:
    """Say what an answer without a race rests on. costs: where they come from, if it needed any."""
    said = [
        f"For the same {goal} T = {best.steps} lost least on average over {tasks} reference tasks."
    ]
    if goal == "samples":
        said.append("Racing for the fewest samples gained nothing significant on them.")
    elif costs is not None:
        said.append(f"Costs: {costs}. A race would compare layouts on this env.")
    return said


def schedule_words(layout: Layout, learning_rate: float) -> str:
    """Say what to keep when N changes."""
    return (
        f"Keep the mini-batch at {layout.minibatch} and the learning rate at "
        f"{learning_rate:g}: an update then makes {layout.minibatches} "
        f"mini-batches x {layout.epochs} epochs = {layout.gradient_steps} gradient steps. With "
        "more envs and the same T the number of mini-batches grows; the size of one does not."
    )


def interrupted_words(trained: int, planned: int) -> str:
    """Say what an interrupted race rests on."""
    return (
        f"interrupted: the answer rests on {trained} of {planned} quarter trainings; the same "
        "command goes on"
    )


def uncalibrated_words(trainings: float, *, parallel: bool) -> str | None:
    """Say why no probability is stated after a race; None where it is.

    parallel: True if updates cost as on parallel hardware.
    """
    if not is_calibrated(trainings):
        return (
            f"fewer than {CALIBRATED_FROM} trainings: no probability is stated, because on the "
            "proving ground it did not come true at that cost"
        )
    if not parallel:
        return (
            "no probability is stated where updates cost about the same for every T: on the "
            "proving ground it did not come true for the same samples"
        )
    return None


def stagger_words(gain: StaggerGain | None) -> list[str]:
    """Say what staggered starts win, where the reference tasks surely show it."""
    if gain is None or gain.won.low <= 0:
        return []
    return [
        f"Stagger the starts (--stagger): with T = {gain.steps} it won {percent(gain.won)} of "
        f"the best gain on {gain.tasks} reference tasks, and it costs nothing."
    ]


def remedies(stages: Sequence[StageAdvice], best: OfLayout) -> list[str]:
    """Say what else would help, where the measurement shows it."""
    for stage in stages[-1:]:
        own = next((one for one in stage.layouts if one.steps == best.steps), None)
        if own is not None and _phase(stage, own):
            return ["Stagger the envs: let their first episodes begin at random lengths."]
    return []


def in_words(layout: OfLayout) -> str:
    """Return a layout such as 64 envs x 32 steps."""
    envs, steps = layout.envs, layout.steps
    return f"{envs:,} env{'s' * (envs > 1)} x {steps:,} step{'s' * (steps > 1)}"


_PHRASES = {
    "bias_factor": ("loses direction", "the bias factor (cosine times its size)"),
    "noise_factor": ("loses to noise", "the noise factor"),
}


def _left(best: MeasuredLayout, name: str) -> list[str]:
    """Say what is left of an ideal step, where something surely is."""
    number = best.actor.alignment
    if number.value is None or number.high is None or (number.low or 0.0) <= 0:
        return []
    return [
        f"Of 100 ideal steps of the actor at {name}, {hundredths(number)} are left with "
        f"{_split(best)}; bias and noise take the rest."
    ]


def _sides(layouts: dict[int, MeasuredLayout], best: MeasuredLayout, name: str) -> list[str]:
    """Compare with the shortest and the longest T, where the intervals lie apart."""
    found = []
    for word, steps in (("Shorter", min(layouts)), ("Longer", max(layouts))):
        other = layouts[steps]
        for factor, (loses, what) in _PHRASES.items():
            mine, theirs = best.actor.of(factor), other.actor.of(factor)
            if steps != best.steps and _below(theirs, mine):
                found.append(
                    f"{word} T {loses}: at {name} {what} of the actor is {_said(theirs)} for "
                    f"{_split(other)}, and {_said(mine)} for {_split(best)}."
                )
    return found


def _below(one: Estimate, other: Estimate) -> bool:
    return None not in (one.high, other.low) and one.high < other.low  # type: ignore[operator]


def _terms(best: MeasuredLayout, name: str) -> list[str]:
    """Name the term of the variance that makes the noise, where its interval says so."""
    whole, covariance = best.actor.variance.value, best.actor.covariance
    if not whole or covariance.value is None or covariance.low is None or covariance.high is None:
        return []
    low, high = covariance.low / whole, covariance.high / whole
    if low > _NOTABLE:
        kind = "is in good part covariance between steps of one rollout:"
    elif high < -_NOTABLE:
        kind = "is lowered by covariance between steps of one rollout:"
    elif (most := max(-low, high)) < 2 * _NOTABLE:
        return [
            f"The noise of {_split(best)} at {name} is that of single steps: covariance between "
            f"steps of one rollout is at most {ceil(100 * most)} % of the variance."
        ]
    else:
        return []
    text = percent(covariance, whole)
    return [f"The noise of {_split(best)} at {name} {kind} {text} of the variance."]


def _sources(stage: StageAdvice) -> list[str]:
    layouts = stage.closer.sources.layouts if stage.closer else ()
    found = []
    for layout in layouts or ():
        parts, whole = layout.actor, layout.actor.variance.value
        order = sorted(_SOURCES, key=lambda name: getattr(parts, name).value or 0.0, reverse=True)
        first, second = (getattr(parts, name) for name in order[:2])
        if whole and _below(second, first):
            share = percent(first, whole)
            if first.low == first.high:  # calculated, not measured
                share = share.partition(" [")[0]
            found.append(
                f"Its largest source at {_split(layout)} is {_SOURCES[order[0]]}: {share} of the "
                "variance."
            )
    return found


def _phase(stage: StageAdvice, best: MeasuredLayout) -> list[str]:
    """Say what synchronised starts add to the variance, where it is clearly something."""
    layouts = stage.closer.layouts if stage.closer else ()
    gradient: Gradient | None = next(
        (one.actor for one in layouts if one.steps == best.steps), None
    )  # phase is measured at the first lambda, which comes first
    if gradient is None or not isinstance(gradient.phase, Estimate):
        return []
    part, whole = gradient.phase, gradient.variance.value
    if part.value is None or not whole or (part.low or 0.0) / whole < _NOTABLE:
        return []
    return [
        f"Envs that all start at a reset together add {percent(part, whole)} to the "
        f"variance of {_split(best)}, which more envs do not remove."
    ]


def _split(layout: OfLayout) -> str:
    return f"{layout.envs}x{layout.steps}"


def _said(number: Estimate) -> str:
    """Format a number for a sentence, such as .31 [.27, .36]."""
    if number.value is None:
        return "undetermined"
    shown = printable(number.value, number.low, number.high)
    value, low, high = map(_decimals, (shown, number.low, number.high))
    return f"{'about ' if number.approximate is True else ''}{value} [{low}, {high}]"


def _decimals(x: float | None) -> str:
    if x is None:
        return "?"
    text = f"{x:.2f}" if abs(x) >= 0.095 or x == 0 else f"{x:.2g}"
    return re.sub(r"^(-?)0\.", r"\1.", text)
