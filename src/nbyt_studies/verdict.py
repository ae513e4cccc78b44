"""The verdict on a claim, from its checks, by one rule for all claims.

A claim predicts where certain numbers lie. Each such number is a check: its whole 95 % interval
lies there (yes), all of it lies elsewhere (no), or neither (open). The verdict counts the checks
of each part that is judged apart, such as actor and critic. This module knows no claim, so no
verdict can be tuned.
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
_A_FEW = 3
_WORTH = 10
STATED = "return"
"""A property of a case that is stated beside its number and separates nothing."""

RULE = (
    "A check asks whether a number lies where the claim says. It says yes where the whole 95 % "
    "interval lies there, no where all of it lies elsewhere, and is open otherwise. A claim holds "
    "if at least 95 % of the checks that say yes or no say yes, does not hold if at least 95 % say "
    "no, and holds in some cases in between; where half of the checks or more are open, it cannot "
    "be told. Parts, such as actor and critic, are judged apart. What mathematics makes true is an "
    "identity: it is checked, and gets no verdict."
)
IDENTITY, DEPENDS = "identity", "depends"


@dataclass(frozen=True)
class Check:
    """A number that the claim says lies between `low` and `high`.

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
        """Return plain values."""
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
    """holds, does not hold, holds when, or cannot be told; depends: its parts differ.

    when: in which cases it holds, in which nothing could be told, or what its parts say.
    """

    word: str
    when: str
    yes: int
    no: int
    open: int

    def __str__(self) -> str:
        if self.word == DEPENDS:
            return self.when
        return f"{self.word} {self.when}" if self.when else self.word


def judge(checks: Sequence[Check]) -> Verdict:
    """Return the verdict on a claim with these checks."""
    said = [check.says for check in checks]
    yes, no = said.count("yes"), said.count("no")
    word, when = "holds when", ""
    if not checks or yes + no <= _ENOUGH * len(checks):
        word = "cannot be told"
    elif yes >= _NEARLY_ALL * (yes + no):
        word, when = "holds", _left_open(checks)
    elif no >= _NEARLY_ALL * (yes + no):
        word, when = "does not hold", _left_open(checks)
    else:
        when = _condition(checks)
    return Verdict(word, when, yes, no, said.count("open"))


@dataclass(frozen=True)
class Part:
    """Checks that are judged apart from a claim's others. case: what they have in common."""

    case: Case
    checks: tuple[Check, ...]

    @property
    def words(self) -> str:
        """What it is, in short."""
        return ", ".join(self.case.values())

    @property
    def verdict(self) -> Verdict:
        """What its checks say."""
        return judge(self.checks)


