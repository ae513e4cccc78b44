"""One claim: its verdict, how it was measured, its figures, and every check."""

from collections.abc import Sequence

from nbyt.report.page.element import Child, Markup, bullets, tag
from nbyt.report.page.part import Part, numbers, table
from nbyt.report.study.charts.forest import MOST
from nbyt.report.study.figure import figures_part
from nbyt.report.study.figures import forest
from nbyt.report.study.number import has_value, shown
from nbyt.report.study.verdict import answer, badge
from nbyt.results.values import Data


def claim_part(claim: Data, name: str) -> Part:
    """The claim as an article. name: its id on the page."""
    figures = figures_part(claim["figures"] or _forest(claim["checks"]), name)
    when = tag("span", claim["when"], class_="when") if claim["when"] else None
    article = tag(
        "article",
        tag("h3", claim["claim"], id=f"{name}-title"),
        tag("p", badge(claim["word"]), when, class_="verdict-line"),
        _method(claim),
        bullets(claim["notes"], class_="notes"),
        figures.html,
        _checks(claim["checks"]),
        id=name,
        class_="claim",
        aria_labelledby=f"{name}-title",
    )
    return figures.inside(article)


def _forest(checks: Sequence[Data]) -> list[Data]:
    """The checks as a picture, for a claim that has none of its own."""
    known = [check for check in checks if has_value(check["number"])]
    return [forest(checks)] if known and len(checks) <= MOST else []


def _method(claim: Data) -> Markup:
    rows = [("Measured", claim["measured"]), ("Asked", claim["asks"])]
    inside = [tag("div", tag("dt", word), tag("dd", said)) for word, said in rows if said]
    return tag("dl", *inside, class_="method")


def _checks(checks: Sequence[Data]) -> Markup | None:
    """Every check in a table that is folded away; what all share is said once above it."""
    if not checks:
        return None
    keys = list(dict.fromkeys(key for check in checks for key in check["case"]))
    same = len({check["quantity"] for check in checks}) == 1
    head: list[Child] = [*keys, *([] if same else ["quantity"]), "measured", "asked", "says"]
    rows = [_check(check, keys, same) for check in checks]
    said = tag("p", checks[0]["quantity"], class_="muted") if same else None
    count = "The check" if len(checks) == 1 else f"All {len(checks)} checks"
    body = table("Checks", head, rows)
    return numbers(count, tag("div", said, body, class_="checks"))


def _check(check: Data, keys: Sequence[str], same: bool) -> Markup:
    cells: list[Child] = [
        *(str(check["case"].get(key, "")) for key in keys),
        *([] if same else [check["quantity"]]),
        shown(check["number"]),
        check["asks"],
        answer(check["says"]),
    ]
    return tag("tr", *(tag("td", cell) for cell in cells))
