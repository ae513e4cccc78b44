"""Claims on the size of a mini-batch: what a step gains, and what it costs."""

from collections.abc import Callable, Sequence
from functools import partial

from nbyt.report.figures import table
from nbyt.results.values import Data
from nbyt_studies.numbers import mean_of
from nbyt_studies.replay.claims.buffers import (
    MEASURED,
    along,
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
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check, Number

_TOPIC = "Mini-batches: variance and size"

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


def _noise_charts(results: Results) -> list[Data]:
    sizes = results["gradients"]["sizes"]

    def charts(own: list[Data], word: str) -> list[Data]:
        return [_noise_chart(case, word, sizes) for case in own]

    return [over_moments(results, "replay-noise", charts), _cosine_table(results)]


def _noise_chart(case: Data, word: str, sizes: list[int]) -> Data:
    square = of_seeds(case, at("square"))
    some = [
        along(
            name,
            sizes,
            [ratio(of_seeds(case, variance(sampling, size, sizes)), square) for size in sizes],
        )
        for sampling, name in _NAMES.items()
    ]
    title = f"{case['env']}, {word} ({case['steps']:,} env steps)"
    return by_size(title, "Var(G_mb) / |G|²", some, log_y=True, marks=[(1, "noise as long as G")])


def _cosine_table(results: Results) -> Data:
    head = ["env", "moment", "noise scale B", *(f"cosine, m = {m}" for m in (1, 32, 256))]
    head += ["cosine, 256 neighbours"]
    rows = []
    for case in cases(results):
        cosines = [
            mean(of_seeds(case, at("drawn", way, m, "cosine")))
            for way, m in (
                ("uniform", "1"),
                ("uniform", "32"),
                ("uniform", "256"),
                ("sequential", "256"),
            )
        ]
        scale = ratio(of_seeds(case, noise_scale), [1.0] * len(case["seeds"]))
        rows.append([case["env"], case["moment"], scale, *cosines])
    return table("Mini-batches beside the whole buffer's gradient G", head, rows)


_noise_notes = always(
    "Noise is relative to the gradient of the buffer as it is. The buffer is itself a sample, "
    "of neighbours at that: where 256 neighbours vary as much as k times fewer transitions "
    "drawn at random, a buffer of n says about as much as n/k independent ones, and its own "
    "gradient is off from that of endless experience by that much.",
    "By its formula a random mini-batch of m has exactly 1/m of a single transition's "
    "variance; the checks use mini-batches that were drawn.",
    "Var is the mean square distance from G, over all weights.",
)


_LOW, _HIGH = 32, 256
_NEARLY = 0.9
_PROGRESS = (
    "Progress is what a step along the mini-batch's gradient, at its best step size, is expected "
    "to gain over one along the whole buffer's: |G|² / (|G|² + Var). "
)
_SECONDS = "Seconds: gradient steps of the same network by size, in turn, on this machine."


def _rates(results: Results, case: Data) -> list[list[float] | None]:
    # Typical ratios: a mean of seconds would be at the mercy of a busy moment.
    seconds = [one["value"] for one in _timed(results, case)["ratios"]]
    found: list[list[float] | None] = []
    for seed in case["seeds"]:
        shares = [share(place)(seed) for place in range(len(seconds) - 1)]
        if None in shares:
            found.append(None)
            continue
        found.append([x / s for x, s in zip([*shares, 1.0], seconds, strict=True) if x is not None])
    return found


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


def _progress_figures(results: Results) -> list[Data]:
    charts = partial(_pair, results)
    return [over_moments(results, "replay-progress", charts), *_measured_table(results)]


def _pair(results: Results, own: list[Data], word: str) -> list[Data]:
    sizes = results["gradients"]["sizes"]
    steps = [
        along(
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


def _per_second(results: Results, case: Data) -> Data:
    rates = [own for own in _rates(results, case) if own is not None]
    sizes = _timed(results, case)["sizes"]
    shares = [[rate / max(own) for rate in own] for own in rates]
    numbers = [mean_of(column).as_dict() for column in zip(*shares, strict=True)]
    return along(case["env"], sizes if rates else [], numbers)


def _measured_table(results: Results) -> list[Data]:
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
    def found(seed: Data) -> float | None:
        scale = seed["progress"]["noise_scale"]
        return None if scale is None else size / (size + scale)

    return found


def _seconds_table(results: Results) -> list[Data]:
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


_notes = always(
    "Progress by the formula supposes that the loss bends alike in all directions, and that "
    "every size has a step size of its own. The table of measured steps shows how far that "
    "goes: plain gradient steps, best of 22 step sizes over 12 mini-batches of each size.",
    "At frozen weights a step's noise can be told, not what it does to the next: targets "
    "that move, exploration, and Adam's averaging over steps are not in these numbers. So "
    "stability is here only how much of a step is signal.",
    "The noise scale is relative to the buffer's own gradient, which shrinks where a buffer "
    "is fitted well: B then grows without bound, whatever the size is good for.",
    "Intervals are over seeds; seconds are one machine's, in which small steps are mostly the "
    "cost of calling kernels at all.",
)


CLAIMS = (
    Claim(
        id="replay-less-variance",
        topic=_TOPIC,
        says="A mini-batch's gradient varies less than that of a single transition.",
        measured=MEASURED
        + "500 mini-batches of 32 and 40 of 256 drawn with replacement, and every window of "
        "neighbours; 400 single transitions for the cosine.",
        asks="Var of a mini-batch over that of a single transition is below 1, drawn at random or "
        "neighbours; a mini-batch of 32 has a larger cosine with the whole buffer's gradient; "
        "intervals over seeds.",
        needs=("gradients",),
        checks=_less,
        figures=_noise_charts,
        notes=_noise_notes,
    ),
    Claim(
        id="replay-sizes",
        topic=_TOPIC,
        says="Mini-batches of 32 to 256 balance efficiency and stability.",
        measured=MEASURED + _PROGRESS + _SECONDS,
        asks="What of it can be seen at frozen weights: the noise scale B = mean |g - G|² / |G|², "
        "around which larger mini-batches begin to gain little, lies between 32 and 256; and "
        "the best size of that range makes at least 0.9 of the best size's progress per "
        "second; intervals over seeds.",
        needs=("gradients", "step-seconds"),
        checks=_balance,
        figures=_progress_figures,
        notes=_notes,
    ),
    Claim(
        id="replay-whole-buffer",
        topic=_TOPIC,
        says="Steps on mini-batches make more of the same computing than steps on everything that "
        "is stored.",
        measured=MEASURED + _PROGRESS + _SECONDS,
        asks="Progress per second, and per transition processed, of mini-batches of 32 and of 256 "
        "over the whole buffer's is above 1; intervals over seeds.",
        needs=("gradients", "step-seconds"),
        checks=_whole,
        figures=_seconds_table,
        notes=_notes,
    ),
)
