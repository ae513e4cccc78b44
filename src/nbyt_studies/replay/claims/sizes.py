"""Claims on the size of a mini-batch: what a step gains, and what it costs."""

from collections.abc import Callable, Sequence
from functools import partial

from nbyt.report.figures import table
from nbyt.results.study import Figures, Lines, NumberSeries, Table
from nbyt.results.values import Data
from nbyt_studies.charts import column_means, known_series
from nbyt_studies.replay.claims.buffers import (
    at,
    by_size,
    cases,
    mean,
    noise_scale,
    of_seeds,
    over_moments,
    ratio,
    share,
    variance,
    where,
)
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check, Number

_SIZES = (32, 256)
_NAMES = {
    "sequential": "neighbours",
    "uniform": "random, with replacement",
    "distinct": "random, none twice",
    "stratified": "stratified by age",
}


def _less(results: Results) -> list[Check]:
    sizes = results["gradients"]["sizes"]
    checks = []
    for case in cases(results):
        single = of_seeds(case, variance("uniform", 1, sizes))
        for size in _SIZES:
            drawn = of_seeds(case, at("drawn", "uniform", str(size), "square"))
            windows = of_seeds(case, variance("sequential", size, sizes))
            for words, own in (("at random", drawn), ("as neighbours", windows)):
                there = where(case, drawn=words, size=str(size))
                quantity = "Var of a mini-batch / Var of a single transition"
                checks.append(Check(there, quantity, ratio(own, single), high=1))
        there = where(case, drawn="at random", size="32")
        quantity = "cosine with the whole buffer's gradient, less that of a single transition"
        checks.append(Check(there, quantity, _turned(case), low=0))
    return checks


def _turned(case: Data) -> Data:
    drawn = of_seeds(case, at("drawn", "uniform"))
    pairs = [[own[size]["cosine"] for size in ("32", "1")] for own in drawn]
    return mean([None if None in pair else pair[0] - pair[1] for pair in pairs])


def _noise_charts(results: Results) -> Figures:
    sizes = results["gradients"]["sizes"]

    def charts(own: list[Data], word: str) -> list[Lines]:
        return [_noise_chart(case, word, sizes) for case in own]

    return [over_moments(results, "replay-noise", charts), _cosine_table(results)]


def _noise_chart(case: Data, word: str, sizes: list[int]) -> Lines:
    square = of_seeds(case, at("square"))
    some = []
    for sampling, name in _NAMES.items():
        noise = [of_seeds(case, variance(sampling, size, sizes)) for size in sizes]
        some.append(known_series(name, sizes, [ratio(own, square) for own in noise]))
    title = f"{case['env']}, {word} ({case['steps']:,} env steps)"
    return by_size(title, "Var(G_mb) / |G|²", some, log_y=True, marks=[(1, "noise as long as G")])


def _cosine_table(results: Results) -> Table:
    head = ["env", "moment", "noise scale B", *(f"cosine, m = {m}" for m in (1, 32, 256))]
    head += ["cosine, 256 neighbours"]
    rows = []
    for case in cases(results):
        ways = [("uniform", "1"), ("uniform", "32"), ("uniform", "256"), ("sequential", "256")]
        cosines = [mean(of_seeds(case, at("drawn", way, m, "cosine"))) for way, m in ways]
        scale = ratio(of_seeds(case, noise_scale), [1.0] * len(case["seeds"]))
        rows.append([case["env"], case["moment"], scale, *cosines])
    return table("Mini-batches beside the whole buffer's gradient G", head, rows)


_LOW, _HIGH = 32, 256
_NEARLY = 0.9


def _rates(results: Results, case: Data) -> list[list[float] | None]:
    # Typical ratios: a mean of seconds would be at the mercy of a busy moment.
    seconds = [one["value"] for one in _timed(results, case)["ratios"]]
    rates: list[list[float] | None] = []
    for seed in case["seeds"]:
        shares = [share(place)(seed) for place in range(len(seconds) - 1)]
        if None in shares:
            rates.append(None)
            continue
        rates.append([x / s for x, s in zip([*shares, 1.0], seconds, strict=True) if x is not None])
    return rates


def _timed(results: Results, case: Data) -> Data:
    return next(one for one in results["step-seconds"]["cases"] if one["env"] == case["env"])


