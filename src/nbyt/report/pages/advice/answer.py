"""The answer: which layout, how sure, why, what else would help, and settings to copy."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import astuple

from nbyt.report.html.element import Child, Markup, bullets, code, join, tag
from nbyt.report.html.glossary import term
from nbyt.report.html.page import Part, row, section, table
from nbyt.report.html.quantity import big_layout, layout_mark, shown, split_mark
from nbyt.report.numbers import share
from nbyt.results.advice import Advice, Agreement, Answer, Budget, BudgetRow, Current, Pasted
from nbyt.results.values import Estimate, Kind

_SHOWN_FIRST = 6


def settings_block(data: Advice) -> Markup | None:
    """Return tabs for the first libraries, a menu for the others, and a button that copies."""
    settings = data.settings
    if not settings:
        return None
    names = _names(settings)
    tabs = [_tab(place, name) for place, name in enumerate(names[:_SHOWN_FIRST])]
    panels = [
        _panel(place, name, one)
        for place, (name, one) in enumerate(zip(names, settings, strict=True))
    ]
    bar = tag("div", *tabs, role="tablist", aria_label="Libraries", class_="tabs")
    chooser = tag("div", bar, _menu(names), class_="chooser")
    return tag("div", tag("h3", "Settings to copy"), _for(data), chooser, *panels, id="settings")


def _for(data: Advice) -> Markup:
    schedule = data.schedule
    return tag(
        "p",
        "For ",
        layout_mark(schedule),
        _why_this(data),
        ", with the gamma, lambda and learning rate of the measurement. ",
        schedule.sentence,
        class_="muted",
    )


def _why_this(data: Advice) -> str:
    """Return what the layout of the settings is best for."""
    steps, answers = data.schedule.steps, data.advice
    found = [word for kind, (word, _) in _KINDS.items() if _steps(answers.of(kind)) == steps]
    return f", best {' and '.join(found)}" if found else ""


def _steps(answer: Answer | None) -> int | None:
    return None if answer is None else answer.steps


def _names(settings: Sequence[Pasted]) -> list[str]:
    """Return each library's name; where several have the same, with its id."""
    count = Counter(one.library for one in settings)
    return [
        one.library if count[one.library] == 1 else f"{one.library} ({one.id})" for one in settings
    ]


def _tab(place: int, name: str) -> Markup:
    return tag(
        "button",
        name,
        type="button",
        role="tab",
        id=f"tab-{place}",
        aria_controls=f"panel-{place}",
        aria_selected="true" if place == 0 else "false",
        tabindex="0" if place == 0 else "-1",
    )


def _menu(names: list[str]) -> Markup | None:
    rest = list(enumerate(names))[_SHOWN_FIRST:]
    if not rest:
        return None
    first = tag("option", f"{len(rest)} more libraries", value="")
    options = [tag("option", name, value=place) for place, name in rest]
    return tag("select", first, *options, id="more-libraries", aria_label="More libraries")


def _panel(place: int, name: str, one: Pasted) -> Markup:
    button = tag("button", "Copy", type="button", class_="copy", data_copy=f"paste-{place}")
    text = tag("pre", code(one.paste), id=f"paste-{place}", tabindex="0", aria_label=name)
    first = place < _SHOWN_FIRST
    return tag(
        "div",
        tag("p", tag("strong", name), button, class_="panel-head"),
        text,
        _lost(one),
        id=f"panel-{place}",
        class_="panel" if first else "panel rare",
        role="tabpanel",
        aria_label=name,
        hidden=place != 0,
    )


def _lost(one: Pasted) -> Markup:
    """Return what the library cannot express."""
    if one.changes is not UNSET:
        stays = "Only what changes: all your other settings stay as they are."
        said = stays if one.changes else "Nothing changes: this is what you have."
        return tag("p", said, class_="muted")
    unsaid = one.unsaid or ()
    if one.exact and not unsaid:
        return tag("p", "Nothing is lost: this is the same layout.", class_="muted")
    if one.exact:
        said = f"The same layout. Not said here: {', '.join(unsaid)}."
        return tag("p", said, class_="muted")
    head = tag("p", tag("strong", "Not the same layout. "), "What is lost:")
    return tag("div", join([head, bullets([*one.lost, *unsaid]) or ""]), class_="lost")


_KINDS: dict[Kind, tuple[str, str]] = {
    "per_sample": ("per sample", "when env steps are what you pay for"),
    "per_second": ("per second", "when the clock is what you pay for"),
}


def answer_section(data: Advice) -> Part:
    """Return the first section; it has no charts."""
    answers = {kind: data.advice.of(kind) for kind in _KINDS}
    cards = [answer_card(kind, one) for kind, one in answers.items() if one is not None]
    if data.advice.per_second is None:
        cards.append(_no_seconds())
    content = [
        _alarm(data),
        tag("div", *cards, class_="answers"),
        _current(data.current),
        _agreement(data.agreement),
        _warnings(data),
        tag("div", _why(answers), _remedies(answers), class_="row"),
        _budget(data.budget),
        settings_block(data),
    ]
    return section("answer", "The answer", None, *content, link="Answer", quiet=True)


