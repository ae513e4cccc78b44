"""Claims on neighbours in a replay buffer: how alike they are, and what drawing at random gains."""

from collections.abc import Callable
from functools import partial
from typing import Any

from nbyt.report.figures import bars, lines, row, series, table
from nbyt.results.values import Data
from nbyt_studies.replay.claims.buffers import (
    MEASURED,
    along,
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
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check, Number

_VARIETY_TOPIC = "Experience replay: variety"
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


_notes = always(
    "States of CartPole and Acrobot are cells of half a standard deviation of each coordinate; "
    "others are exact. Smaller cells would make neighbours differ more.",
    "Expected: a label of n_l of n transitions is missed by m random draws with probability "
    "(1 - n_l/n)^m; of neighbours, every window was counted.",
    "Whether more variety in a mini-batch makes a policy generalise better is another claim: "
    "over many mini-batches both ways show the same buffer.",
)


_TOPIC = "Experience replay: correlation"
_ABOUT = 0.1
_OF = {"observation": "observations", "gradient": "gradients"}
_SIZES = (32, 256)


def _neighbours(results: Results) -> list[Check]:
    quantity = "correlation of transitions one apart"
    return [
        Check(
            where(case, **{"correlation of": words}),
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


def _lags(results: Results) -> list[Data]:
    lags = results["gradients"]["lags"]

    def charts(own: list[Data], word: str) -> list[Data]:
        return [
            lines(
                f"{words}, {word}",
                "transitions apart",
                "correlation",
                [along(case["env"], lags, _along_lags(case, key, len(lags))) for case in own],
                log_x=True,
                ticks=[(lag, str(lag)) for lag in lags],
                marks=[(0, "any two transitions")],
            )
            for key, words in _OF.items()
        ]

    return [over_moments(results, "replay-lags", charts), _cosines(results)]


def _along_lags(case: Data, key: str, count: int) -> list[Data]:
    return [mean(of_seeds(case, at("correlation", key, lag))) for lag in range(count)]


def _cosines(results: Results) -> Data:
    rows = []
    for case in cases(results):
        pair = [mean(of_seeds(case, at("correlation", "cosines", which))) for which in range(2)]
        rows.append([case["env"], case["moment"], *pair])
    head = ["env", "moment", "neighbours", "any two"]
    return table("Mean cosine of two transitions' gradients", head, rows)


def _gains(results: Results) -> list[Data]:
    sizes = results["gradients"]["sizes"]

    def charts(own: list[Data], word: str) -> list[Data]:
        some = [
            along(case["env"], sizes, [_gain(case, size, sizes) for size in sizes]) for case in own
        ]
        title = f"{word}: what drawing at random gains"
        words = "Var(neighbours) / Var(random)"
        return [by_size(title, words, some, log_y=True, marks=[(1, "nothing gained")])]

    return [over_moments(results, "replay-gain", charts)]


_lag_notes = always(
    "A transition's gradient is its TD error times the gradient of its Q-value. States follow "
    "each other smoothly, TD errors need not: their signs change from step to step, so "
    "gradients can be nearly uncorrelated where observations are not.",
    "The correlation weighs pairs by the length of their gradients; a few transitions with "
    "large TD errors may decide it. The cosines count all pairs alike. Two transitions drawn "
    "at random have a correlation of -1/(n-1).",
    "Observations are standardised; a table's states are compared as equal or not.",
)


def _gain_notes(results: Results) -> list[str]:
    sizes = results["gradients"]["sizes"]
    gains = [_gain(case, 32, sizes)["value"] for case in cases(results)]
    known = [gain for gain in gains if gain is not None]
    notes = [
        "The ratio is also how many neighbours count as one transition drawn at random. Below 1, "
        "neighbours cancel each other's noise.",
        "At frozen weights only: what correlated steps do to learning over time is another claim.",
    ]
    if known:
        notes.insert(0, f"With 32 the ratios lie between {min(known):.2f} and {max(known):.2f}.")
    return notes


_claim = partial(Claim, needs=("gradients",))

CLAIMS = (
    _claim(
        id="replay-neighbours",
        topic=_TOPIC,
        says="Transitions that follow each other are correlated.",
        measured=MEASURED + "Correlation along the buffer of observations, and of gradients.",
        asks="The correlation one transition apart is above 0; intervals over seeds.",
        checks=_neighbours,
        figures=_lags,
        notes=_lag_notes,
    ),
    _claim(
        id="replay-decorrelates",
        topic=_TOPIC,
        says="Drawing mini-batches at random breaks the correlation of neighbours: their gradient "
        "is less noisy than that of transitions used in sequence.",
        measured=MEASURED
        + "Mean square distance from the whole buffer's gradient: of every window of m "
        "transitions, and of m drawn with replacement, by its formula.",
        asks="The first over the second is above 1, for m of 32 and 256; intervals over seeds.",
        checks=_decorrelation,
        figures=_gains,
        notes=_gain_notes,
    ),
    _claim(
        id="replay-formulas",
        topic=_TOPIC,
        says="How much a mini-batch's gradient varies can be calculated from the transitions' own: "
        "for neighbours, and for draws with replacement, without, and stratified by age.",
        measured=MEASURED + "500 mini-batches of 32 drawn by each sampling, as training does.",
        asks="Drawn over calculated variance is within 10 % of 1; intervals over seeds.",
        checks=_formulas,
    ),
    _claim(
        id="replay-variety",
        topic=_VARIETY_TOPIC,
        says="A mini-batch drawn at random shows more of the variety of what was experienced.",
        measured=MEASURED
        + "Different states and different episodes in mini-batches of 32 and 256, drawn with "
        "replacement or as neighbours.",
        asks="Random over neighbours is above 1; intervals over seeds.",
        checks=_more,
        figures=_charts,
        notes=_notes,
    ),
)
