"""Updates become small near convergence: the policy's move, and the step of its weights."""

from collections.abc import Callable
from typing import Any

from nbyt.report.study import figures
from nbyt.results.values import Data
from nbyt.studies.numbers import typical_ratio
from nbyt.studies.post.claims.visits import (
    MEASURED,
    NAMES,
    NEEDS,
    SPANS,
    TOPIC,
    column,
    curves,
    distance_ratio,
    is_table,
    span,
)
from nbyt.studies.study import Claim, Results
from nbyt.studies.verdict import Check


def _checks(name: str, words: str) -> Callable[[Results], list[Check]]:
    def checks(results: Results) -> list[Check]:
        return [
            Check(
                {"env": NAMES[data["env"]]},
                f"{words}, late over early",
                typical_ratio(span(data, name, "late"), span(data, name, "early")).as_dict(),
                high=1,
            )
            for data in (results[need] for need in NEEDS)
        ]

    return checks


def _figures(name: str, words: str) -> Callable[[Results], list[Data]]:
    def drawn(results: Results) -> list[Data]:
        some = [results[need] for need in NEEDS]
        return [figures.row(*(curves(data, words, [column(data, name, "")]) for data in some))]

    return drawn


def _beside(results: Results) -> list[Data]:
    """The three ratios beside each other."""
    rows: list[list[Any]] = []
    for need in NEEDS:
        data = results[need]
        both = [
            typical_ratio(span(data, name, "late"), span(data, name, "early")).as_dict()
            for name in ("divergence", "step")
        ]
        kind = "total variation" if is_table(data) else "energy distance"
        rows.append([NAMES[data["env"]], *both, distance_ratio(data).as_dict(), kind])
    head = ["env", "KL", "length of the step", "distance of what is visited", "measured as"]
    return [figures.table("Late over early, per update", head, rows)]


_STEP, _KL = "length of the actor's step", "KL(before | after)"

CLAIMS = (
    Claim(
        id="convergence-policy",
        topic=TOPIC,
        says="Near convergence an update hardly changes the policy.",
        measured=MEASURED + "KL of the actions before and after the update, in the states that "
        "are visited before it.",
        asks=f"KL per update, late over early, is below 1; interval over seeds. {SPANS}",
        needs=NEEDS,
        checks=_checks("divergence", "KL per update"),
        figures=lambda results: [*_figures("divergence", _KL)(results), *_beside(results)],
    ),
    Claim(
        id="convergence-step",
        topic=TOPIC,
        says="Near convergence an update hardly moves the weights.",
        measured=MEASURED + "Length of the difference of the actor's weights.",
        asks=f"Length of the step, late over early, is below 1; interval over seeds. {SPANS}",
        needs=NEEDS,
        checks=_checks("step", _STEP),
        figures=_figures("step", _STEP),
    ),
)
