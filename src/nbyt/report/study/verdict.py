"""Verdicts as they look: a word with a sign, and how the checks came out."""

from nbyt.report.page.element import Markup, join, tag
from nbyt.report.page.quantity import Number
from nbyt.report.study.number import has_value, short, shown
from nbyt.results.values import Data

# The signs differ in shape, so that no verdict is told by its colour alone.
SIGNS = {"holds": "✓", "does not hold": "✗", "holds when": "◐", "cannot be told": "?"}
_ANSWERS = ("yes", "no", "open")


def kind(word: str) -> str:
    """A verdict's word for the style sheet and for the filter."""
    return word.replace(" ", "-") if word in SIGNS else "other"


def badge(word: str) -> Markup:
    """The verdict's word with its sign."""
    sign = tag("span", SIGNS.get(word, "·"), class_="sign", aria_hidden="true")
    return tag("span", sign, word, class_=f"badge {kind(word)}")


def answer(says: str) -> Markup:
    """What one check says."""
    return tag("span", says, class_=f"says {says if says in _ANSWERS else 'other'}")


def counts(claim: Data) -> Markup:
    """How many checks say yes, no, or are open, as a bar and in words."""
    found = {name: claim["counts"][name] for name in _ANSWERS}
    pieces = [
        tag("i", class_=name, style=f"flex-grow:{count}") for name, count in found.items() if count
    ]
    bar = tag("span", *pieces, class_="tally", aria_hidden="true") if pieces else None
    said = ", ".join(f"{count} {name}" for name, count in found.items() if count)
    return join([bar, tag("span", said or "no checks", class_="tally-words")])


def measured_range(checks: list[Data]) -> Markup:
    """The one number, or from the smallest to the largest where all checks measure the same."""
    quantities = {check["quantity"] for check in checks}
    known = [check["number"] for check in checks if has_value(check["number"])]
    if len(quantities) > 1:
        return tag("span", f"{len(quantities)} quantities", class_="muted")
    if not known:
        return tag("span", "undetermined" if checks else "nothing", class_="muted")
    name = tag("small", next(iter(quantities)))
    return join([_span(known), tag("br"), name])


def _span(numbers: list[Number]) -> Markup:
    if len(numbers) == 1:
        return shown(numbers[0])
    values = [number["value"] for number in numbers]
    low, high = short(min(values), 3), short(max(values), 3)
    return tag("span", low if low == high else f"{low} to {high}", class_="number")
