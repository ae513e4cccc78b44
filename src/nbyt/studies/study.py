"""A study: experiments that give plain data, and claims that are judged by it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbyt.results.values import Data
from nbyt.studies.bench import Bench
from nbyt.studies.verdict import Check, Number, judge

Results = Mapping[str, Data]  # by the name of the experiment


@dataclass(frozen=True)
class Experiment:
    """Something to do once, whose outcome is plain data: numbers, texts, lists and dicts.

    alone: nothing else may run beside it, because it looks at the clock.
    """

    name: str
    words: str
    run: Callable[[Bench], Data]
    alone: bool = False


def _nothing(results: Results) -> list[Any]:
    return []


def always(*notes: str) -> Callable[[Results], list[str]]:
    """Notes that do not depend on the data."""
    return lambda results: list(notes)


@dataclass(frozen=True)
class Claim:
    """A statement, how it was measured, and what of the data is held against it.

    id: short words with hyphens. topic: the heading that it stands under. says: the statement, in
    our own words. measured: the experiment, in a sentence. asks: what its checks ask.
    checks, figures, notes: functions of the experiments' data alone, which they do not change.
    """

    id: str
    topic: str
    says: str
    measured: str
    asks: str
    needs: tuple[str, ...]
    checks: Callable[[Results], list[Check]]
    figures: Callable[[Results], list[Data]] = field(default=_nothing)
    notes: Callable[[Results], list[str]] = field(default=_nothing)


@dataclass(frozen=True)
class Study:
    """What `nbyt reproduce NAME` does and judges.

    cpu_minutes: what the quick study and the whole one took on an ordinary core, compiling
    included; worker_gb: memory of a worker at most, in whole gigabytes.
    """

    name: str
    title: str
    lead: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]
    cpu_minutes: tuple[int, int] = (1, 1)
    worker_gb: int = 1


def judged(claim: Claim, results: Results) -> Data:
    """The claim with its verdict, as plain data for JSON and for the page."""
    checks = claim.checks(results)
    verdict = judge(checks)
    return {
        "id": claim.id,
        "topic": claim.topic,
        "claim": claim.says,
        "measured": claim.measured,
        "asks": claim.asks,
        "verdict": str(verdict),
        "word": verdict.word,
        "when": verdict.when,
        "counts": {"yes": verdict.yes, "no": verdict.no, "open": verdict.open},
        "numbers": _numbers(checks),
        "checks": [check.as_dict() for check in checks],
        "notes": claim.notes(results),
        "figures": claim.figures(results),
    }


def _numbers(checks: Sequence[Check]) -> dict[str, Number]:
    """Every check's number by a name of its own."""
    found: dict[str, Number] = {}
    for check in checks:
        words = " ".join([*check.case.values(), check.quantity]).lower()
        name = re.sub(r"[^a-z0-9.]+", "_", words).strip("_")
        found[name if name not in found else f"{name}_{len(found)}"] = check.number
    return found
