"""Verdicts: what the numbers say of a claim, by one rule for all claims.

A claim foretells where certain numbers lie. Each such number is a check: its whole 95 % interval
lies there (yes), all of it lies elsewhere (no), or neither (open). The verdict counts the checks.
Nothing here knows what a claim is about, so no verdict can be wished for.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

Case = dict[str, str]
Number = dict[str, Any]  # {"value", "low", "high"} and perhaps "reason", "approximate"

# Intervals of 95 % miss: one decided check in twenty may say the wrong thing of a true claim.
_NEARLY_ALL = 0.95
_ENOUGH = 0.5

RULE = (
    "A check asks whether a number lies where the claim says. It says yes where the whole 95 % "
    "interval lies there, no where all of it lies elsewhere, and is open otherwise. A claim holds "
    "if at least 95 % of the checks that say yes or no say yes, does not hold if at least 95 % say "
    "no, and holds in some cases in between; where half of the checks or more are open, it cannot "
    "be told."
)


@dataclass(frozen=True)
class Check:
    """One number that the claim says something about: that it lies between `low` and `high`.

    case: where it was measured, such as {"env": "CartPole-v1", "gradient": "actor"}.
    quantity: what the number is, in words, with its unit.
    """

    case: Case
    quantity: str
    number: Number
    low: float = -inf
    high: float = inf

    @property
    def says(self) -> str:
        """yes, no or open."""
        low, high = self.number.get("low"), self.number.get("high")
        if self.number.get("value") is None or low is None or high is None:
            return "open"
        if self.low <= low and high <= self.high:
            return "yes"
        return "no" if high < self.low or low > self.high else "open"

    @property
    def asks(self) -> str:
        """Where the claim says that the number lies."""
        if self.low == -inf:
            return f"at most {self.high:g}"
        if self.high == inf:
            return f"at least {self.low:g}"
        return f"between {self.low:g} and {self.high:g}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "case": self.case,
            "quantity": self.quantity,
            "number": self.number,
            "asks": self.asks,
            "between": [None if abs(end) == inf else end for end in (self.low, self.high)],
            "says": self.says,
        }


@dataclass(frozen=True)
class Verdict:
    """holds, does not hold, holds when, or cannot be told; `when` says in which cases."""

    word: str
    when: str
    yes: int
    no: int
    open: int

    def __str__(self) -> str:
        return f"{self.word} {self.when}" if self.when else self.word


def judge(checks: Sequence[Check]) -> Verdict:
    """The verdict on a claim with these checks."""
    said = [check.says for check in checks]
    yes, no = said.count("yes"), said.count("no")
    word, when = "holds when", ""
    if not checks or yes + no <= _ENOUGH * len(checks):
        word = "cannot be told"
    elif yes >= _NEARLY_ALL * (yes + no):
        word = "holds"
    elif no >= _NEARLY_ALL * (yes + no):
        word = "does not hold"
    else:
        when = _condition(checks)
    return Verdict(word, when, yes, no, said.count("open"))


def _condition(checks: Sequence[Check]) -> str:
    """The property that tells yes from no best, and how often each of its values says yes."""
    decided = [check for check in checks if check.says != "open"]
    keys = [key for key in decided[0].case if all(key in check.case for check in decided)]
    counts = {key: _counts(decided, key) for key in keys}
    varied = [key for key in keys if len(counts[key]) > 1]
    if not varied:
        return f"in {_yes(decided)} of {len(decided)} checks"
    # Fewest on the wrong side; among equals, the property with fewest values says it shortest.
    best = min(varied, key=lambda key: (_mistakes(counts[key]), len(counts[key])))
    ordered = sorted(counts[best].items(), key=lambda one: -one[1][0] / one[1][1])
    left = Counter(check.case.get(best) for check in checks if check.says == "open")
    parts = [f"{value} ({_said(*count, left[value])})" for value, count in ordered]
    return f"{best} is: {', '.join(parts)}"


def _said(yes: int, decided: int, left: int) -> str:
    return f"{yes} of {decided}, {left} open" if left else f"{yes} of {decided}"


def _counts(checks: Sequence[Check], key: str) -> dict[str, tuple[int, int]]:
    """For each value of the property, how many checks say yes, of how many."""
    found: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        found[check.case[key]].append(check)
    return {value: (_yes(own), len(own)) for value, own in found.items()}


def _yes(checks: Sequence[Check]) -> int:
    return sum(check.says == "yes" for check in checks)


def _mistakes(counts: dict[str, tuple[int, int]]) -> int:
    """Checks that go against most of those with the same value."""
    return sum(min(yes, all_ - yes) for yes, all_ in counts.values())