def answer_card(kind: Kind, one: Answer) -> Markup:
    """Return one advised layout with its confidence."""
    word, when = _KINDS[kind]
    ties = [tag("li", split_mark(n, t)) for n, t in one.ties]
    told = "All layouts tie with it." if one.no_measurable_difference else None
    tied = tag("ul", *ties, class_="chips") if ties and told is None else told
    rows: list[tuple[Child, Child]] = [
        (term("win_share"), f"best in {share(one.win_share)} of the resamples"),
        (term("alignment"), shown(one.alignment)),
        (term("tie", "ties"), tied or "none: clearly better than all others"),
    ]
    facts = [join([tag("dt", name), tag("dd", value)]) for name, value in rows]
    return tag(
        "article",
        tag("p", tag("strong", f"Best {word}"), f", {when}", class_="kind"),
        big_layout(one),
        tag("p", one.sentence) if one.no_measurable_difference else None,
        tag("dl", *facts, class_="facts"),
        class_="answer open" if one.no_measurable_difference else "answer",
    )


def _no_seconds() -> Markup:
    return tag(
        "article",
        tag("p", tag("strong", "Best per second"), class_="kind"),
        tag("p", "The cost of an update was not measured, so there is no answer per second."),
        class_="answer",
    )


def _alarm(data: Advice) -> Markup | None:
    """Return a warning that all layouts tie."""
    known = {kind: one for kind in _KINDS if (one := data.advice.of(kind)) is not None}
    unsure = {kind: one for kind, one in known.items() if one.no_measurable_difference}
    if not unsure:
        return None
    title = "No measurable difference between the layouts"
    if len(unsure) < len(known):
        title = f"{title} {_KINDS[next(iter(unsure))][0]}"
    unsettled = [
        tag("p", f"{_KINDS[kind][0].capitalize()}: {one.to_settle.sentence}")
        for kind, one in unsure.items()
        if one.to_settle
    ]
    return tag("div", tag("p", tag("strong", title)), *unsettled, class_="notice loud", role="note")


def _current(current: Current | None) -> Markup | None:
    """Return what the user's own layout loses, if one was given."""
    if current is None:
        return None
    rows = []
    for kind, (word, _) in _KINDS.items():
        one = current.of(kind)
        if one is not None:
            rows.append(tag("li", tag("strong", f"{word.capitalize()}: "), one.sentence))
    head = tag("p", tag("strong", "Your layout"))
    return tag("div", head, tag("ul", *rows), class_="notice")


def _agreement(agreement: Agreement | None) -> Markup | None:
    if agreement is None:
        return None
    look = "notice" if agreement.agree else "notice loud"
    return tag("div", tag("p", agreement.sentence), class_=look)


def _warnings(data: Advice) -> Markup | None:
    """Return the warnings of the advice and of its stages, each once."""
    own = list(data.warnings or ())
    stages = [
        f"{stage.name}: {one}" for stage in data.stages for one in stage.warnings if one not in own
    ]
    found = bullets(list(dict.fromkeys([*own, *stages])))
    if found is None:
        return None
    return tag("div", tag("p", tag("strong", "Warnings")), found, class_="notice loud")


def _why(answers: Mapping[Kind, Answer | None]) -> Markup:
    return tag("div", tag("h3", "Why"), _told(answers, lambda one: one.reasons))


def _remedies(answers: Mapping[Kind, Answer | None]) -> Markup | None:
    if not any(one and one.remedies for one in answers.values()):
        return None
    return tag("div", tag("h3", "What else would help"), _told(answers, lambda one: one.remedies))


def _told(answers: Mapping[Kind, Answer | None], what: Callable[[Answer], Sequence[str]]) -> Markup:
    """Return the sentences of both answers: those of one alone, then the shared ones, once."""
    found = {kind: what(one) for kind, one in answers.items() if one is not None}
    first, *others = found.values()
    shared = [one for one in first if all(one in other for other in others)]
    blocks: list[Child] = []
    for kind, sentences in found.items():
        own = bullets([one for one in sentences if one not in shared])
        if own is not None:
            blocks += [tag("h4", _KINDS[kind][0].capitalize()), own]
    if shared:
        blocks += [tag("h4", "Both") if blocks else None, bullets(shared)]
    return join(blocks) if blocks else tag("p", "There is nothing to say.", class_="muted")


def _budget(budget: Budget | UnsetType | None) -> Markup | None:
    """Return the sentence and the table of a budget."""
    if not isinstance(budget, Budget):
        return None
    said = tag("div", tag("p", budget.sentence), class_="notice")
    head = [name.replace("_", " ") for name in BudgetRow.__struct_fields__]
    body = [row(*map(_cell, astuple(one))) for one in budget.rows]
    return join([said, table("Budget", head, body)])


def _cell(value: Any) -> Child:
    return shown(value) if isinstance(value, Estimate) else str(value)