def _balance(results: Results) -> list[Check]:
    checks = []
    for case in cases(results):
        scale = ratio(of_seeds(case, noise_scale), [1.0] * len(case["seeds"]))
        words = "noise scale B, transitions"
        checks.append(Check(where(case, asked="noise scale"), words, scale, _LOW, _HIGH))
        sizes = _timed(results, case)["sizes"]
        usual = [place for place, size in enumerate(sizes) if _LOW <= size <= _HIGH]
        best = mean([None if own is None else _best(own, usual) for own in _rates(results, case)])
        words = "progress per second, best of 32 to 256 over best of all sizes"
        checks.append(Check(where(case, asked="seconds"), words, best, low=_NEARLY))
    return checks


def _best(rates: Sequence[float], places: Sequence[int]) -> float:
    return max(rates[place] for place in places) / max(rates)


def _whole(results: Results) -> list[Check]:
    checks = []
    for case in cases(results):
        timed = _timed(results, case)
        last = len(timed["sizes"]) - 1
        for size in (_LOW, _HIGH):
            place, own = timed["sizes"].index(size), where(case, size=str(size))
            words = "progress per second, mini-batch over whole buffer"
            number = _over(_rates(results, case), place, last)
            checks.append(Check({**own, "per": "second"}, words, number, low=1))
            words = "progress per transition processed, mini-batch over whole buffer"
            shares = of_seeds(case, share(place))
            rows = [size / count for count in of_seeds(case, at("rows"))]
            checks.append(Check({**own, "per": "transition"}, words, ratio(shares, rows), low=1))
    return checks


def _over(rates: Sequence[list[float] | None], first: int, second: int) -> Number:
    pairs = [(None, None) if own is None else (own[first], own[second]) for own in rates]
    return ratio([a for a, _ in pairs], [b for _, b in pairs])


def _progress_figures(results: Results) -> Figures:
    charts = partial(_pair, results)
    return [over_moments(results, "replay-progress", charts), *_measured_table(results)]


def _pair(results: Results, own: list[Data], word: str) -> list[Lines]:
    sizes = results["gradients"]["sizes"]
    steps = [
        known_series(
            case["env"], sizes, [mean(of_seeds(case, share(place))) for place in range(len(sizes))]
        )
        for case in own
    ]
    marks = [(1, "the whole buffer"), (0.5, "half of it")]
    return [
        by_size(f"{word}: progress of one step", "share of the whole buffer's", steps, marks=marks),
        by_size(
            f"{word}: progress per second",
            "share of the best size's",
            [_per_second(results, case) for case in own],
        ),
    ]


def _per_second(results: Results, case: Data) -> NumberSeries:
    rates = [own for own in _rates(results, case) if own is not None]
    sizes = _timed(results, case)["sizes"]
    shares = [[rate / max(own) for rate in own] for own in rates]
    numbers = column_means(shares)
    return known_series(case["env"], sizes if rates else [], numbers)


def _measured_table(results: Results) -> Figures:
    sizes = results["gradients"]["step_sizes"]
    rows = []
    for case in cases(results):
        cells: list[str | Number] = [case["env"], case["moment"]]
        for place, size in enumerate(sizes):
            cells.append(mean(of_seeds(case, at("progress", "shares", place))))
            cells.append(mean(of_seeds(case, _formula(size))))
        rows.append(cells)
    head = [f"{words}, m = {m}" for m in sizes for words in ("measured", "formula")]
    title = "Share of the whole buffer's progress in one step, on 1,024 of its transitions"
    return [table(title, ["env", "moment", *head], rows)]


def _formula(size: int) -> Callable[[Data], float | None]:
    def of_seed(seed: Data) -> float | None:
        scale = seed["progress"]["noise_scale"]
        return None if scale is None else size / (size + scale)

    return of_seed


def _seconds_table(results: Results) -> Figures:
    timed = results["step-seconds"]["cases"]
    shown = [size for size in (1, 8, 32, 64, 128, 256, 1024) if size in timed[0]["sizes"]]
    rows = []
    for one in timed:
        usual = one["seconds"][one["sizes"].index(_LOW)]["value"]
        places = [one["sizes"].index(size) for size in shown]
        ratios = [one["ratios"][place] for place in (*places, -1)]
        rows.append([f"{one['env']}, {one['network']}", f"{usual * 1e6:.0f}", *ratios])
    head = ["env, network", "microseconds at m = 32", *(f"m = {m:,}" for m in shown)]
    title = "Seconds of a gradient step, over those at m = 32"
    return [table(title, [*head, "whole buffer"], rows)]


EVIDENCE = {
    "replay-less-variance": Evidence(_less, _noise_charts),
    "replay-sizes": Evidence(_balance, _progress_figures),
    "replay-whole-buffer": Evidence(_whole, _seconds_table),
}
