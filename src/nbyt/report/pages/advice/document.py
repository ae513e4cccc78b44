"""The whole page of an advice: its sections in order."""

from nbyt.report.html.element import Child, Markup, join, raw, tag
from nbyt.report.html.page import Page, row, wrap
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import share
from nbyt.report.pages.advice.answer import answer_section
from nbyt.report.pages.advice.assumptions import assumption_sections
from nbyt.report.pages.advice.diagnostics import closer_sections
from nbyt.report.pages.advice.ranking import cost_section, ranking_section
from nbyt.report.pages.advice.tradeoff import deciding_words, stage_bar, tradeoff_section
from nbyt.report.pages.advice.variance import variance_section
from nbyt.results.advice import Advice, Answer, RankedLayout
from nbyt.results.values import Kind

_KINDS: dict[Kind, str] = {"per_sample": "Per sample", "per_second": "Per second"}
_STYLE = """
.nbyt-card{font:14px/1.5 system-ui,sans-serif;max-width:60rem}
.nbyt-card h4{margin:.8em 0 .2em;font-size:1em}
.nbyt-card p{margin:.2em 0}
.nbyt-card table{border-collapse:collapse;font-size:inherit;margin:.4em 0}
.nbyt-card table{font-variant-numeric:tabular-nums}
.nbyt-card th,.nbyt-card td{padding:.2em .8em .2em 0;text-align:left;background:none}
.nbyt-card .number,.nbyt-card .layout{white-space:nowrap}
.nbyt-card .interval{opacity:.75}
.nbyt-card .loud{border-left:4px solid #d55e00;padding-left:.7em;font-weight:600}
"""
_HEAD = ("", "N × T", "relative alignment", "regret", "win share", "standing")


def card(data: Advice) -> str:
    """Return the answers, how sure they are, and the ranking, as a piece of HTML."""
    title = tag("p", tag("strong", f"{data.env}, batch {data.batch:,}"))
    blocks = [
        _block(_KINDS[kind], one, unfolded=kind == "per_sample")
        for kind in _KINDS
        if (one := data.advice.of(kind)) is not None
    ]
    return tag("div", tag("style", raw(_STYLE)), title, *blocks, class_="nbyt-card")


def _block(word: str, one: Answer, *, unfolded: bool) -> Markup:
    loud = "loud" if one.no_measurable_difference else None
    unsettled = one.to_settle
    lines: list[Child] = [
        tag("h4", word),
        tag("p", one.sentence, class_=loud),
        tag("p", unsettled.sentence) if unsettled else None,
        tag("p", "Alignment ", shown(one.alignment)),
    ]
    head = tag("tr", *(tag("th", text) for text in _HEAD))
    rows = [_row(place, layout) for place, layout in enumerate(one.ranking)]
    folded = tag("details", tag("summary", "Ranking"), tag("table", head, *rows), open=unfolded)
    return join([*lines, folded])


def _row(place: int, layout: RankedLayout) -> Markup:
    word = "advised" if place == 0 else "tie" if layout.tied_with_best else "behind"
    harm = f", harmful at {', '.join(layout.harmful_at)}" if layout.harmful_at else ""
    cells: list[Child] = [
        str(place + 1),
        layout_mark(layout),
        shown(layout.relative, mark=False),
        shown(layout.regret, 100, " %", mark=False),
        share(layout.win_share),
        word + harm,
    ]
    return row(*cells)


def advice_page(data: Advice) -> Page:
    """Build the page of an advice."""
    about = (
        f"A batch of {data.batch:,} samples, decided by {deciding_words(data)}, "
        f"effort {data.effort}, seed {data.seed}"
    )
    staged = [stage_bar(data), tradeoff_section(data), variance_section(data)]
    return Page(
        kind="advice",
        title=f"N by T: {data.env}, batch {data.batch}",
        brand="nbyt advise",
        heading=join(["How to split the batch on ", tag("span", data.env, class_="env")]),
        about=[about],
        skip="Skip to the answer",
        sections=[
            answer_section(data),
            ranking_section(data),
            wrap("div", *staged, class_="by-stage"),
            closer_sections(data),
            cost_section(data),
            assumption_sections(data),
        ],
        lazy=False,
    )
