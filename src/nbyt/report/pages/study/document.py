"""The page of a study: the table of claims, a section for each topic, how to reproduce it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import to_builtins

from nbyt.report.figures.draw_forest import MOST, Forest, forest
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import Child, Markup, bullets, join, tag
from nbyt.report.html.page import (
    Page,
    Part,
    command,
    grouped_table,
    numbers,
    row,
    section,
    table,
    titled_facts,
    wrap,
)
from nbyt.report.html.quantity import shown_brief
from nbyt.report.numbers import has_value, short
from nbyt.results.study import Check, ClaimPart, JudgedClaim, Study
from nbyt.results.values import Machine
from nbyt.store.text import slug

# The signs differ in shape, so that no verdict is told by its colour alone.
SIGNS = {
    "holds": "✓",
    "depends": "◑",
    "holds when": "◐",
    "does not hold": "✗",
    "cannot be told": "?",
    "identity": "≡",
}
_ANSWERS = ("yes", "no", "open")


def kind(word: str) -> str:
    """Return the class of a verdict for the style sheet and for the filter."""
    return word.replace(" ", "-")


def badge(word: str) -> Markup:
    """Show the verdict with its sign."""
    sign = tag("span", SIGNS[word], class_="sign", aria_hidden="true")
    return tag("span", sign, word, class_=f"badge {kind(word)}")


def parts_of(claim: JudgedClaim) -> Sequence[ClaimPart]:
    """Return what is judged apart; a claim that says nothing of parts is one."""
    if claim.parts:
        return claim.parts
    known = [check.number.value for check in claim.checks if has_value(check.number)]
    same = len({check.quantity for check in claim.checks}) == 1
    ends = (min(known), median(known), max(known)) if known and same else None
    return [
        ClaimPart(
            case={},
            word=claim.word,
            when=claim.when,
            counts=claim.counts,
            range=ends,
        )
    ]


def _effects(claim: JudgedClaim) -> Markup:
    """Show each part: what it is, its numbers, and then the word."""
    lines = [
        tag(
            "div",
            tag("span", _named(claim, part), class_="of") if part.case else None,
            tag("span", _span(part), class_="number") if part.range else None,
            badge(part.word),
            tag("span", part.when, class_="when") if part.when else None,
            class_="part",
        )
        for part in parts_of(claim)
    ]
    quantities = {check.quantity for check in claim.checks}
    name = tag("small", next(iter(quantities))) if len(quantities) == 1 else None
    return join([*lines, name])


def _named(claim: JudgedClaim, part: ClaimPart) -> str:
    """Name the part by its properties, in the order of the claim; a file may have sorted them."""
    keys = [key for key in claim.apart or part.case if key in part.case]
    return ", ".join(part.case[key] for key in keys)


def _span(part: ClaimPart) -> str:
    if part.range is None:
        return ""
    low, middle, high = (short(value, 2) for value in part.range)
    return low if low == high else f"{middle} ({low} to {high})"


def findings_section(data: Study, names: Mapping[str, str]) -> Part:
    """Build what was found, in plain words, each with a picture. names: ids of the claims."""
    articles = []
    for number, one in enumerate(data.findings or ()):
        links = [tag("a", word, href=f"#{names[word]}") for word in one.claims if word in names]
        articles.append(
            wrap(
                "article",
                tag("h3", one.title),
                tag("p", one.text),
                figures_part([one.figure], f"finding-{number}"),
                tag("p", "Rests on: ", join(_listed(links)), class_="rests"),
                class_="finding",
            )
        )
    count = len(articles)
    several = f"{_COUNTS.get(count, str(count))} things you may not expect"
    title = several if count > 1 else "What was found"
    return section("findings", title, None, *articles, link="Findings")


_COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven"}


def _listed(links: Sequence[Markup]) -> list[Child]:
    parts: list[Child] = [part for link in links for part in (", ", link)]
    return parts[1:]


def overview_section(data: Study, names: Sequence[str]) -> Part:
    """Build the table of claims, a filter, and the rule by which verdicts are reached."""
    claims = data.claims
    head: list[Child] = ["statement", "measured: median (least to largest), and verdict"]
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
    cells: list[tuple[str, Child]] = [
        (
            "said",
            join(
                [
                    tag("a", claim.claim, href=f"#{name}"),
                    tag("small", claim.kind) if claim.kind else None,
                ]
            ),
        ),
        ("verdict", _effects(claim)),
    ]
    inside = [tag("td", cell, class_=look) for look, cell in cells]
    return tag("tr", *inside, data_verdict=kind(claim.word))


def claim_part(claim: JudgedClaim, name: str) -> Part:
    """Build the article of a claim, numbers first. name: its id on the page."""
    folded = wrap(
        "details",
        tag("summary", "Method, pictures, checks"),
        _method(claim),
        figures_part(_forest(claim.checks), f"{name}-checks"),
        figures_part(claim.figures, name),
        bullets(claim.notes, class_="notes"),
        _checks(claim.checks),
    )
    return wrap(
        "article",
        tag("h3", claim.claim, id=f"{name}-title"),
        tag("div", _effects(claim), class_="parts"),
        folded,
        id=name,
        class_="claim",
        aria_labelledby=f"{name}-title",
    )


def _forest(checks: Sequence[Check]) -> list[Forest]:
    """Draw the checks of a claim, if they are few enough to be read."""
    known = [check for check in checks if has_value(check.number)]
    return [forest(checks)] if known and len(checks) <= MOST else []


_KINDS = {
    "identity": "An identity: true by mathematics, checked, and given no verdict.",
    "measurement": "A statement that a measurement can contradict.",
    "recommendation": "A recommendation: judged by whether what it promises comes.",
}


def _method(claim: JudgedClaim) -> Markup:
    rows = [
        ("Kind", _KINDS[claim.kind] if claim.kind else ""),
        ("Measured", claim.measured),
        ("Confirms it", claim.asks),
        ("Contradicts it", claim.contradicts or ""),
    ]
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
    found = Counter[str](check.says for check in checks)
    said_so = ", ".join(f"{found[name]} {name}" for name in _ANSWERS if found[name])
    count = f"{'The check' if len(checks) == 1 else f'All {len(checks)} checks'}: {said_so}"
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


def study_page(data: Study) -> Page:
    """Build the page of a study."""
    names = _names([claim.id for claim in data.claims], "claim")
    named = list(zip(data.claims, names, strict=True))
    by_id = {claim.id: name for claim, name in named}
    topics = list(dict.fromkeys(claim.topic for claim in data.claims))
    ids = _names(topics, "topic")
    about: list[Child] = [
        tag("span", data.lead, class_="about"),
        f"{len(data.claims)} statements, effort {data.effort}, seed {data.seed}",
    ]
    return Page(
        kind="study",
        title=data.title,
        brand=f"nbyt reproduce {data.study}",
        heading=data.title,
        about=about,
        skip="Skip to the claims",
        sections=[
            *([findings_section(data, by_id)] if data.findings else []),
            overview_section(data, names),
            *(_topic(topic, name, named) for topic, name in zip(topics, ids, strict=True)),
            _made(data),
        ],
    )


def _names(texts: Sequence[str], prefix: str) -> list[str]:
    """Return an id for each text; a repeated text gets a number."""
    found: list[str] = []
    for text in texts:
        name = f"{prefix}-{slug(text)}"
        found.append(name if name not in found else f"{name}-{len(found)}")
    return found


def _topic(topic: str, name: str, named: Sequence[tuple[JudgedClaim, str]]) -> Part:
    parts = [claim_part(claim, its_id) for claim, its_id in named if claim.topic == topic]
    return section(name, topic, None, *parts, link=topic)


def _made(data: Study) -> Part:
    machine = to_builtins(data.machine) if isinstance(data.machine, Machine) else {}
    rows = {"effort": data.effort, "seed": data.seed, **machine}
    content = [
        command(data.reproduce),
        titled_facts("Machine", [(name, str(value)) for name, value in rows.items()]),
        titled_facts("Versions", [(name, str(v)) for name, v in (data.versions or {}).items()]),
    ]
    lead = "The same command, versions and seed give the same numbers; only seconds differ."
    return section("made", "How it was made", lead, *content, link="How it was made")
