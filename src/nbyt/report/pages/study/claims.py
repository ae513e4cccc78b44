"""The table of claims, and each claim with its verdict, method, figures and checks."""

from collections import Counter
from collections.abc import Sequence

from nbyt.report.figures.draw_forest import MOST, Forest, forest
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import Child, Markup, bullets, join, tag
from nbyt.report.html.page import Part, grouped_table, numbers, row, section, table, wrap
from nbyt.report.html.quantity import shown_brief
from nbyt.report.numbers import has_value, short
from nbyt.results.study import Check, JudgedClaim, Study
from nbyt.results.values import Valued

# The signs differ in shape, so that no verdict is told by its colour alone.
SIGNS = {"holds": "✓", "does not hold": "✗", "holds when": "◐", "cannot be told": "?"}
_ANSWERS = ("yes", "no", "open")


def kind(word: str) -> str:
    """Return the class of a verdict for the style sheet and for the filter."""
    return word.replace(" ", "-")


def badge(word: str) -> Markup:
    """Show the verdict with its sign."""
    sign = tag("span", SIGNS[word], class_="sign", aria_hidden="true")
    return tag("span", sign, word, class_=f"badge {kind(word)}")


def counts(claim: JudgedClaim) -> Markup:
    """Show how many checks say yes, no, or are open, as a bar and in words."""
    found = {name: getattr(claim.counts, name) for name in _ANSWERS}
    pieces = [
        tag("i", class_=name, style=f"flex-grow:{count}") for name, count in found.items() if count
    ]
    bar = tag("span", *pieces, class_="tally", aria_hidden="true") if pieces else None
    said = ", ".join(f"{count} {name}" for name, count in found.items() if count)
    return join([bar, tag("span", said or "no checks", class_="tally-words")])


def measured_range(checks: Sequence[Check]) -> Markup:
    """Show the one number, or the smallest and largest if all checks measure the same."""
    quantities = {check.quantity for check in checks}
    known = [number for check in checks if has_value(number := check.number)]
    if len(quantities) > 1:
        return tag("span", f"{len(quantities)} quantities", class_="muted")
    if not known:
        return tag("span", "undetermined" if checks else "nothing", class_="muted")
    name = tag("small", next(iter(quantities)))
    return join([_span(known), tag("br"), name])


def _span(numbers: Sequence[Valued]) -> Markup:
    if len(numbers) == 1:
        return shown_brief(numbers[0])
    values = [number.value for number in numbers]
    low, high = short(min(values), 3), short(max(values), 3)
    return tag("span", low if low == high else f"{low} to {high}", class_="number")


def overview_section(data: Study, names: Sequence[str]) -> Part:
    """Build the table of claims, a filter, and the rule by which verdicts are reached."""
    claims = data.claims
    head: list[Child] = ["claim", "verdict", "checks", "measured"]
    topics = dict.fromkeys(claim.topic for claim in claims)
    named = list(zip(claims, names, strict=True))
    bodies = [_body(topic, named, len(head)) for topic in topics]
    rule = tag(
        "div",
        tag("p", tag("strong", "How a verdict is made. "), data.rule),
        tag(
            "p",
            "Numbers in brackets, bands and error bars are 95 % intervals; a number with ≈ has "
            "a rough one.",
        ),
        class_="notice",
    )
    body = grouped_table("Claims with their verdicts", head, bodies, class_="claims")
    content = [_filter(claims), body, rule]
    return section("claims", "The claims", None, *content, link="Claims")


def _filter(claims: Sequence[JudgedClaim]) -> Markup:
    """Build a button for each verdict that occurs, with its count."""
    found: Counter[str] = Counter(claim.word for claim in claims)
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


def _body(topic: str, named: Sequence[tuple[JudgedClaim, str]], columns: int) -> Markup:
    title = tag("th", topic, colspan=columns, scope="rowgroup")
    rows = [_row(claim, name) for claim, name in named if claim.topic == topic]
    return tag("tbody", tag("tr", title, class_="topic"), *rows)


def _row(claim: JudgedClaim, name: str) -> Markup:
    when = tag("span", claim.when, class_="when") if claim.when else None
    cells: list[tuple[str, Child]] = [
        ("said", tag("a", claim.claim, href=f"#{name}")),
        ("verdict", join([badge(claim.word), when])),
        ("counted", counts(claim)),
        ("range", measured_range(claim.checks)),
    ]
    inside = [tag("td", cell, class_=look) for look, cell in cells]
    return tag("tr", *inside, data_verdict=kind(claim.word))


def claim_part(claim: JudgedClaim, name: str) -> Part:
    """Build the article of a claim. name: its id on the page."""
    figures = figures_part(claim.figures or _forest(claim.checks), name)
    when = tag("span", claim.when, class_="when") if claim.when else None
    return wrap(
        "article",
        tag("h3", claim.claim, id=f"{name}-title"),
        tag("p", badge(claim.word), when, class_="verdict-line"),
        _method(claim),
        bullets(claim.notes, class_="notes"),
        figures,
        _checks(claim.checks),
        id=name,
        class_="claim",
        aria_labelledby=f"{name}-title",
    )


def _forest(checks: Sequence[Check]) -> list[Forest]:
    """Draw the checks of a claim that has no figures."""
    known = [check for check in checks if has_value(check.number)]
    return [forest(checks)] if known and len(checks) <= MOST else []


def _method(claim: JudgedClaim) -> Markup:
    rows = [("Measured", claim.measured), ("Asked", claim.asks)]
    inside = [tag("div", tag("dt", word), tag("dd", said)) for word, said in rows if said]
    return tag("dl", *inside, class_="method")


def _checks(checks: Sequence[Check]) -> Markup | None:
    """Build a folded table of every check; a quantity that all share is named once above it."""
    if not checks:
        return None
    keys = list(dict.fromkeys(key for check in checks for key in check.case))
    same = len({check.quantity for check in checks}) == 1
    head: list[Child] = [*keys, *([] if same else ["quantity"]), "measured", "asked", "says"]
    rows = [_check(check, keys, same) for check in checks]
    said = tag("p", checks[0].quantity, class_="muted") if same else None
    count = "The check" if len(checks) == 1 else f"All {len(checks)} checks"
    body = table("Checks", head, rows)
    return numbers(count, tag("div", said, body, class_="checks"))


def _check(check: Check, keys: Sequence[str], same: bool) -> Markup:
    cells: list[Child] = [
        *(check.case.get(key, "") for key in keys),
        *([] if same else [check.quantity]),
        shown_brief(check.number),
        check.asks,
        tag("span", check.says, class_=f"says {check.says}"),
    ]
    return row(*cells)
