"""The answer: the best layout, what ties with it, and what failed; and what all sections ask."""

from collections.abc import Sequence

from nbyt.report.html.element import Child, Markup, join, tag
from nbyt.report.html.page import Part, section
from nbyt.report.html.quantity import big_layout, shown, split_mark
from nbyt.report.numbers import HasLayout, words
from nbyt.results.sweep import AdviceComparison, Sweep, SweptLayout, Verdict
from nbyt.results.values import Kind

KINDS: dict[Kind, str] = {
    "per_sample": "for the same samples",
    "per_second": "for the same time",
}
_COLOURS = 12
_OPEN = "answer open"
_NAMED = 2


def kinds_of(sweep: Sweep) -> list[Kind]:
    """Return per_sample, and per_second where that was timed."""
    return [kind for kind in KINDS if sweep.answer.of(kind) is not None]


def colours(layouts: Sequence[SweptLayout]) -> list[str]:
    """Return a colour of the style sheet for each layout, from the shortest T to the longest."""
    order = sorted(range(len(layouts)), key=lambda place: layouts[place].steps)
    last = max(len(layouts) - 1, 1)
    shades = [""] * len(layouts)
    for rank, place in enumerate(order):
        shades[place] = f"t{round(rank * (_COLOURS - 1) / last)}"
    return shades


def best_index(sweep: Sweep, kind: Kind) -> int:
    """Return the index of the best layout."""
    return index_of(sweep, sweep.answer.of(kind)) or 0


def leader(sweep: Sweep, kind: Kind) -> str:
    """Return the word for that layout: the best, or the highest where nothing is decided."""
    verdict = sweep.answer.of(kind)
    return "highest" if verdict is not None and verdict.is_open else "best"


def index_of(sweep: Sweep, layout: HasLayout | None) -> int | None:
    """Return the index of the layout with these envs and steps, if there is one."""
    wanted = layout and (layout.envs, layout.steps)
    splits = [(one.envs, one.steps) for one in sweep.layouts]
    return splits.index(wanted) if wanted in splits else None


def advised_index(sweep: Sweep, kind: Kind) -> int | None:
    """Return the index of the advised layout; None without advice."""
    return index_of(sweep, comparisons(sweep).get(kind))


def comparisons(sweep: Sweep) -> dict[Kind, AdviceComparison]:
    """Return the comparisons with the advice that could be made."""
    made = {kind: sweep.advice and sweep.advice.of(kind) for kind in KINDS}
    return {kind: compared for kind, compared in made.items() if compared}


def finished_indices(sweep: Sweep) -> list[int]:
    """Return the indices of the layouts of which a training was finished."""
    return [place for place, layout in enumerate(sweep.layouts) if layout.per_sample.scores]


def roles(sweep: Sweep, kind: Kind, place: int) -> list[str]:
    """Say whether a layout is the best or highest, advised, or a library's default."""
    names = [leader(sweep, kind)] if place == best_index(sweep, kind) else []
    names += ["advised"] if place == advised_index(sweep, kind) else []
    defaults = libraries(sweep.layouts[place])
    return names + ([f"default T of {defaults}"] if defaults else [])


def libraries(layout: SweptLayout) -> str:
    """Name the first libraries whose default is nearest to this T, and count the others."""
    names = layout.defaults_of
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def layout_label(sweep: Sweep, kind: Kind, place: int) -> str:
    """Return a layout's name with its roles."""
    return ", ".join([sweep.layouts[place].name, *roles(sweep, kind, place)])


_TITLES: dict[Kind, tuple[str, str]] = {
    "per_sample": ("Best for the same samples", "when env steps are what you pay for"),
    "per_second": ("Best for the same time", "when the clock is what you pay for"),
}


def answer_section(sweep: Sweep) -> Part:
    """Show cards for both answers, the advice in a sentence, and what is missing."""
    cards = [_card(sweep, kind) for kind in KINDS]
    content = [
        _all_tie(sweep),
        tag("div", *cards, class_="answers"),
        _advice(sweep),
        _failed(sweep),
    ]
    return section("answer", "The answer", None, *content, link="Answer", quiet=True)


