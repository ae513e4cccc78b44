"""All claims in one table: what each says, its verdict, and what was measured."""

from collections import Counter
from collections.abc import Sequence

from nbyt.report.page.element import Child, Markup, join, tag
from nbyt.report.page.part import grouped_table, section
from nbyt.report.study.verdict import SIGNS, badge, counts, kind, measured_range
from nbyt.results.values import Data


def overview_section(data: Data, names: Sequence[str]) -> Markup:
    """The table of claims, a filter, and the rule by which verdicts are made."""
    claims = data["claims"]
    head: list[Child] = ["claim", "verdict", "checks", "measured"]
    topics = dict.fromkeys(claim["topic"] for claim in claims)
    named = list(zip(claims, names, strict=True))
    bodies = [_body(topic, named, len(head)) for topic in topics]
    rule = tag(
        "div",
        tag("p", tag("strong", "How a verdict is made. "), data["rule"]),
        tag(
            "p",
            "Numbers in brackets, bands and error bars are 95 % intervals; a number with ≈ has "
            "a rough one.",
        ),
        class_="notice",
    )
    body = grouped_table("Claims with their verdicts", head, bodies, class_="claims")
    return section("claims", "The claims", None, _filter(claims), body, rule)


def _filter(claims: Sequence[Data]) -> Markup:
    """A button for each verdict that occurs, with how often it does."""
    found = Counter(claim["word"] for claim in claims)
    present = [word for word in SIGNS if found[word]]
    pairs = [("", f"All {len(claims)}", ""), *((w, f"{w} {found[w]}", SIGNS[w]) for w in present)]
    buttons = [
        tag(
            "button",
            tag("span", sign, class_=f"sign {kind(word)}", aria_hidden="true") if sign else None,
            said,
            type="button",
            data_filter=kind(word) if word else "",
            aria_pressed="false" if word else "true",
        )
        for word, said, sign in pairs
    ]
    return tag("div", *buttons, class_="tabs", role="group", aria_label="Claims shown")


def _body(topic: str, named: Sequence[tuple[Data, str]], columns: int) -> Markup:
    """A topic and the claims about it."""
    title = tag("th", topic, colspan=columns, scope="rowgroup")
    rows = [_row(claim, name) for claim, name in named if claim["topic"] == topic]
    return tag("tbody", tag("tr", title, class_="topic"), *rows)


def _row(claim: Data, name: str) -> Markup:
    when = tag("span", claim["when"], class_="when") if claim["when"] else None
    cells: list[tuple[str, Child]] = [
        ("said", tag("a", claim["claim"], href=f"#{name}")),
        ("verdict", join([badge(claim["word"]), when])),
        ("counted", counts(claim)),
        ("range", measured_range(claim["checks"])),
    ]
    inside = [tag("td", cell, class_=look) for look, cell in cells]
    return tag("tr", *inside, data_verdict=kind(claim["word"]))
