"""Claims that visited states change with the policy, and less so at the end of a run."""

from functools import partial
from typing import Any

from nbyt.report import figures
from nbyt.results.study import Figures, Lines, NumberSeries, Slides
from nbyt.results.values import Data
from nbyt.stats import Estimate
from nbyt_studies.numbers import mean_of, ratio_of_means, shortened, typical_ratio
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check

NEEDS = ("visits-lake", "visits-cartpole", "visits-pendulum")
NAMES = {
    "tabular:FrozenLake8x8-v1": "FrozenLake 8x8",
    "gymnax:CartPole-v1": "CartPole-v1",
    "gymnax:Pendulum-v1": "Pendulum-v1",
}


# A visited state in a hundred is another.
_NOTABLE = 0.01
# To become small is at least to halve.
_SMALL = 0.5


def span(data: Data, name: str, when: str) -> list[float]:
    """Return the mean of a column over the early or late updates, for each seed."""
    means = []
    for seed in data["seeds"]:
        values = [
            number["value"]
            for u, number in zip(seed["at"], seed[name], strict=True)
            if u in data[when]
        ]
        means.append(sum(values) / len(values))
    return means


def is_table(data: Data) -> bool:
    """Return whether its state distributions were calculated."""
    return data["env"].startswith("tabular:")


def late_over_early(data: Data, name: str) -> Estimate:
    """Estimate late over early numbers; only a sampled distance may come out below 0."""
    sampled = name == "distance" and not is_table(data)
    ratio = ratio_of_means if sampled else typical_ratio
    return ratio(span(data, name, "late"), span(data, name, "early"))


def _shift_checks(results: Results) -> list[Check]:
    checks = []
    for name in NEEDS:
        data = results[name]
        distances, floors = (span(data, column, "early") for column in ("distance", "floor"))
        above = [distance - floor for distance, floor in zip(distances, floors, strict=True)]
        words = "total variation" if is_table(data) else "energy distance above the floor"
        number = mean_of(above).as_dict()
        # Any step of a table's weights moves an exact distance a little: that is no shift.
        least = _NOTABLE if is_table(data) else 0.0
        checks.append(Check({"env": NAMES[data["env"]]}, f"early {words}", number, low=least))
    return checks


def curves(data: Data, title: str, some: list[NumberSeries]) -> Lines:
    """Draw columns of the first seed along its updates."""
    return figures.lines(
        f"{NAMES[data['env']]}, {data['layout']}, seed 0", "update", title, some, log_x=True
    )


def column(data: Data, name: str, words: str) -> NumberSeries:
    """Return one column of the first seed."""
    first = data["seeds"][0]
    return figures.series(words, first["at"], first[name])


def returns(data: Data) -> Lines:
    """Draw the return curve of the first seed."""
    seen = data["returns"]
    numbers = [{"value": value} for value in seen["value"]]
    return curves(data, "mean return of episodes", [figures.series("", seen["update"], numbers)])


def _distances(data: Data) -> Lines:
    words = "total variation" if is_table(data) else "energy distance"
    some = [column(data, "distance", "from one update to the next")]
    if not is_table(data):
        some.append(column(data, "floor", "floor: the same policy twice"))
    return curves(data, words, some)


def _maps(data: Data) -> Slides:
    first = data["seeds"][0]
    most = max(max(law) for law in first["maps"])
    frames = [
        [
            figures.heatmap(
                f"FrozenLake 8x8, 16 x 128, after update {u}: share of steps in each cell",
                [law[row * 8 : row * 8 + 8] for row in range(8)],
                "share of steps",
                low=0.0,
                high=most,
            )
        ]
        for u, law in zip(first["at"], first["maps"], strict=True)
    ]
    words = [str(u) for u in first["at"]]
    return figures.slides("visits-lake", "after update", words, frames)


def _figures(results: Results) -> Figures:
    rows = [figures.row(_distances(results[name]), returns(results[name])) for name in NEEDS]
    return [_maps(results["visits-lake"]), *rows]


def _ratios(results: Results) -> Figures:
    rows = []
    for data in (results[name] for name in NEEDS):
        spans = [shortened(span(data, "distance", when), 2) for when in ("early", "late")]
        rows.append([NAMES[data["env"]], *(", ".join(map(str, values)) for values in spans)])
    return [figures.table("Distance per update, seed by seed", ["env", "early", "late"], rows)]


def _convergence_checks(name: str, words: str, results: Results) -> list[Check]:
    return [
        Check(
            {"env": NAMES[data["env"]]},
            f"{words}, late over early",
            late_over_early(data, name).as_dict(),
            high=_SMALL,
        )
        for data in (results[need] for need in NEEDS)
    ]


def _convergence_figures(name: str, words: str, results: Results) -> Figures:
    measured = [results[need] for need in NEEDS]
    return [figures.row(*(curves(data, words, [column(data, name, "")]) for data in measured))]


def _comparison(results: Results) -> Figures:
    rows: list[list[Any]] = []
    for need in NEEDS:
        data = results[need]
        names = ("divergence", "step", "distance")
        ratios = [late_over_early(data, name).as_dict() for name in names]
        kind = "total variation" if is_table(data) else "energy distance"
        rows.append([NAMES[data["env"]], *ratios, kind])
    head = ["env", "KL", "length of the step", "distance of what is visited", "measured as"]
    return [figures.table("Late over early, per update", head, rows)]


def _policy_figures(results: Results) -> Figures:
    return [
        *_convergence_figures("divergence", "KL(before | after)", results),
        *_comparison(results),
    ]


_STEP = ("step", "length of the actor's step")

EVIDENCE = {
    "visits-shift": Evidence(_shift_checks, _figures),
    "visits-settle": Evidence(
        partial(_convergence_checks, "distance", "distance per update"), _ratios
    ),
    "convergence-policy": Evidence(
        partial(_convergence_checks, "divergence", "KL per update"), _policy_figures
    ),
    "convergence-step": Evidence(
        partial(_convergence_checks, *_STEP), partial(_convergence_figures, *_STEP)
    ),
}
