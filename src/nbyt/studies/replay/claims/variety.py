"""Claims on what a mini-batch shows: how many different states and episodes."""

from collections.abc import Callable
from typing import Any

from nbyt.report.study.figures import bars, row, series, table
from nbyt.results.values import Data
from nbyt.studies.replay.claims.buffers import MEASURED, at, cases, mean, of_seeds, ratio, where
from nbyt.studies.study import Claim, Results
from nbyt.studies.verdict import Check, Number

_TOPIC = "Experience replay: variety"
_KINDS = ("states", "episodes")
_NAMES = {"sequential": "neighbours", "uniform": "random, with replacement"}


def _sizes(results: Results) -> list[int]:
    return [one["minibatch"] for one in cases(results)[0]["seeds"][0]["variety"]["states"]]


def _more(results: Results) -> list[Check]:
    checks = []
    for case in cases(results):
        for kind in _KINDS:
            for place, size in enumerate(_sizes(results)):
                found = [_found(kind, place, way) for way in ("uniform", "sequential")]
                words = "different ones in a random mini-batch, over those in one of neighbours"
                own = where(case, **{"different": kind, "mini-batch": str(size)})
                checks.append(
                    Check(own, words, ratio(*(of_seeds(case, one) for one in found)), low=1)
                )
    return checks


def _found(kind: str, place: int, sampling: str, how: str = "drawn") -> Callable[[Data], Any]:
    """How many different ones a mini-batch shows, drawn or expected."""
    return at("variety", kind, place, how, sampling)


def _charts(results: Results) -> list[Data]:
    found = []
    for place, size in enumerate(_sizes(results)):
        found.append(row(*(_chart(results, kind, place, size) for kind in _KINDS)))
    return [*found, _table(results)]


def _chart(results: Results, kind: str, place: int, size: int) -> Data:
    some = []
    for way, name in _NAMES.items():
        numbers = [mean(of_seeds(case, _found(kind, place, way))) for case in cases(results)]
        some.append(series(name, range(len(numbers)), numbers))
    categories = [f"{case['env'].removesuffix('-v1')}, {case['moment']}" for case in cases(results)]
    return bars(f"Different {kind} in a mini-batch of {size}", categories, kind, some)


def _table(results: Results) -> Data:
    """Expected and drawn numbers at the smaller size."""
    head = ["env", "moment", "of", "in the buffer"]
    for name in _NAMES.values():
        head += [name, "expected"]
    rows = []
    for case in cases(results):
        for kind in _KINDS:
            cells: list[str | Number] = [case["env"], case["moment"], kind]
            cells.append(mean(of_seeds(case, at("variety", kind, 0, "all"))))
            for way in _NAMES:
                cells.append(mean(of_seeds(case, _found(kind, 0, way))))
                cells.append(mean(of_seeds(case, _found(kind, 0, way, "expected"))))
            rows.append(cells)
    return table(f"Mini-batches of {_sizes(results)[0]}", head, rows)


def _notes(results: Results) -> list[str]:
    del results
    return [
        "States of CartPole and Acrobot are cells of half a standard deviation of each coordinate; "
        "others are exact. Smaller cells would make neighbours differ more.",
        "Expected: a label of n_l of n transitions is missed by m random draws with probability "
        "(1 - n_l/n)^m; of neighbours, every window was counted.",
        "Whether more variety in a mini-batch makes a policy generalise better is another claim: "
        "over many mini-batches both ways show the same buffer.",
    ]


CLAIMS = (
    Claim(
        id="replay-variety",
        topic=_TOPIC,
        says="A mini-batch drawn at random shows more of the variety of what was experienced.",
        measured=MEASURED
        + "Different states and different episodes in mini-batches of 32 and 256, drawn with "
        "replacement or as neighbours.",
        asks="Random over neighbours is above 1; intervals over seeds.",
        needs=("gradients",),
        checks=_more,
        figures=_charts,
        notes=_notes,
    ),
)
