"""Claims and figures of the grids on Pendulum, with the published values."""

from functools import partial
from itertools import product

from nbyt.report import figures
from nbyt.results.study import Bars, Figures, Heatmap, Lines, NumberSeries, Row, Slides, Table
from nbyt.results.values import Data
from nbyt_studies.charts import cosine_matrix, grouped_bars, known_series
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check

# Published values of the later version of the grids, on Pendulum, to stand beside ours.
#
# They are what was published, rounded as it was; nothing here was measured by us.

PUBLISHED_WITHIN = {1: -0.007, 5: -0.004, 10: -0.008, 20: -0.001}
"""Published correlation of contributions within a trajectory, by lag."""

PUBLISHED_BAND = {1: 0.02}
"""Published half width of the band around it, where one was given."""


PUBLISHED_ACROSS = 0.0
"""Published correlation of contributions of different trajectories, about, at every lag."""

PUBLISHED_COSINE = {"16x64": 0.37, "4x256": 0.36}
"""Published mean absolute cosine between batch means, by layout."""

PUBLISHED_COSINE_BY_LAMBDA = {0.0: 0.66, 1.0: 0.32}
"""Published mean absolute cosine between batch means at other lambdas; the layout is not told."""

EXPERIMENT = "pendulum-grids"
LAGS = tuple(PUBLISHED_WITHIN)
# About 0: within the published band at lag 1.
NEARLY_ZERO = 0.02
# Published: .37 and .36.
ALIKE = 0.05
_ENV = "Pendulum-v1"
_LAMBDAS = (0.0, 0.95, 1.0)
_KINDS = ("normalised", "raw")
_HISTOGRAM_LAGS = (1, 5, 10, 40)
_EDGES = tuple(round(-1 + 0.05 * place, 2) for place in range(41))


def within(results: Results) -> Figures:
    """Draw correlations within a rollout, ours and published, and histograms of cosines."""
    data = results[EXPERIMENT]
    numbers = [_banded(value, PUBLISHED_BAND.get(lag)) for lag, value in PUBLISHED_WITHIN.items()]
    extra = figures.series("published", LAGS, numbers, line=False)
    return [_by_lag(data, "within", extra), _lag_table(data), _histograms(data), _means(data)]


def across(results: Results) -> Figures:
    """Draw correlations between different envs."""
    return [_by_lag(results[EXPERIMENT], "across")]


def layouts(results: Results) -> Figures:
    """Draw matrices with a slider, mean absolute cosines over checkpoints, and the table."""
    data = results[EXPERIMENT]
    lines = [_cosines(data, layout) for layout in data["layouts"]]
    return [_matrices(data), figures.row(*lines), _cosine_table(data)]


def lambdas(results: Results) -> Figures:
    """Draw mean absolute cosines by lambda, each layout at its own policies; ours and published."""
    data = results[EXPERIMENT]
    return [figures.row(*(_bars(data, kind) for kind in _KINDS)), _cosine_table(data)]


def _by_lag(data: Data, side: str, *extra: NumberSeries) -> Lines:
    some = []
    for layout, kind in product(data["layouts"], _KINDS):
        rows = data["lags"][layout][kind][side]
        numbers = [_banded(one["value"], one["band"]) for one in rows]
        some.append(figures.series(f"{layout}, {kind}", LAGS, numbers))
    words = "within a rollout" if side == "within" else "between different envs"
    return figures.lines(
        f"{_ENV}: correlation of contributions {words}, band of {len(data['updates'])} checkpoints "
        "(2 standard deviations)",
        "lag (steps)",
        "correlation",
        [*some, *extra],
        ticks=[(float(lag), str(lag)) for lag in LAGS],
        marks=[(0.0, "")],
    )


def _banded(value: float, half: float | None) -> Data:
    return {"value": value} | ({} if half is None else {"low": value - half, "high": value + half})


def _lag_table(data: Data) -> Table:
    rows: list[list[str | Data]] = []
    for place, (lag, value) in enumerate(PUBLISHED_WITHIN.items()):
        band = f" ± {PUBLISHED_BAND[lag]:g}" if lag in PUBLISHED_BAND else ""
        for layout in data["layouts"]:
            own = data["lags"][layout]["normalised"]
            rows.append(
                [
                    str(lag),
                    layout,
                    own["within"][place],
                    f"± {own['within'][place]['band']:.3f}",
                    f"about {value:g}{band}",
                    own["across"][place],
                    f"about {PUBLISHED_ACROSS:g}",
                ]
            )
    head = ["lag", "layout", "within, ours", "band of checkpoints (2 sd)", "within, published"]
    head += ["across, ours", "across, published"]
    return figures.table(f"{_ENV}: lag correlations, ours and published", head, rows)


def _histograms(data: Data) -> Row:
    charts = []
    for layout in data["layouts"]:
        heights = data["histograms"][layout]["normalised"]["heights"]
        rows = zip(_HISTOGRAM_LAGS, heights, strict=True)
        some = [{"name": f"lag {lag}", "heights": own} for lag, own in rows]
        title = f"{_ENV}, {layout}: cosines between steps of one rollout, all checkpoints"
        charts.append(figures.histogram(title, "cosine", _EDGES, some, y_title="share of pairs"))
    return figures.row(*charts)


def _means(data: Data) -> Table:
    rows: list[list[str | Data]] = [
        [str(lag), layout, *(data["histograms"][layout][kind]["mean"][place] for kind in _KINDS)]
        for place, lag in enumerate(_HISTOGRAM_LAGS)
        for layout in data["layouts"]
    ]
    head = ["lag", "layout", *(f"mean cosine, {kind} advantages" for kind in _KINDS)]
    return figures.table(f"{_ENV}: mean cosine between steps of one rollout", head, rows)


