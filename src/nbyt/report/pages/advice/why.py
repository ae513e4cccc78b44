"""Why: the reasons in words, and pictures of the policies that were probed."""

from nbyt.report.html.element import Child, Markup, bullets, join, tag
from nbyt.report.html.page import Part, merged, section, wrap
from nbyt.report.pages.advice.answer import HEADS
from nbyt.report.pages.advice.diagnostics import closer_sections
from nbyt.report.pages.advice.tradeoff import stage_bar, tradeoff_section
from nbyt.report.pages.advice.variance import variance_section
from nbyt.results.advice import GOALS, Advice


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
