"""Claims and figures of the grids on FrozenLake: how far batches agree on a direction."""

from collections.abc import Sequence
from functools import partial
from itertools import chain

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.numbers import exact_number
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check

_ENV = "FrozenLake 8x8"
_LEANINGS = {
    "own": "its own batch",
    "without_step": "its batch without itself",
    "without_env": "its batch without its rollout",
    "other": "another batch",
}


def agreement(data: Data) -> list[Data]:
    """Draw the grid with its slider, mean cosines over the updates, and the exact numbers."""
    return [_grid(data), figures.row(*_cosines(data)), _table(data)]


def leanings(data: Data) -> list[Data]:
    """Draw mean cosines of samples with four means over the updates, a chart for each layout."""
    return [figures.row(*(_leanings(data, layout) for layout in data["layouts"]))]


def shares(data: Data) -> list[Data]:
    """Draw how much nearer samples are to the rest of their batch than to another batch."""
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
    """Draw cosines along an episode, with a slider over the updates."""
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
    training = next(iter(data["trainings"].values()))
    return len(training["stages"][0]["grid"]["cosine"])


def _points(data: Data, place: int, number: int, span: tuple[float, float]) -> Data:
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
    pairs = [(x, y) for x, y in zip(norm, cosine, strict=True) if y is not None]
    return {"name": "", "x": [x for x, _ in pairs], "y": [y for _, y in pairs]}


def _span(data: Data) -> tuple[float, float]:
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
    numbers = [one["leanings"][key] for one in data["trainings"][layout]["stages"]]
    return determined(name, data["updates"], numbers)


def determined(name: str, x: Sequence[float], numbers: Sequence[Data]) -> Data:
    """Return a series of those numbers that have a value."""
    known = [(at, one) for at, one in zip(x, numbers, strict=True) if one["value"] is not None]
    return figures.series(name, [at for at, _ in known], [one for _, one in known])


TOPIC = "Batch against batch"
EXPERIMENT = "grids"
# About 0: what a correlation of .02, the published band at lag 1, would still be called.
NEARLY_ZERO = 0.02
# Steps that correlate by .02 have a cosine of .1 with the mean of 100 others:
# 100 x .02 / sqrt(100 + 100 x 99 x .02) = .12.
WEAK = 0.1

_MEASURED = (
    "FrozenLake 8x8, slippery, a table policy trained for 1,500 updates with 4x32 and another with "
    "32x4 (gamma .99, lambda .95, step size .003). At every 100th update 64 fresh, independent "
    "batches of 128 samples of the frozen policy, from random phases of an episode; five of them "
    "are drawn. Contributions are the advantages as they are times the scores."
)