def _card(sweep: Sweep, kind: Kind) -> Markup:
    title, when = _TITLES[kind]
    best = sweep.answer.of(kind)
    head = tag("p", tag("strong", title), f", {when}", class_="kind")
    if best is None:
        why = "The seconds of an update were not measured."
        if sweep.answer.per_sample is None:
            why = "No training was finished."
        return tag("article", head, tag("p", why), class_=_OPEN)
    if best.to_settle is not None:
        said = tag("p", best.to_settle.sentence, class_="said")
        return tag("article", head, tag("p", "no winner yet", class_="big"), said, class_=_OPEN)
    standing = sweep.layouts[best_index(sweep, kind)].standing(kind)
    rows: list[tuple[Child, Child]] = [
        ("return over training", shown(standing.over_training)),
        (_end_word(sweep, kind), shown(standing.final)),
        ("tied with it", _ties(best)),
        *_defaults(sweep, kind),
    ]
    facts = [join([tag("dt", name), tag("dd", value)]) for name, value in rows]
    inside = tag("dl", *facts, class_="facts")
    return tag("article", head, big_layout(best), inside, class_="answer")


def _end_word(sweep: Sweep, kind: Kind) -> str:
    seconds = None if sweep.budget is None else sweep.budget.seconds.value
    if kind == "per_sample" or seconds is None:
        return "return at the end"
    return f"return after {seconds:.2g} s" if seconds < 100 else f"return after {seconds:,.0f} s"


def _ties(best: Verdict) -> Child:
    if not best.ties:
        return "none: the seeds separate it from all others"
    chips = [tag("li", split_mark(n, t)) for n, t in best.ties]
    return tag("ul", *chips, class_="chips")


def _defaults(sweep: Sweep, kind: Kind) -> list[tuple[Child, Child]]:
    """Show the probability that the best beats the defaults of the first libraries."""
    rows: list[tuple[Child, Child]] = []
    layouts = {(layout.envs, layout.steps): layout for layout in sweep.layouts}
    for split in list(dict.fromkeys(library.placed_at for library in sweep.defaults))[:2]:
        layout = layouts[split]
        wins = layout.standing(kind).best_wins
        result = "is that layout" if wins is None else shown(wins, 100, " %")
        names = tag("span", f", default of {libraries(layout)}", class_="muted")
        rows.append((f"beats T = {layout.steps}", join([result, names])))
    return rows


def _all_tie(sweep: Sweep) -> Markup | None:
    """Say loudly if the seeds separate no layout from any other."""
    verdicts = {kind: best for kind in KINDS if (best := sweep.answer.of(kind))}
    alike = [kind for kind, best in verdicts.items() if best.no_measurable_difference]
    if not alike:
        return None
    title = "No measurable difference between the layouts"
    if len(alike) < len(verdicts):
        title = f"{title} {KINDS[alike[0]]}"
    return tag("div", tag("p", tag("strong", title)), class_="notice loud")


def _advice(sweep: Sweep) -> Markup | None:
    """Show what the advice said beforehand, and what following it would have lost."""
    rows = [
        tag("li", tag("strong", f"{KINDS[kind].capitalize()}: "), advice_words(compared))
        for kind, compared in comparisons(sweep).items()
    ]
    if not rows:
        return None
    head = tag("p", tag("strong", "What would have been advised"))
    return tag("div", head, tag("ul", *rows), class_="notice beside")


def advice_words(advised: AdviceComparison) -> str:
    """Say in a sentence which layout was advised and what it loses."""
    name = f"{advised.envs}x{advised.steps}"
    if advised.is_best:
        return f"{name}, which is the layout that did best."
    lost = advised.regret_share
    if lost is None or lost.value is None:
        return f"{name}; what it loses is undetermined."
    share = f"{name} loses {words(lost, 100, ' %')} of what the best layout learned"
    if lost.low is not None and lost.low > 0:
        return f"{share}."
    return f"{share}, which may be none."


def _failed(sweep: Sweep) -> Markup | None:
    failed = sweep.cells.failed
    missing = sum(layout.seeds.missing for layout in sweep.layouts)
    if not failed and not missing:
        return None
    counts = [f"{failed} of {sweep.cells.total} trainings failed"] if failed else []
    counts += [f"{missing} are missing"] if missing else []
    link = tag("a", "which ones, and why", href="#cells")
    return tag("div", tag("p", f"{' and '.join(counts)}: ", link, "."), class_="notice loud")
