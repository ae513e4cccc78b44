"""Claims on the gradient within an update, on noise and stability, and on clipping."""

from itertools import pairwise

from nbyt.report import figures
from nbyt.results.study import Figures, Row
from nbyt.results.values import Data
from nbyt_studies.charts import column_means, common_lines, grouped_bars
from nbyt_studies.experiment import env_name
from nbyt_studies.numbers import mean_of, spread_of, spread_ratio, typical_ratio
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check


def _size(row: Data) -> str:
    return f"{row['envs']} x {row['steps']}"


def _ordered(results: Results) -> list[Data]:
    return sorted(results["stability"]["rows"], key=lambda row: -_quietness(row))


def _quietness(row: Data) -> float:
    known = [one["value"] for one in row["noise_factors"] if one["value"] is not None]
    return sum(known) / len(known) if known else 0.0


def _of_seeds(row: Data, name: str) -> list[float]:
    return [seed[name] for seed in row["seeds"]]


def rank_correlation(values: list[float]) -> float:
    """Return Spearman's correlation of values with their places 0, 1, ...; values do not tie."""
    count = len(values)
    ranks = [sum(other < value for other in values) for value in values]
    apart = sum((place - rank) ** 2 for place, rank in enumerate(ranks))
    return 1 - 6 * apart / (count * (count**2 - 1))


def _kinds(results: Results) -> dict[str, list[Data]]:
    return {
        "the layout at the same N x T": _ordered(results),
        "the envs at the same T": results["stability"]["crowds"],
    }


def _directions(results: Results) -> list[Check]:
    checks = []
    for words, rows in _kinds(results).items():
        quiet, noisy = (_of_seeds(row, "cosine") for row in (rows[0], rows[-1]))
        lost = mean_of([a - b for a, b in zip(quiet, noisy, strict=True)])
        each = zip(*(_of_seeds(row, "cosine") for row in rows), strict=True)
        rank = mean_of([rank_correlation(list(some)) for some in each])
        case = {"what differs": words, "compared": "least and most noisy"}
        steps = f"cosine of successive steps, {_size(rows[0])} less {_size(rows[-1])}"
        checks.append(Check(case, steps, lost.as_dict(), low=0))
        words = "rank correlation of noise and cosine"
        checks.append(Check({**case, "compared": "all"}, words, rank.as_dict(), high=0))
    return checks


def _spread(results: Results) -> list[Check]:
    checks = []
    for words, rows in _kinds(results).items():
        noisy, quiet = (_of_seeds(row, "final_return") for row in (rows[-1], rows[0]))
        sizes = f"{_size(rows[-1])} over {_size(rows[0])}"
        quantity = f"standard deviation of the final return over seeds, {sizes}"
        ratio = spread_ratio(noisy, quiet).as_dict()
        checks.append(Check({"what differs": words}, quantity, ratio, low=1))
    return checks


def _table(results: Results) -> Figures:
    noise = [f"noise factor, update {update}" for update in results["stability"]["stages"]]
    head = ["layout", "cosine", "final return", "final return of each seed"]
    rows = [[*_outcome(row), *row["noise_factors"]] for row in _ordered(results)]
    more_envs = [_outcome(row) for row in results["stability"]["crowds"]]
    title = "CartPole-v1, layouts of 2,048 samples, the least noisy first"
    return [
        figures.table(title, [*head, *noise], rows),
        figures.table("CartPole-v1, the same T, most envs first", head, more_envs),
    ]


def _outcome(row: Data) -> list[str | Data]:
    returns = _of_seeds(row, "final_return")
    each = ", ".join(f"{value:.0f}" for value in sorted(returns))
    means = [mean_of(some).as_dict() for some in (_of_seeds(row, "cosine"), returns)]
    return [_size(row), *means, each]


def _cosines(results: Results) -> Figures:
    data = results["stability"]
    some = []
    for row in _ordered(results):
        numbers = column_means(seed["cosines"] for seed in row["seeds"])
        some.append(figures.series(_size(row), range(2, len(numbers) + 2), numbers))
    title = f"CartPole-v1, batch 2,048, {len(data['rows'][0]['seeds'])} seeds"
    y_title = "cosine of the actor's step with the next"
    return [figures.lines(title, "update", y_title, some), *_table(results)]


def _bars(results: Results) -> Figures:
    rows = _ordered(results)
    numbers = [spread_of(_of_seeds(row, "final_return")).as_dict() for row in rows]
    title = "CartPole-v1, spread of the final return over seeds, least noisy layout first"
    sizes = [_size(row) for row in rows]
    return [grouped_bars(title, sizes, "standard deviation", {"": numbers})]


