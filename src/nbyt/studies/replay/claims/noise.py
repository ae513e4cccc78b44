"""Claims on a mini-batch's noise: less than a single transition's, more than the whole buffer's."""

from nbyt.report.study.figures import table
from nbyt.results.values import Data
from nbyt.studies.replay.claims.buffers import (
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
    variance,
    where,
)
from nbyt.studies.study import Claim, Results
from nbyt.studies.verdict import Check

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
    """How much better a mini-batch of 32 points along G than a single transition."""
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


def _noise_notes(results: Results) -> list[str]:
    del results
    return [
        "Noise is relative to the gradient of the buffer as it is. The buffer is itself a sample, "
        "of neighbours at that: where 256 neighbours vary as much as k times fewer transitions "
        "drawn at random, a buffer of n says about as much as n/k independent ones, and its own "
        "gradient is off from that of endless experience by that much.",
        "By its formula a random mini-batch of m has exactly 1/m of a single transition's "
        "variance; the checks use mini-batches that were drawn.",
        "Var is the mean square distance from G, over all weights.",
    ]


CLAIMS = (
    Claim(
        id="replay-less-variance",
        topic=_TOPIC,
        says="A mini-batch's gradient varies less than that of a single transition.",
        measured=MEASURED
        + "500 mini-batches of 32 and 40 of 256 drawn with replacement, and every window of "
        "neighbours; 400 single transitions for the cosine.",
        asks=(
            "Var of a mini-batch over that of a single transition is below 1, drawn at random or "
            "neighbours; a mini-batch of 32 has a larger cosine with the whole buffer's gradient; "
            "intervals over seeds."
        ),
        needs=("gradients",),
        checks=_less,
        figures=_noise_charts,
        notes=_noise_notes,
    ),
)