def _agreement_checks(results: Results) -> list[Check]:
    data = results[EXPERIMENT]
    few, many = data["layouts"]
    found = [
        Check(
            {"policy trained with": own, "number": "measured, mean over the updates"},
            f"mean cosine between batch means, {many} less {few}",
            training["gain"],
            low=0.0,
        )
        for own, training in data["trainings"].items()
    ]
    return found + [
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


def _agreement_notes(results: Results) -> list[str]:
    data = results[EXPERIMENT]
    most = max(one["expected"] for one in data["exact"])
    least = min(one["mean_square"] / one["variance"] for one in data["exact"])
    shares = [abs(one["covariance_share"]) for one in data["exact"]]
    return [
        "A cosine shows direction only; it discards length. Two independent batch gradients with "
        "mean E G and variance V have a cosine of about |E G|² / (|E G|² + V): it tells how noise "
        "compares with the mean, not how large either is, and two long gradients that agree look "
        "the same as two short ones. The table has the variance that each cosine stands for.",
        f"At 128 samples hardly anything is shared: no exact value is above {most:.3f}, and the "
        f"squared mean is as little as {least:.4f} of the variance. One grid of five batches "
        "cannot show which layout agrees better.",
        "Why 4x32 agrees less is not seen in a grid: the covariance between steps makes up at most "
        f"{100 * max(shares):.1f} % of the variance in any exact case. It is the single "
        "contributions that are noisier where a longer rollout lets advantages look further.",
        _left_out(data),
        "A first run had been looked at when it was decided to take all updates together: a single "
        "update's 64 batches mostly leave the sign of the difference open.",
    ]


def _left_out(data: Data) -> str:
    words = []
    for own, training in data["trainings"].items():
        counts = {one["update"]: one["grid"]["left_out"] for one in training["stages"]}
        some = [f"{count} at update {update}" for update, count in counts.items() if count]
        words.append(f"{own}: {', '.join(some) or 'none'}")
    return (
        "Samples of batch 0 whose contribution is 0 have no direction and are left out of the "
        f"points ({'; '.join(words)}): until the goal is met first, a critic of 0 and rewards of 0 "
        "give no advantage at all."
    )


def _by_stage(results: Results, key: str, words: str, **bounds: float) -> list[Check]:
    data = results[EXPERIMENT]
    return [
        Check(
            {"layout": own, "update": str(one["update"])},
            f"cosine of a sample with {words}",
            one["leanings"][key],
            **bounds,
        )
        for own, training in data["trainings"].items()
        for one in training["stages"]
    ]


_share_notes = always(
    "The first picture of each row of the grid holds batch 0 against itself. It is not like "
    "the other four: every sample is in that mean with a share of 1/128. Among 128 "
    "contributions of equal length that point anywhere, this alone gives a cosine of about "
    "1/√128 = .09. Two batches make one replicate here, so that replicates share nothing."
)


_bound_notes = always(
    "The bound is the published band of lag correlations. A first run had been looked at when "
    "it was taken over for this claim."
)


def _episode_checks(results: Results) -> list[Check]:
    data = results[EXPERIMENT]
    words = "cosine of a step with the mean of its episode's other steps"
    return [
        Check(
            {"policy trained with": own, "update": str(one["update"])},
            words,
            one["episode"]["mean_without"],
            low=WEAK,
        )
        for own, training in data["trainings"].items()
        for one in training["stages"]
    ]


def _episode_notes(results: Results) -> list[str]:
    data = results[EXPERIMENT]
    stages = [
        one["episode"] for training in data["trainings"].values() for one in training["stages"]
    ]
    left, steps = (sum(one[key] for one in stages) for key in ("left_out", "steps"))
    return [
        "With the step itself in the mean, the cosine falls with the length of the episode, as one "
        "share among more and more does; that line says nothing about what steps have in common.",
        f"{left} of {steps} steps have a contribution of 0 and are left out.",
        "A first run had been looked at when the bound of .1 was set.",
    ]


_claim = partial(Claim, topic=TOPIC, needs=(EXPERIMENT,))

CLAIMS = (
    _claim(
        id="grids-more-envs-agree",
        says="Batches from many envs with few steps each agree better on a direction than batches "
        "of the same size from few envs with many steps.",
        measured=_MEASURED
        + " Both layouts are measured at every policy. The exact oracle gives |E G|² / (|E G|² + V)"
        " at three updates, time limit included.",
        asks="The mean cosine between different batches' means at 32x4 less that at 4x32, at one "
        "policy, is above 0: measured over all updates, and exact at some.",
        checks=_agreement_checks,
        figures=lambda results: agreement(results[EXPERIMENT]),
        notes=_agreement_notes,
    ),
    _claim(
        id="grids-own-batch",
        says="A batch's samples lean towards their own batch's mean more than towards another's.",
        measured=_MEASURED,
        asks="A sample's cosine with the mean of its own batch less that with another batch's "
        "mean, averaged over samples, is above 0 at every update.",
        checks=partial(
            _by_stage, key="own_less_other", words="its own batch's mean less another's", low=0.0
        ),
        figures=lambda results: leanings(results[EXPERIMENT]),
        notes=_share_notes,
    ),
    _claim(
        id="grids-own-share",
        says="That lean is a sample's own share in the mean: to the rest of its batch a sample is "
        "no nearer than to another batch, although the rest holds steps of the same rollout.",
        measured=_MEASURED,
        asks="The same difference with the sample taken out of its batch's mean is between -.02 "
        "and .02 at every update.",
        checks=partial(
            _by_stage,
            key="without_step_less_other",
            words="the mean of the rest of its batch less another batch's mean",
            low=-NEARLY_ZERO,
            high=NEARLY_ZERO,
        ),
        figures=lambda results: shares(results[EXPERIMENT]),
        notes=_bound_notes,
    ),
    _claim(
        id="grids-along-an-episode",
        says="All along an episode, steps point the way that their episode points as a whole.",
        measured="128 whole episodes of each of those policies, from the start; each step against "
        "the mean of its own episode, with and without itself. The unit is the episode.",
        asks="A step's cosine with the mean of its episode's other steps is at least .1, which the "
        "steps of a 100-step episode reach if any two of them correlate by .02.",
        checks=_episode_checks,
        figures=lambda results: [episodes(results[EXPERIMENT])],
        notes=_episode_notes,
    ),
)