def _means(data: Data, side: str) -> list[float]:
    return [sum(seed[side]["divergence"]) / len(data["at"]) for seed in data["seeds"]]


def _clipping_checks(results: Results) -> list[Check]:
    words = "KL per update, with clipping over without"
    return [
        Check(
            {"env": env_name(data["env"])},
            words,
            typical_ratio(_means(data, "with"), _means(data, "without")).as_dict(),
            high=1,
        )
        for data in results["clipping"]["envs"]
    ]


def _clipping_figures(results: Results) -> Figures:
    drawn = []
    for data in results["clipping"]["envs"]:
        numbers = {
            words: column_means(seed[side]["divergence"] for seed in data["seeds"])
            for side, words in (("with", f"clip {data['clip']}"), ("without", "no clipping"))
        }
        title = f"{env_name(data['env'])}, 16 x 128, {len(data['seeds'])} seeds"
        axes = ("update", "KL(before | after)")
        drawn.append(common_lines(title, axes, data["at"], numbers))
    return [figures.row(*drawn)]


# Float32 has seven digits; in a sum of thousands of terms that mostly cancel some are lost.
_ROUNDING = 1e-4
_EXACT = 1e-5
_AT_END = ("ratio", "cosine", "length")


def _cases(results: Results) -> list[Data]:
    return results["surrogate"]["cases"]


def _case(case: Data, **more: str) -> dict[str, str]:
    return {"env": case["env"], "stage": case["stage"], **more}


def _equality(results: Results) -> list[Check]:
    quantity = "relative difference of the loss's gradient and the mean contribution"
    return [
        Check(_case(case, advantages=word), quantity, number, high=_ROUNDING)
        for case in _cases(results)
        for word, number in case["gap"].items()
    ]


def _near_one(results: Results) -> list[Check]:
    words = "mean |ratio - 1| over the batch before the first gradient step"
    return [Check(_case(case), words, case["ratio"][0], high=_EXACT) for case in _cases(results)]


def _equality_figures(results: Results) -> Figures:
    rows = [
        [case["env"], case["stage"], str(case["updates"]), *case["gap"].values()]
        for case in _cases(results)
    ]
    head = ["env", "stage", "updates", *(f"advantages {w}" for w in _cases(results)[0]["gap"])]
    title = "|gradient of the loss + mean contribution| / |mean contribution|, layout 16x128"
    return [figures.table(title, head, rows)]


def _drawn(results: Results, stage: str, title: str, y: str, quantities: dict[str, str]) -> Row:
    steps = results["surrogate"]["looks"]
    # What is averaged over the steps between two snapshots stands in the middle of them.
    middle = [(a + b) / 2 for a, b in pairwise(steps)]
    charts = []
    for case in _cases(results):
        if case["stage"] != stage:
            continue
        some = [
            figures.series(word, steps if len(case[name]) == len(steps) else middle, case[name])
            for word, name in quantities.items()
        ]
        heading = f"{case['env']}, 16x128, {stage} ({case['updates']} updates): {title}"
        charts.append(figures.lines(heading, "gradient steps of the update", y, some))
    return figures.row(*charts)


def _near_one_figures(results: Results) -> Figures:
    quantities = {"mean |ratio - 1|": "ratio", "share outside the clip range": "clip_fraction"}
    return [
        _drawn(results, stage, "ratio and clipping", "over the whole batch", quantities)
        for stage in ("early", "late")
    ]


def direction_row(results: Results, stage: str) -> Row:
    """Draw the cosine of the gradient with G_B along an update."""
    quantities = {"whole batch": "cosine", "a mini-batch of 64": "minibatch_cosine"}
    return _drawn(results, stage, "direction", "cosine with G_B", quantities)


def _direction_figures(results: Results) -> Figures:
    return [direction_row(results, stage) for stage in ("early", "late")]


def _drift(results: Results) -> Data:
    """Return how far ratio and direction have gone by the end of an update."""
    ends = {name: [case[name][-1]["value"] for case in _cases(results)] for name in _AT_END}
    return {name: {"least": min(own), "most": max(own)} for name, own in ends.items()}


EVIDENCE = {
    "mean-of-contributions": Evidence(_equality, _equality_figures),
    "ratio-near-one": Evidence(
        _near_one,
        lambda results: [*_near_one_figures(results), *_direction_figures(results)],
        _drift,
    ),
    "noise-directions": Evidence(_directions, _cosines),
    "noise-instability": Evidence(_spread, _bars),
    "clipping-near": Evidence(_clipping_checks, _clipping_figures),
}
