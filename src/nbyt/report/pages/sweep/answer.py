"""The answer: the best layout, what cannot be told apart from it, and what failed."""

from collections.abc import Sequence

from nbyt.report.html.element import Child, Markup, join, tag
from nbyt.report.html.page import Part, section
from nbyt.report.html.quantity import big_layout, layout_mark, shown
from nbyt.report.numbers import layout_name, words
from nbyt.results.values import Data

KINDS = {"per_sample": "for the same samples", "per_second": "for the same time"}
_COLOURS = 12
_NAMED = 2


def kinds_of(data: Data) -> list[str]:
    """At equal samples, and at equal seconds where that was timed."""
    return [kind for kind in KINDS if data["answer"][kind] is not None]


def colours(layouts: Sequence[Data]) -> list[str]:
    """A colour of the style sheet for each layout, from the shortest T to the longest."""
    order = sorted(range(len(layouts)), key=lambda place: layouts[place]["steps"])
    last = max(len(layouts) - 1, 1)
    found = [""] * len(layouts)
    for rank, place in enumerate(order):
        found[place] = f"t{round(rank * (_COLOURS - 1) / last)}"
    return found


def best_index(data: Data, kind: str) -> int:
    """Where the best layout is in the list."""
    return index_of(data, data["answer"][kind]) or 0


def index_of(data: Data, one: Data | None) -> int | None:
    """Where a layout with these envs and steps is in the list; None for none."""
    if one is None:
        return None
    splits = [(layout["envs"], layout["steps"]) for layout in data["layouts"]]
    wanted = (one["envs"], one["steps"])
    return splits.index(wanted) if wanted in splits else None


def advised_index(data: Data, kind: str) -> int | None:
    """Where the advised layout is in the list; None where nobody asked."""
    return index_of(data, (data["advice"] or {}).get(kind))


def roles(data: Data, kind: str, place: int) -> list[str]:
    """Best, advised, the default of a library: what a layout is beside its sizes."""
    found = ["best"] if place == best_index(data, kind) else []
    found += ["advised"] if place == advised_index(data, kind) else []
    defaults = libraries(data["layouts"][place])
    return found + ([f"default T of {defaults}"] if defaults else [])


def libraries(layout: Data) -> str:
    """The first libraries whose default is nearest to this T, and how many more there are."""
    names = layout["defaults_of"]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def layout_label(data: Data, kind: str, place: int) -> str:
    """A layout's name with its roles."""
    name = layout_name(data["layouts"][place])
    return ", ".join([name, *roles(data, kind, place)])


def is_known(layout: Data, kind: str) -> bool:
    """Whether a training of it was finished."""
    return bool(layout[kind]["scores"])


_TITLES = {
    "per_sample": ("Best for the same samples", "when env steps are what you pay for"),
    "per_second": ("Best for the same time", "when the clock is what you pay for"),
}


def answer_section(data: Data) -> Part:
    """Cards for both answers, the advice in a sentence, and what is missing."""
    cards = [_card(data, kind) for kind in KINDS]
    content = [
        _alarm(data),
        tag("div", *cards, class_="answers"),
        _beside(data),
        _failed(data),
    ]
    return section("answer", "The answer", None, *content, link="Answer", quiet=True)


def _card(data: Data, kind: str) -> Markup:
    title, when = _TITLES[kind]
    one = data["answer"][kind]
    head = tag("p", tag("strong", title), f", {when}", class_="kind")
    if one is None:
        why = "The seconds of an update were not measured."
        if data["answer"]["per_sample"] is None:
            why = "No training was finished."
        return tag("article", head, tag("p", why), class_="answer open")
    own = data["layouts"][best_index(data, kind)][kind]
    rows: list[tuple[Child, Child]] = [
        ("return over training", shown(own["over_training"])),
        (_end_word(data, kind), shown(own["final"])),
        ("cannot be told apart", _ties(data, kind, one)),
        *_defaults(data, kind),
    ]
    facts = [join([tag("dt", name), tag("dd", value)]) for name, value in rows]
    look = "answer open" if one["no_measurable_difference"] else "answer"
    return tag("article", head, big_layout(one), tag("dl", *facts, class_="facts"), class_=look)