def _matrices(data: Data) -> Slides:
    words = [f"update {update}" for update in data["updates"]]
    frames = [
        [
            figures.row(*(_matrix(data, layout, place, lam) for lam in _LAMBDAS))
            for layout in data["layouts"]
        ]
        for place in range(len(words))
    ]
    return figures.slides("pendulum-matrices", "policy after", words, frames)


def _matrix(data: Data, layout: str, place: int, lam: float) -> Heatmap:
    one = data["checkpoints"][layout][place]
    values = one["cosines"][layout][f"normalised, lambda {lam:g}"]["matrix"]
    title = f"{_ENV}, {layout}, update {one['update']}, lambda {lam:g}: cosines between batch means"
    return cosine_matrix(title, values)


def _cosines(data: Data, layout: str) -> Lines:
    numbers = [
        one["cosines"][layout]["normalised, lambda 0.95"] for one in data["checkpoints"][layout]
    ]
    words = {
        "absolute": "absolute",
        "cosine": "with its sign",
        "expected": "|E G|²/(|E G|²+V)",
        "noise": "absolute, noise alone",
    }
    some = [
        known_series(name, data["updates"], [one[key] for one in numbers])
        for key, name in words.items()
    ]
    floor = [{"value": one["floor"]} for one in numbers]
    some.append(figures.series("absolute, random directions", data["updates"], floor))
    title = f"{_ENV}, {layout}, lambda .95: mean cosine between different batches' means"
    return figures.lines(title, "update", "cosine", some, marks=[(0.0, "")])


def _cosine_table(data: Data) -> Table:
    rows: list[list[str | Data]] = []
    for layout in data["layouts"]:
        for kind in _KINDS:
            for lam in _LAMBDAS:
                one = data["cosines"][layout][f"{kind}, lambda {lam:g}"][layout]
                order = ("absolute", "noise", "floor", "cosine", "expected")
                numbers = [one[key] for key in order]
                known = _published(layout, lam)
                rows.append([layout, f"{lam:g}", kind, numbers[0], known, *numbers[1:]])
    head = ["layout", "lambda", "advantages", "mean absolute cosine, ours", "published"]
    head += ["absolute, noise alone", "absolute, random directions"]
    head += ["mean cosine", "|E G|²/(|E G|²+V)"]
    title = f"{_ENV}: cosines between batch means, over the checkpoints of the layout's own run"
    return figures.table(title, head, rows)


def _published(layout: str, lam: float) -> str:
    if lam in PUBLISHED_COSINE_BY_LAMBDA:
        return f"{PUBLISHED_COSINE_BY_LAMBDA[lam]:g} (layout not told)"
    return f"{PUBLISHED_COSINE[layout]:g}" if layout in PUBLISHED_COSINE else "none"


def _bars(data: Data, kind: str) -> Bars:
    keys = [f"{kind}, lambda {lam:g}" for lam in _LAMBDAS]
    numbers = {
        words: [data["cosines"][layout][key][layout][what] for key in keys]
        for layout in data["layouts"]
        for what, words in (("absolute", layout), ("noise", f"{layout}, noise alone"))
    }
    title = f"{_ENV}, {kind} advantages: mean absolute cosine between different batches' means"
    lambdas = [f"lambda {lam:g}" for lam in _LAMBDAS]
    return grouped_bars(title, lambdas, "mean absolute cosine", numbers)


def _lag_checks(side: str, words: str, results: Results) -> list[Check]:
    lags = results[EXPERIMENT]["lags"]
    return [
        Check(
            {"layout": layout, "advantages": kind, "lag": str(lag)},
            f"correlation of contributions {words}, {lag} steps apart",
            {key: value for key, value in lags[layout][kind][side][place].items() if key != "band"},
            low=-NEARLY_ZERO,
            high=NEARLY_ZERO,
        )
        for layout in lags
        for kind in _KINDS
        for place, lag in enumerate(LAGS)
    ]


def _layout_checks(results: Results) -> list[Check]:
    cosines = results[EXPERIMENT]["cosines"]
    words = "mean absolute cosine between batch means, 16x64 less 4x256"
    return [
        Check(
            {"policy trained with": own, "advantages": kind},
            words,
            cosines[own][f"{kind}, lambda 0.95"]["difference"],
            low=-ALIKE,
            high=ALIKE,
        )
        for own in cosines
        for kind in _KINDS
    ]


def _lambda_checks(results: Results) -> list[Check]:
    cosines = results[EXPERIMENT]["cosines"]
    words = "mean absolute cosine between batch means, lambda 0 less lambda 1"
    return [
        Check(
            {"policy trained with": own, "layout": layout, "advantages": kind},
            words,
            number,
            low=0.0,
        )
        for own in cosines
        for kind in _KINDS
        for layout, number in cosines[own]["0 less 1"][kind].items()
    ]


def _layout_values(results: Results) -> Data:
    data = results[EXPERIMENT]
    return {"random": _floors(data, "floor"), "noise": _floors(data, "noise")}


def _floors(data: Data, what: str) -> str:
    floors = [
        one[layout][what]["value"]
        for own in data["cosines"].values()
        for key, one in own.items()
        if key != "0 less 1"
        for layout in data["layouts"]
    ]
    return f"{min(floors):.2f} to {max(floors):.2f}"


EVIDENCE = {
    "pendulum-lags-within": Evidence(partial(_lag_checks, "within", "in one rollout"), within),
    "pendulum-lags-across": Evidence(partial(_lag_checks, "across", "of different envs"), across),
    "pendulum-layouts-agree-alike": Evidence(_layout_checks, layouts, _layout_values),
    "pendulum-lambda": Evidence(_lambda_checks, lambdas),
}
