"""Claims and figures of the grids on FrozenLake: how far batches agree on a direction."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from math import inf

from nbyt.report import figures
from nbyt.results.study import Figures, Heatmap, Lines, NumberSeries, Row, Slides, Table
from nbyt.results.values import Data
from nbyt_studies.charts import cosine_matrix, known_series
from nbyt_studies.numbers import exact_number
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check

EXPERIMENT = "grids"
# About 0: what a correlation of .02, the published band at lag 1, would still be called.
NEARLY_ZERO = 0.02
# Steps that correlate by .02 have a cosine of .1 with the mean of 100 others:
# 100 x .02 / sqrt(100 + 100 x 99 x .02) = .12.
WEAK = 0.1
_ENV = "FrozenLake 8x8"
_LEANINGS = {
    "own": "its own batch",
    "without_step": "its batch without itself",
    "without_env": "its batch without its rollout",
    "other": "another batch",
}


def agreement(results: Results) -> Figures:
    """Draw the grid with its slider, mean cosines over the updates, and the exact numbers."""
    data = results[EXPERIMENT]
    return [_grid(data), figures.row(*_cosines(data)), _table(data)]


def leanings(results: Results) -> Figures:
    """Draw mean cosines of samples with four means over the updates, a chart for each layout."""
    data = results[EXPERIMENT]
    return [figures.row(*(_leanings(data, layout) for layout in data["layouts"]))]


def shares(results: Results) -> Figures:
    """Draw how much nearer samples are to the rest of their batch than to another batch."""
    data = results[EXPERIMENT]
    keys = {
        "without_step_less_other": "less the sample",
        "without_env_less_other": "less its rollout",
    }
    some = [
        _over_updates(data, f"{layout}: {words}", layout, key)
        for layout in data["layouts"]
        for key, words in keys.items()
    ]
    title = f"{_ENV}: cosine with what is left of the own batch, less that with another batch"
    return [figures.lines(title, "update", "difference of cosines", some, marks=[(0.0, "none")])]


def episodes(results: Results) -> Figures:
    """Draw cosines along an episode, with a slider over the updates."""
    data = results[EXPERIMENT]
    words = [f"update {update}" for update in data["updates"]]
    frames = [
        [figures.row(*(_episode(data, own, place) for own in data["layouts"]))]
        for place in range(len(words))
    ]
    return [figures.slides("lake-episodes", "policy after", words, frames, start=-1)]


def _episode(data: Data, own: str, place: int) -> Lines:
    stage = data["trainings"][own]["stages"][place]
    numbers = stage["episode"]
    some = [
        known_series(words, numbers["position"], numbers[key])
        for key, words in (("with", "with itself"), ("without", "without itself"))
    ]
    title = f"{_ENV}, trained with {own}, update {stage['update']}: a step and its episode's mean"
    axes = ("position in the episode (steps)", "cosine, mean over episodes")
    return figures.lines(title, *axes, some, marks=[(0.0, "")])


def _grid(data: Data) -> Slides:
    words = [f"update {update}" for update in data["updates"]]
    span = _span(data)
    frames = []
    for place in range(len(words)):
        pairs = [_points(data, place, number, span) for number in range(_batches(data))]
        frames.append(
            [*pairs, figures.row(*(_matrix(data, one, place) for one in data["layouts"]))]
        )
    return figures.slides("lake-grid", "policy after", words, frames, start=-1)


def _batches(data: Data) -> int:
    training = next(iter(data["trainings"].values()))
    return len(training["stages"][0]["grid"]["cosine"])


def _points(data: Data, place: int, number: int, span: tuple[float, float]) -> Row:
    measured = {one: data["trainings"][one]["stages"][place] for one in data["layouts"]}
    return figures.row(
        *(
            figures.points(
                f"{layout}, update {stage['update']}: batch 0 against batch {number}",
                "norm of the contribution",
                f"cosine with the mean of batch {number}",
                [_known(stage["grid"]["norm"], stage["grid"]["cosine"][number])],
                log_x=True,
                x_range=span,
                y_range=(-1.0, 1.0),
            )
            for layout, stage in measured.items()
        )
    )


def _known(norm: list[float], cosine: list[float | None]) -> Data:
    pairs = [(x, y) for x, y in zip(norm, cosine, strict=True) if y is not None]
    return {"name": "", "x": [x for x, _ in pairs], "y": [y for _, y in pairs]}


def _span(data: Data) -> tuple[float, float]:
    stages = chain.from_iterable(one["stages"] for one in data["trainings"].values())
    norms = list(chain.from_iterable(one["grid"]["norm"] for one in stages))
    return (min(norms), max(norms)) if norms else (0.1, 1.0)


def _matrix(data: Data, layout: str, place: int) -> Heatmap:
    stage = data["trainings"][layout]["stages"][place]
    title = f"{layout}, update {stage['update']}: cosines between batch means"
    return cosine_matrix(title, stage["grid"]["matrix"])


def _cosines(data: Data) -> list[Lines]:
    charts = []
    for own, training in data["trainings"].items():
        some = []
        for layout in data["layouts"]:
            numbers = [one["agreement"][layout]["cosine"] for one in training["stages"]]
            some.append(known_series(f"{layout}, measured", data["updates"], numbers))
            exact = [
                one for one in data["exact"] if (one["trained"], one["layout"]) == (own, layout)
            ]
            values = [{"value": one["expected"]} for one in exact]
            x = [one["update"] for one in exact]
            some.append(figures.series(f"{layout}, exact", x, values, line=False))
        title = f"{_ENV}, trained with {own}: mean cosine between different batches' means"
        charts.append(figures.lines(title, "update", "cosine", some, marks=[(0.0, "")]))
    return charts


def _table(data: Data) -> Table:
    rows = []
    for one in data["exact"]:
        stages = data["trainings"][one["trained"]]["stages"]
        stage = next(s for s in stages if s["update"] == one["update"])
        measured = stage["agreement"][one["layout"]]
        rows.append(
            [
                f"{one['trained']}, update {one['update']}",
                one["layout"],
                f"{one['mean_square']:.2e}",
                f"{one['variance']:.2e}",
                f"{measured['variance']:.2e}",
                exact_number(one["expected"]),
                measured["cosine"],
            ]
        )
    head = ["policy", "layout", "|E G|², exact", "variance, exact", "variance, measured"]
    head += ["cosine to expect, exact", "mean cosine, measured"]
    return figures.table(f"{_ENV}: the variance that a cosine stands for", head, rows)


def _leanings(data: Data, layout: str) -> Lines:
    some = [_over_updates(data, words, layout, key) for key, words in _LEANINGS.items()]
    title = f"{_ENV}, {layout}: a sample's mean cosine with the mean of ..."
    return figures.lines(title, "update", "cosine", some, marks=[(0.0, "")])


def _over_updates(data: Data, name: str, layout: str, key: str) -> NumberSeries:
    numbers = [one["leanings"][key] for one in data["trainings"][layout]["stages"]]
    return known_series(name, data["updates"], numbers)


def _agreement_checks(results: Results) -> list[Check]:
    data = results[EXPERIMENT]
    few, many = data["layouts"]
    checks = [
        Check(
            {"policy trained with": own, "number": "measured, mean over the updates"},
            f"mean cosine between batch means, {many} less {few}",
            training["gain"],
            low=0.0,
        )
        for own, training in data["trainings"].items()
    ]
    return checks + [
        Check(
            {"policy trained with": own, "number": f"exact, update {update}"},
            f"cosine to expect of two batches, {many} less {few}",
            exact_number(gain),
            low=0.0,
        )
        for own, update, gain in _exact_gains(data)
    ]


def _exact_gains(data: Data) -> list[tuple[str, int, float]]:
    few, many = data["layouts"]
    known = {
        (one["trained"], one["update"], one["layout"]): one["expected"] for one in data["exact"]
    }
    places = [(own, update) for own, update, layout in known if layout == few]
    return [
        (own, update, known[own, update, many] - known[own, update, few]) for own, update in places
    ]


def _agreement_values(results: Results) -> Data:
    data = results[EXPERIMENT]
    shares = [abs(one["covariance_share"]) for one in data["exact"]]
    return {
        "most": max(one["expected"] for one in data["exact"]),
        "least": min(one["mean_square"] / one["variance"] for one in data["exact"]),
        "covariance": 100 * max(shares),
        "left_out": _left_out(data),
    }


def _left_out(data: Data) -> str:
    words = []
    for own, training in data["trainings"].items():
        counts = {one["update"]: one["grid"]["left_out"] for one in training["stages"]}
        some = [f"{count} at update {update}" for update, count in counts.items() if count]
        words.append(f"{own}: {', '.join(some) or 'none'}")
    return "; ".join(words)


def _stages(results: Results) -> Iterator[tuple[str, Data]]:
    for layout, training in results[EXPERIMENT]["trainings"].items():
        for stage in training["stages"]:
            yield layout, stage


def _by_stage(key: str, words: str, low: float, high: float, results: Results) -> list[Check]:
    quantity = f"cosine of a sample with {words}"
    return [
        Check(
            {"layout": layout, "update": str(stage["update"])},
            quantity,
            stage["leanings"][key],
            low,
            high,
        )
        for layout, stage in _stages(results)
    ]


def _episode_checks(results: Results) -> list[Check]:
    words = "cosine of a step with the mean of its episode's other steps"
    return [
        Check(
            {"policy trained with": layout, "update": str(stage["update"])},
            words,
            stage["episode"]["mean_without"],
            low=WEAK,
        )
        for layout, stage in _stages(results)
    ]


def _episode_values(results: Results) -> Data:
    return {
        key: sum(stage["episode"][key] for _, stage in _stages(results))
        for key in ("left_out", "steps")
    }


_OWN = ("own_less_other", "its own batch's mean less another's", 0.0, inf)
_REST = "the mean of the rest of its batch less another batch's mean"
_WITHOUT = ("without_step_less_other", _REST, -NEARLY_ZERO, NEARLY_ZERO)

EVIDENCE = {
    "grids-more-envs-agree": Evidence(_agreement_checks, agreement, _agreement_values),
    "grids-own-batch": Evidence(partial(_by_stage, *_OWN), leanings),
    "grids-own-share": Evidence(partial(_by_stage, *_WITHOUT), shares),
    "grids-along-an-episode": Evidence(_episode_checks, episodes, _episode_values),
}