def _end_word(data: Data, kind: str) -> str:
    if kind == "per_sample":
        return "return at the end"
    return f"return after {_seconds(data['budget']['seconds']['value'])}"


def _seconds(value: float) -> str:
    return f"{value:.2g} s" if value < 100 else f"{value:,.0f} s"


def _ties(data: Data, kind: str, one: Data) -> Child:
    if one["no_measurable_difference"]:
        return "all others"
    best = best_index(data, kind)
    others = [own for place, own in enumerate(data["layouts"]) if place != best]
    if all(own[kind]["tied_with_best"] is None for own in others):
        return "nobody can say"
    if not one["ties"]:
        return "none: the seeds tell it from all others"
    chips = [tag("li", layout_mark({"envs": n, "steps": t})) for n, t in one["ties"]]
    return tag("ul", *chips, class_="chips")


def _defaults(data: Data, kind: str) -> list[tuple[Child, Child]]:
    """How probable it is that the best beats the default of the first libraries."""
    rows: list[tuple[Child, Child]] = []
    seen: list[list[int]] = []
    for one in data["defaults"]:
        if one["placed_at"] in seen or len(seen) == 2:
            continue
        seen.append(one["placed_at"])
        place = index_of(data, {"envs": one["placed_at"][0], "steps": one["placed_at"][1]})
        layout = data["layouts"][place or 0]
        number = layout[kind]["best_wins"]
        said = "is that layout" if number is None else shown(number, 100, " %")
        names = tag("span", f", default of {libraries(layout)}", class_="muted")
        rows.append((f"beats T = {layout['steps']}", join([said, names])))
    return rows


def _alarm(data: Data) -> Markup | None:
    """Said loudly: that the seeds tell no layout from any other."""
    unsure = {
        kind: one
        for kind, one in data["answer"].items()
        if one is not None and one["no_measurable_difference"]
    }
    if not unsure:
        return None
    title = "No measurable difference between the layouts"
    if len(unsure) < sum(one is not None for one in data["answer"].values()):
        title = f"{title} {KINDS[next(iter(unsure))]}"
    unsettled = [tag("p", one["to_settle"]["sentence"]) for one in unsure.values()]
    return tag("div", tag("p", tag("strong", title)), *unsettled[:1], class_="notice loud")


def _beside(data: Data) -> Markup | None:
    """What the advice said beforehand, and what following it would have lost."""
    rows = [
        tag("li", tag("strong", f"{KINDS[kind].capitalize()}: "), advice_words(one))
        for kind, one in (data["advice"] or {}).items()
        if one is not None
    ]
    if not rows:
        return None
    head = tag("p", tag("strong", "The advice, given without these trainings"))
    return tag("div", head, tag("ul", *rows), class_="notice beside")


def advice_words(one: Data) -> str:
    """The advised layout and what it loses, in a sentence."""
    name = f"{one['envs']}x{one['steps']}"
    if one["is_best"]:
        return f"{name}, which is the layout that did best."
    lost = one["regret_share"]
    if lost is None or lost.get("value") is None:
        return f"{name}; what it loses cannot be told."
    share = f"{name} loses {words(lost, 100, ' %')} of what the best layout learned"
    if lost["low"] is not None and lost["low"] > 0:
        return f"{share}."
    return f"{share}, which may be none."


def _failed(data: Data) -> Markup | None:
    failed = data["cells"]["failed"]
    missing = sum(one["seeds"]["missing"] for one in data["layouts"])
    if not failed and not missing:
        return None
    said = [f"{failed} of {data['cells']['total']} trainings failed"] if failed else []
    said += [f"{missing} are missing"] if missing else []
    link = tag("a", "which ones, and why", href="#cells")
    return tag("div", tag("p", f"{' and '.join(said)}: ", link, "."), class_="notice loud")