def settled_by(part: Part) -> str:
    """Return how many replicates would decide most of a part that cannot be told, in words.

    An interval narrows as the root of their number, if numbers stay where they are.
    """
    needed = []
    for check in part.checks:
        value, low, high = (check.number.get(name) for name in ("value", "low", "high"))
        if check.says != "open":
            continue
        if value is None or low is None or high is None:
            needed.append(inf)
            continue
        away = min(abs(value - bound) for bound in (check.low, check.high) if abs(bound) < inf)
        needed.append((high - low) / 2 / away if away > 0 else inf)
    if not needed:
        return ""
    factor = sorted(needed)[len(needed) // 2] ** 2
    if factor > _WORTH:
        return "not worth it: more than ten times the runs would be needed"
    return f"about {max(2, round(factor + 0.5))} times the runs would settle most of it"


def parts_of(checks: Sequence[Check], apart: Sequence[str]) -> list[Part]:
    """Return the checks by their values of these properties, in the order of their first checks."""
    found: dict[tuple[tuple[str, str], ...], list[Check]] = defaultdict(list)
    for check in checks:
        found[tuple((key, check.case[key]) for key in apart if key in check.case)].append(check)
    return [Part(dict(key), tuple(own)) for key, own in found.items()]


def judge_apart(parts: Sequence[Part]) -> Verdict:
    """Return the verdict on a claim: that of all its parts, or each part with its own."""
    if len(parts) == 1:
        return parts[0].verdict
    verdicts = [part.verdict for part in parts]
    sums = [sum(getattr(one, name) for one in verdicts) for name in ("yes", "no", "open")]
    said = {one.word for one in verdicts}
    if len(said) == 1 and said != {"holds when"}:
        return Verdict(said.pop(), "", *sums)
    by_word: dict[str, list[str]] = defaultdict(list)
    for part, one in zip(parts, verdicts, strict=True):
        by_word[one.word.replace("when", "in some cases")].append(part.words)
    when = "; ".join(f"{word}: {' and '.join(own)}" for word, own in by_word.items())
    return Verdict(DEPENDS, when, *sums)


def judge_identity(checks: Sequence[Check]) -> Verdict:
    """Return how often an identity was confirmed; a violation is a fault of this program."""
    verdict = judge(checks)
    when = f"(violated in {verdict.no} of {len(checks)} checks)" if verdict.no else ""
    return Verdict(IDENTITY, when, verdict.yes, verdict.no, verdict.open)


def _condition(checks: Sequence[Check]) -> str:
    """Return the property that separates yes from no best, with the counts of its values."""
    decided = [check for check in checks if check.says != "open"]
    separating = _telling(decided, "yes")
    if separating is None:
        return f"in {_count(decided, 'yes')} of {len(decided)} checks"
    key, counts = separating
    left = Counter(check.case.get(key) for check in checks if check.says == "open")
    ordered = sorted(counts.items(), key=lambda one: (-one[1][0] / one[1][1], one[0]))
    groups: dict[str, list[str]] = {"": [], "in part ": [], "not ": []}
    for value, count in ordered:
        groups[_how_far(*count)].append(f"{value} ({_said(*count, left[value])})")
    parts = [start + " and ".join(values) for start, values in groups.items() if values]
    return f"{key} is {'; '.join(parts)}"


def _how_far(yes: int, decided: int) -> str:
    """Return what goes before the values for which a claim holds, holds in part, or does not."""
    if yes >= _NEARLY_ALL * decided:
        return ""
    return "not " if yes <= (1 - _NEARLY_ALL) * decided else "in part "


def _left_open(checks: Sequence[Check]) -> str:
    """Return where checks are open, if one property marks off nearly all of them."""
    separating = _telling(checks, "open")
    left = _count(checks, "open")
    if separating is None or left < _A_FEW or _mistakes(separating[1]) > left / 4:
        return ""
    key, counts = separating
    parts = [
        f"{value} ({left} of {all_} open)"
        for value, (left, all_) in sorted(counts.items())
        if 2 * left > all_
    ]
    return f"(cannot be told where {key} is {', '.join(parts)})"


def _said(yes: int, decided: int, left: int) -> str:
    return f"{yes} of {decided}, {left} open" if left else f"{yes} of {decided}"


def _telling(checks: Sequence[Check], word: str) -> tuple[str, dict[str, tuple[int, int]]] | None:
    """Return the property that best separates checks that say the word, with their counts."""
    shared = (key for key in checks[0].case if all(key in check.case for check in checks))
    keys = sorted(key for key in shared if key != STATED)
    counts = {key: _counts(checks, key, word) for key in keys}
    varied = [key for key in keys if len(counts[key]) > 1]
    if not varied:
        return None
    # Fewest on the wrong side; among equals, the property with fewest values says it shortest.
    best = min(varied, key=lambda key: (_mistakes(counts[key]), len(counts[key])))
    return best, counts[best]


def _counts(checks: Sequence[Check], key: str, word: str) -> dict[str, tuple[int, int]]:
    groups: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        groups[check.case[key]].append(check)
    return {value: (_count(own, word), len(own)) for value, own in groups.items()}


def _count(checks: Sequence[Check], word: str) -> int:
    return sum(check.says == word for check in checks)


def _mistakes(counts: dict[str, tuple[int, int]]) -> int:
    """Count the checks that go against most of those with the same value."""
    return sum(min(said, all_ - said) for said, all_ in counts.values())
