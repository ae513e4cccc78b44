"""The whole page of an advice: its sections in order."""

from nbyt.report.advice_words import SAME, marks, others_words, rests_words, track_words
from nbyt.report.html.element import Child, Markup, bullets, join, raw, tag
from nbyt.report.html.page import Page, Part, merged, row, section, wrap
from nbyt.report.html.quantity import layout_mark
from nbyt.report.numbers import percent
from nbyt.report.pages.advice.answer import HEADS, answer_section
from nbyt.report.pages.advice.costs import cost_section
from nbyt.report.pages.advice.curves import curves_section
from nbyt.report.pages.advice.diagnostics import closer_sections
from nbyt.report.pages.advice.losses import by_steps, loss_section
from nbyt.report.pages.advice.sceptic import sceptic_sections
from nbyt.report.pages.advice.settings import settings_section
from nbyt.report.pages.advice.tradeoff import stage_bar, tradeoff_section
from nbyt.report.pages.advice.variance import variance_section
from nbyt.results.advice import GOALS, Advice, LayoutLoss


def why_sections(data: Advice) -> Part:
    """Show the reasons of both answers; with probed stages, what their gradients look like."""
    lead = None
    if data.stages:
        raced = data.answer.rests_on == "race"
        lead = (
            f"{'The race decides; the pictures' if raced else 'The pictures'} below explain what "
            "T does here. They were measured on policies that were frozen during a training."
        )
    said = section("why", "Why", lead, _reasons(data), _unseen(data), link="Why")
    if not data.stages:
        return said
    staged = [stage_bar(data), tradeoff_section(data), variance_section(data)]
    return merged([said, wrap("div", *staged, class_="by-stage"), closer_sections(data)])


def _reasons(data: Advice) -> Markup:
    """Show the reasons of either answer alone, then the shared ones, once."""
    found = {goal: one.reasons for goal in GOALS if (one := data.advice.of(goal)) is not None}
    first, *others = found.values()
    shared = [one for one in first if others and all(one in other for other in others)]
    blocks: list[Child] = []
    for goal, sentences in found.items():
        own = bullets([one for one in sentences if one not in shared])
        if own is not None:
            blocks += [tag("h3", HEADS[goal][0]), own]
    if shared:
        blocks += [tag("h3", "Both"), bullets(shared)]
    return join(blocks) if blocks else tag("p", "No reasons were found.", class_="muted")


def _unseen(data: Advice) -> Markup | None:
    if data.stages:
        return None
    said = "No policy was probed, so there is no picture of bias and noise behind these losses."
    return tag("p", said, class_="missing")


_STYLE = """
.nbyt-card{font:14px/1.5 system-ui,sans-serif;max-width:60rem}
.nbyt-card p{margin:.2em 0}
.nbyt-card table{border-collapse:collapse;font-size:inherit;margin:.4em 0}
.nbyt-card table{font-variant-numeric:tabular-nums}
.nbyt-card th,.nbyt-card td{padding:.2em .8em .2em 0;text-align:left;background:none}
.nbyt-card .number,.nbyt-card .layout{white-space:nowrap}
.nbyt-card .muted{opacity:.75}
.nbyt-card .loud{border-left:4px solid #d55e00;padding-left:.7em}
"""
_HEAD = ("N × T", "expected loss", "trainings", "an update", "")
_SECTIONS = (
    answer_section,
    curves_section,
    loss_section,
    why_sections,
    cost_section,
    settings_section,
    sceptic_sections,
)


def card(record: Advice) -> str:
    """Return the answers and the layouts as a piece of HTML, for notebooks."""
    other = next(goal for goal in GOALS if goal != record.objective)
    beside = record.advice.of(other)
    unsure = record.race is not None and not record.race.learnt
    said = [
        others_words(record),
        beside.sentence if beside else None,
        record.current.sentence if record.current else None,
    ]
    grounds = [rests_words(record), track_words(record)]
    head = tag("tr", *(tag("th", text) for text in _HEAD))
    rows = [_row(record, one) for one in by_steps(record)]
    title = f"{record.env}, batch {record.batch:,}, {SAME[record.objective]}"
    verdict = tag("strong", record.answer.sentence)
    return tag(
        "div",
        tag("style", raw(_STYLE)),
        tag("p", title, class_="muted"),
        tag("p", verdict, class_="loud" if unsure else None),
        *(tag("p", line) for line in said if line),
        tag("details", tag("summary", "All layouts"), tag("table", head, *rows)),
        *(tag("p", line, class_="muted") for line in grounds if line),
        class_="nbyt-card",
    )


def _row(record: Advice, one: LayoutLoss) -> Markup:
    cells: list[Child] = [
        layout_mark(one),
        percent(one.loss),
        str(one.trainings or "\u2013"),
        "\u2013" if one.update_cost is None else f"{one.update_cost:.2g} ×",
        ", ".join(marks(record, one)),
    ]
    return row(*cells)


def advice_page(record: Advice) -> Page:
    """Build the page of an advice."""
    about = (
        f"A batch of {record.batch:,} samples, {record.total:,} steps of training, compared "
        f"{SAME[record.objective]}"
    )
    return Page(
        kind="advice",
        title=f"N by T: {record.env}, batch {record.batch}",
        brand="nbyt advise",
        heading=join(["How to split the batch on ", tag("span", record.env, class_="env")]),
        about=[about],
        skip="Skip to the answer",
        sections=[build(record) for build in _SECTIONS],
        lazy=False,
    )
