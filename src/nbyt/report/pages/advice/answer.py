"""The answer: which layout for either goal, how sure, and the user's own layout beside it."""

import re

from nbyt.report.advice_words import others_words, rests_words
from nbyt.report.html.element import Child, Markup, bullets, join, tag
from nbyt.report.html.glossary import term
from nbyt.report.html.page import Part, section
from nbyt.report.html.quantity import big_layout, shown, split_mark
from nbyt.report.numbers import share
from nbyt.results.advice import GOALS, Advice, Answer, Current, Goal

HEADS: dict[Goal, tuple[str, str]] = {
    "time": ("Fastest", "when the clock is what you pay for"),
    "samples": ("For the fewest samples", "when env steps are what you pay for"),
}
_WHOLE = re.compile(r"T [=<>]+ \d+|\[[^\][]{1,24}\]|\d [%x](?= )")
_Rows = list[tuple[Child, Child]]


def answer_section(data: Advice) -> Part:
    """Show one verdict, the answer for the other goal, and the user's layout; no charts."""
    other: Goal = next(goal for goal in GOALS if goal != data.objective)
    beside = [_other(other, data.advice.of(other)), _current(data.current)]
    content = [
        _alarm(data),
        tag("div", _verdict(data), tag("div", *beside, class_="others"), class_="verdict"),
        _warnings(data),
    ]
    return section("answer", "The answer", None, *content, link="Answer", quiet=True)


def _verdict(data: Advice) -> Markup:
    """Show the answer for the goal of the advice."""
    one, others = data.answer, others_words(data)
    # After a race that ranks layouts the numbers above say it all.
    said = one.rests_on == "prior" or _is_unlearnt(data)
    chips = [tag("li", split_mark(*split)) for split in data.safe_range]
    safe = (term("safe", "safe layouts"), tag("ul", *chips, class_="chips"))
    return tag(
        "article",
        _kind(data.objective),
        big_layout(one),
        _stats(one),
        tag("p", _unbroken(one.sentence), class_="said") if said else None,
        tag("p", _unbroken(others)) if others else None,
        _facts([safe]) if chips else None,
        tag("p", rests_words(data), class_="rests"),
        class_="answer open" if _is_unlearnt(data) else "answer",
    )


def _stats(one: Answer) -> Markup:
    """Show the probability, where it is calibrated, and the expected loss in larger type."""
    pairs: _Rows = [(term("expected_loss"), shown(one.expected_loss, 100, " %"))]
    if one.p_within_5 is not None:
        words = term("within_5", "probability to be within 5 % of the best")
        pairs.insert(0, (words, chance(one.p_within_5)))
    inside = [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs]
    return tag("dl", *inside, class_="stats")


def chance(probability: float) -> str:
    """Format a probability in per cent; never as 0 or 100, which no race can show."""
    if probability > 0.99:
        return "> 99 %"
    return share(max(probability, 1e-9))


def _unbroken(text: str) -> str:
    """Keep "T = 16", "5 %" and intervals on one line."""
    return _WHOLE.sub(lambda found: found[0].replace(" ", "\u00a0"), text)


def _other(goal: Goal, one: Answer | None) -> Markup:
    if one is None:
        why = "The cost of an update is not known, so nothing is said about time."
        return tag("article", _kind(goal), tag("p", why), class_="answer small")
    said = tag("p", _unbroken(one.sentence), class_="said")
    return tag("article", _kind(goal), big_layout(one), said, class_="answer small")


def _kind(goal: Goal) -> Markup:
    title, when = HEADS[goal]
    return tag("p", tag("strong", title), f", {when}", class_="kind")


def _facts(rows: _Rows) -> Markup:
    inside = [join([tag("dt", name), tag("dd", value)]) for name, value in rows]
    return tag("dl", *inside, class_="facts")


def _current(current: Current | None) -> Markup | None:
    """Show what the user's own layout loses, if one was given."""
    if current is None:
        return None
    rows: _Rows = []
    if current.speedup is not None:
        times = shown(current.speedup, 1, " ×")
        rows.append(("time to the same return", times))
    if current.loss is not None:
        rows.append((term("expected_loss"), shown(current.loss, 100, " %")))
    return tag(
        "article",
        tag("p", tag("strong", "Your layout"), class_="kind"),
        big_layout(current),
        tag("p", _unbroken(current.sentence), class_="said"),
        _facts(rows) if rows else None,
        class_="answer small own",
    )


def _is_unlearnt(data: Advice) -> bool:
    """Return True if a race was run and no layout learnt anything in it."""
    return data.race is not None and not data.race.learnt


def _alarm(data: Advice) -> Markup | None:
    """Warn that the race learnt nothing."""
    if not _is_unlearnt(data):
        return None
    said = (
        "No layout did clearly better than the untrained policy, so nothing is ranked. What is "
        "named below is hardly more than a guess. Train longer, or fix what keeps this task from "
        "being learnt."
    )
    title = tag("p", tag("strong", "Nothing was learnt"))
    return tag("div", title, tag("p", said), class_="notice loud", role="note")


def _warnings(data: Advice) -> Markup | None:
    """Show the warnings of the advice and of its stages, each once."""
    own = list(data.warnings or ())
    stages = [
        f"{stage.name}: {one}" for stage in data.stages for one in stage.warnings if one not in own
    ]
    found = bullets(list(dict.fromkeys([*own, *stages])))
    if found is None:
        return None
    return tag("div", tag("p", tag("strong", "Warnings")), found, class_="notice loud")
