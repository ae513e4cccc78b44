"""Settings to copy: the advised layout in the words of every library."""

from collections import Counter
from collections.abc import Sequence

from msgspec import UNSET

from nbyt.report.advice_words import SAME
from nbyt.report.html.element import Markup, bullets, code, join, tag
from nbyt.report.html.page import Part, merged, section
from nbyt.report.html.quantity import layout_mark
from nbyt.results.advice import GOALS, Advice, Pasted

_SHOWN_FIRST = 6


def settings_section(data: Advice) -> Part:
    """Show tabs for the first libraries, a menu for the others, and a button that copies."""
    settings = data.settings
    if not settings:
        return merged([])
    names = _names(settings)
    tabs = [_tab(place, name) for place, name in enumerate(names[:_SHOWN_FIRST])]
    panels = [
        _panel(place, name, one)
        for place, (name, one) in enumerate(zip(names, settings, strict=True))
    ]
    bar = tag("div", *tabs, role="tablist", aria_label="Libraries", class_="tabs")
    chooser = tag("div", bar, _menu(names), class_="chooser")
    content = [_for(data), chooser, *panels]
    return section("settings", "Settings to copy", None, *content, link="Settings")


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
    """Say what the layout of the settings is advised for."""
    own = (data.schedule.envs, data.schedule.steps)
    answers = {goal: data.advice.of(goal) for goal in GOALS}
    found = [SAME[goal] for goal, one in answers.items() if one and (one.envs, one.steps) == own]
    return f", advised {' and '.join(found)}" if found else ""


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
