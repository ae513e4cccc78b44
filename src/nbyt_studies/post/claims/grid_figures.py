"""Figures of the grids on FrozenLake."""

from collections.abc import Sequence
from itertools import chain

from nbyt.report import figures
from nbyt.results.values import Data

_ENV = "FrozenLake 8x8"
_LEANINGS = {
    "own": "its own batch",
    "without_step": "its batch without itself",
    "without_env": "its batch without its rollout",
    "other": "another batch",
}


def agreement(data: Data) -> list[Data]:
    """The grid with its slider, mean cosines over the updates, and the exact numbers."""
    return [_grid(data), figures.row(*_cosines(data)), _table(data)]


def leanings(data: Data) -> list[Data]:
    """Mean cosine of samples with four means, over the updates, one chart for each layout."""
    return [figures.row(*(_leanings(data, layout) for layout in data["layouts"]))]


def shares(data: Data) -> list[Data]:
    """How far samples are nearer to the rest of their batch than to another batch."""
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


def episodes(data: Data) -> Data:
    """Cosines along an episode, with a slider over the updates."""
    words = [f"update {update}" for update in data["updates"]]
    frames = [
        [figures.row(*(_episode(data, own, place) for own in data["layouts"]))]
        for place in range(len(words))
    ]
    return figures.slides("lake-episodes", "policy after", words, frames, start=-1)


def _episode(data: Data, own: str, place: int) -> Data:
    stage = data["trainings"][own]["stages"][place]
    found = stage["episode"]
    some = [
        determined(words, found["position"], found[key])
        for key, words in (("with", "with itself"), ("without", "without itself"))
    ]
    return figures.lines(
        f"{_ENV}, trained with {own}, update {stage['update']}: a step and its episode's mean",
        "position in the episode (steps)",
        "cosine, mean over episodes",
        some,
        marks=[(0.0, "")],
    )


def _grid(data: Data) -> Data:
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
    """How many batches' means the samples are held against."""
    training = next(iter(data["trainings"].values()))
    return len(training["stages"][0]["grid"]["cosine"])


def _points(data: Data, place: int, number: int, span: tuple[float, float]) -> Data:
    """Batch 0's samples against the mean of one batch, the layouts beside each other."""
    found = {one: data["trainings"][one]["stages"][place] for one in data["layouts"]}
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
            for layout, stage in found.items()
        )
    )


def _known(norm: list[float], cosine: list[float | None]) -> Data:
    """The samples that have a cosine; none has one with a mean of 0."""
    pairs = [(x, y) for x, y in zip(norm, cosine, strict=True) if y is not None]
    return {"name": "", "x": [x for x, _ in pairs], "y": [y for _, y in pairs]}


def _span(data: Data) -> tuple[float, float]:
    """The norms of all grids, so that every picture has the same axis."""
    stages = chain.from_iterable(one["stages"] for one in data["trainings"].values())
    norms = list(chain.from_iterable(one["grid"]["norm"] for one in stages))
    return (min(norms), max(norms)) if norms else (0.1, 1.0)


def _matrix(data: Data, layout: str, place: int) -> Data:
    stage = data["trainings"][layout]["stages"][place]
    names = [str(number) for number in range(len(stage["grid"]["matrix"]))]
    return figures.heatmap(
        f"{layout}, update {stage['update']}: cosines between batch means",
        stage["grid"]["matrix"],
        "cosine",
        rows=names,
        columns=names,
        low=-1.0,
        high=1.0,
        written=True,
    )


def _cosines(data: Data) -> list[Data]:
    """For each policy, the mean cosine between batches of both layouts, measured and exact."""
    found = []
    for own, training in data["trainings"].items():
        some = []
        for layout in data["layouts"]:
            numbers = [one["agreement"][layout]["cosine"] for one in training["stages"]]
            some.append(determined(f"{layout}, measured", data["updates"], numbers))
            exact = [
                one for one in data["exact"] if (one["trained"], one["layout"]) == (own, layout)
            ]
            values = [{"value": one["expected"]} for one in exact]
            x = [one["update"] for one in exact]
            some.append(figures.series(f"{layout}, exact", x, values, line=False))
        title = f"{_ENV}, trained with {own}: mean cosine between different batches' means"
        found.append(figures.lines(title, "update", "cosine", some, marks=[(0.0, "")]))
    return found


def _table(data: Data) -> Data:
    """Exact numbers beside measured ones: what each cosine stands for."""
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
                _exactly(one["expected"]),
                measured["cosine"],
            ]
        )
    head = ["policy", "layout", "|E G|², exact", "variance, exact", "variance, measured"]
    head += ["cosine to expect, exact", "mean cosine, measured"]
    return figures.table(f"{_ENV}: the variance that a cosine stands for", head, rows)


def _exactly(value: float) -> Data:
    return {"value": value, "low": value, "high": value}


def _leanings(data: Data, layout: str) -> Data:
    some = [_over_updates(data, words, layout, key) for key, words in _LEANINGS.items()]
    return figures.lines(
        f"{_ENV}, {layout}: a sample's mean cosine with the mean of ...",
        "update",
        "cosine",
        some,
        marks=[(0.0, "")],
    )


def _over_updates(data: Data, name: str, layout: str, key: str) -> Data:
    """One of the leanings at every update."""
    numbers = [one["leanings"][key] for one in data["trainings"][layout]["stages"]]
    return determined(name, data["updates"], numbers)


def determined(name: str, x: Sequence[float], numbers: Sequence[Data]) -> Data:
    """A series of those numbers that have a value."""
    known = [(at, one) for at, one in zip(x, numbers, strict=True) if one["value"] is not None]
    return figures.series(name, [at for at, _ in known], [one for _, one in known])
