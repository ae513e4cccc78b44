"""Claims on neighbours in a replay buffer: how alike they are, and what drawing at random gains."""

from collections.abc import Callable
from typing import Any

from nbyt.report.figures import lines, row, table
from nbyt.results.study import Bars, Figures, Lines, Table
from nbyt.results.values import Data
from nbyt_studies.charts import grouped_bars, known_series
from nbyt_studies.replay.claims.buffers import (
    at,
    by_size,
    cases,
    mean,
    of_seeds,
    over_moments,
    ratio,
    variance,
    where,
)
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check, Number

_KINDS = ("states", "episodes")
_NAMES = {"sequential": "neighbours", "uniform": "random, with replacement"}


def _sizes(results: Results) -> list[int]:
    return [one["minibatch"] for one in cases(results)[0]["seeds"][0]["variety"]["states"]]


def _more(results: Results) -> list[Check]:
    checks = []
    for case in cases(results):
        for kind in _KINDS:
            for place, size in enumerate(_sizes(results)):
                counts = [_count(kind, place, way) for way in ("uniform", "sequential")]
                words = "different ones in a random mini-batch, over those in one of neighbours"
                own = where(case, **{"different": kind, "mini-batch": str(size)})
                number = ratio(*(of_seeds(case, count) for count in counts))
                checks.append(Check(own, words, number, low=1))
    return checks


def _count(kind: str, place: int, sampling: str, how: str = "drawn") -> Callable[[Data], Any]:
    return at("variety", kind, place, how, sampling)


def _charts(results: Results) -> Figures:
    rows = [
        row(*(_chart(results, kind, place, size) for kind in _KINDS))
        for place, size in enumerate(_sizes(results))
    ]
    return [*rows, _table(results)]


def _chart(results: Results, kind: str, place: int, size: int) -> Bars:
    numbers = {
        name: [mean(of_seeds(case, _count(kind, place, way))) for case in cases(results)]
        for way, name in _NAMES.items()
    }
    categories = [f"{case['env'].removesuffix('-v1')}, {case['moment']}" for case in cases(results)]
    return grouped_bars(f"Different {kind} in a mini-batch of {size}", categories, kind, numbers)


def _table(results: Results) -> Table:
    head = ["env", "moment", "of", "in the buffer"]
    for name in _NAMES.values():
        head += [name, "expected"]
    rows = []
    for case in cases(results):
        for kind in _KINDS:
            cells: list[str | Number] = [case["env"], case["moment"], kind]
            cells.append(mean(of_seeds(case, at("variety", kind, 0, "all"))))
            for way in _NAMES:
                cells.append(mean(of_seeds(case, _count(kind, 0, way))))
                cells.append(mean(of_seeds(case, _count(kind, 0, way, "expected"))))
            rows.append(cells)
    return table(f"Mini-batches of {_sizes(results)[0]}", head, rows)


_ABOUT = 0.1
_OF = {"observation": "observations", "gradient": "gradients"}
_SIZES = (32, 256)


def _neighbours(results: Results) -> list[Check]:
    quantity = "correlation of transitions one apart"
    return [
        Check(
            where(case, **{"correlated": words}),
            quantity,
            mean(of_seeds(case, at("correlation", key, 0))),
            low=0,
        )
        for key, words in _OF.items()
        for case in cases(results)
    ]


def _gain(case: Data, size: int, sizes: list[int]) -> Data:
    ways = (of_seeds(case, variance(way, size, sizes)) for way in ("sequential", "uniform"))
    return ratio(*ways)


def _decorrelation(results: Results) -> list[Check]:
    sizes = results["gradients"]["sizes"]
    words = "Var of mini-batches of neighbours / Var of mini-batches drawn at random"
    return [
        Check(where(case, **{"mini-batch": str(size)}), words, _gain(case, size, sizes), low=1)
        for case in cases(results)
        for size in _SIZES
    ]


def _formulas(results: Results) -> list[Check]:
    data = results["gradients"]
    checks = []
    for case in cases(results):
        for sampling in case["seeds"][0]["exact"]:
            exact = of_seeds(case, variance(sampling, 32, data["sizes"]))
            drawn = of_seeds(case, at("drawn", sampling, "32", "square"))
            pairs = zip(drawn, exact, strict=True)
            number = mean([a / b if a is not None and b else None for a, b in pairs])
            words = "Var of mini-batches of 32, drawn over calculated"
            own = where(case, sampling=sampling)
            checks.append(Check(own, words, number, 1 - _ABOUT, 1 + _ABOUT))
    return checks


def _lags(results: Results) -> Figures:
    lags = results["gradients"]["lags"]

    def charts(own: list[Data], word: str) -> list[Lines]:
        return [
            lines(
                f"{words}, {word}",
                "transitions apart",
                "correlation",
                [
                    known_series(case["env"], lags, _along_lags(case, key, len(lags)))
                    for case in own
                ],
                log_x=True,
                ticks=[(lag, str(lag)) for lag in lags],
                marks=[(0, "any two transitions")],
            )
            for key, words in _OF.items()
        ]

    return [over_moments(results, "replay-lags", charts), _cosines(results)]


def _along_lags(case: Data, key: str, count: int) -> list[Data]:
    return [mean(of_seeds(case, at("correlation", key, lag))) for lag in range(count)]


def _cosines(results: Results) -> Table:
    rows = []
    for case in cases(results):
        pair = [mean(of_seeds(case, at("correlation", "cosines", which))) for which in range(2)]
        rows.append([case["env"], case["moment"], *pair])
    head = ["env", "moment", "neighbours", "any two"]
    return table("Mean cosine of two transitions' gradients", head, rows)


def _gains(results: Results) -> Figures:
    sizes = results["gradients"]["sizes"]

    def charts(own: list[Data], word: str) -> list[Lines]:
        some = [
            known_series(case["env"], sizes, [_gain(case, size, sizes) for size in sizes])
            for case in own
        ]
        title = f"{word}: what drawing at random gains"
        words = "Var(neighbours) / Var(random)"
        return [by_size(title, words, some, log_y=True, marks=[(1, "nothing gained")])]

    return [over_moments(results, "replay-gain", charts)]


def _gain_values(results: Results) -> Data:
    sizes = results["gradients"]["sizes"]
    gains = [_gain(case, 32, sizes)["value"] for case in cases(results)]
    known = [gain for gain in gains if gain is not None]
    words = "With 32 the ratios lie between {:.2f} and {:.2f}."
    return {"ratios": [words.format(min(known), max(known))] if known else []}


EVIDENCE = {
    "replay-neighbours": Evidence(_neighbours, _lags),
    "replay-decorrelates": Evidence(_decorrelation, _gains, _gain_values),
    "replay-formulas": Evidence(_formulas),
    "replay-variety": Evidence(_more, _charts),
}
