"""Figures of the grids on Pendulum, with what was published beside what we measured."""

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.post.claims.grid_figures import determined

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


_ENV = "Pendulum-v1"
_LAMBDAS = (0.0, 0.95, 1.0)
_KINDS = ("normalised", "raw")
_HISTOGRAM_LAGS = (1, 5, 10, 40)
_EDGES = tuple(round(-1 + 0.05 * place, 2) for place in range(41))


def within(data: Data) -> list[Data]:
    """Correlations within a rollout, ours and published, and histograms of cosines."""
    numbers = [_banded(value, PUBLISHED_BAND.get(lag)) for lag, value in PUBLISHED_WITHIN.items()]
    extra = figures.series("published", list(PUBLISHED_WITHIN), numbers, line=False)
    return [_by_lag(data, "within", [extra]), _lag_table(data), _histograms(data), _means(data)]


def across(data: Data) -> list[Data]:
    """Correlations between different envs."""
    return [_by_lag(data, "across", [])]


def layouts(data: Data) -> list[Data]:
    """Matrices with a slider, mean absolute cosines over checkpoints, and the table."""
    lines = [_cosines(data, layout) for layout in data["layouts"]]
    return [_matrices(data), figures.row(*lines), _cosine_table(data)]


def lambdas(data: Data) -> list[Data]:
    """Mean absolute cosines by lambda, each layout at its own policies; ours and published."""
    return [figures.row(*(_bars(data, kind) for kind in _KINDS)), _cosine_table(data)]


def _by_lag(data: Data, side: str, extra: list[Data]) -> Data:
    """Means over checkpoints by lag; the bands are those of single checkpoints, as published."""
    lags = list(PUBLISHED_WITHIN)
    some = [
        figures.series(
            f"{layout}, {kind}",
            lags,
            [_banded(one["value"], one["band"]) for one in data["lags"][layout][kind][side]],
        )
        for layout in data["layouts"]
        for kind in _KINDS
    ]
    words = "within a rollout" if side == "within" else "between different envs"
    return figures.lines(
        f"{_ENV}: correlation of contributions {words}, band of {len(data['updates'])} checkpoints "
        "(2 standard deviations)",
        "lag (steps)",
        "correlation",
        [*some, *extra],
        ticks=[(float(lag), str(lag)) for lag in lags],
        marks=[(0.0, "")],
    )


def _banded(value: float, half: float | None) -> Data:
    """A value with the band around it, where there is one."""
    return {"value": value} | ({} if half is None else {"low": value - half, "high": value + half})


def _lag_table(data: Data) -> Data:
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


def _histograms(data: Data) -> Data:
    return figures.row(
        *(
            figures.histogram(
                f"{_ENV}, {layout}: cosines between steps of one rollout, all checkpoints",
                "cosine",
                _EDGES,
                [
                    {"name": f"lag {lag}", "heights": heights}
                    for lag, heights in zip(
                        _HISTOGRAM_LAGS,
                        data["histograms"][layout]["normalised"]["heights"],
                        strict=True,
                    )
                ],
                y_title="share of pairs",
            )
            for layout in data["layouts"]
        )
    )


def _means(data: Data) -> Data:
    rows: list[list[str | Data]] = [
        [str(lag), layout, *(data["histograms"][layout][kind]["mean"][place] for kind in _KINDS)]
        for place, lag in enumerate(_HISTOGRAM_LAGS)
        for layout in data["layouts"]
    ]
    head = ["lag", "layout", *(f"mean cosine, {kind} advantages" for kind in _KINDS)]
    return figures.table(f"{_ENV}: mean cosine between steps of one rollout", head, rows)


def _matrices(data: Data) -> Data:
    """Cosines between five batches, a row for each layout, a column for each lambda."""
    words = [f"update {update}" for update in data["updates"]]
    frames = [
        [
            figures.row(*(_matrix(data, layout, place, lam) for lam in _LAMBDAS))
            for layout in data["layouts"]
        ]
        for place in range(len(words))
    ]
    return figures.slides("pendulum-matrices", "policy after", words, frames)


def _matrix(data: Data, layout: str, place: int, lam: float) -> Data:
    one = data["checkpoints"][layout][place]
    values = one["cosines"][layout][f"normalised, lambda {lam:g}"]["matrix"]
    names = [str(number) for number in range(len(values))]
    return figures.heatmap(
        f"{_ENV}, {layout}, update {one['update']}, lambda {lam:g}: cosines between batch means",
        values,
        "cosine",
        rows=names,
        columns=names,
        low=-1.0,
        high=1.0,
        written=True,
    )


def _cosines(data: Data, layout: str) -> Data:
    """One layout at its own checkpoints: absolute cosine, with sign, to expect, and the floor."""
    found = [
        one["cosines"][layout]["normalised, lambda 0.95"] for one in data["checkpoints"][layout]
    ]
    words = {"absolute": "absolute", "cosine": "with its sign", "expected": "|E G|²/(|E G|²+V)"}
    some = [
        determined(name, data["updates"], [one[key] for one in found])
        for key, name in words.items()
    ]
    some.append(determined("absolute, noise alone", data["updates"], [o["noise"] for o in found]))
    floor = [{"value": one["floor"]} for one in found]
    some.append(figures.series("absolute, random directions", data["updates"], floor))
    return figures.lines(
        f"{_ENV}, {layout}, lambda .95: mean cosine between different batches' means",
        "update",
        "cosine",
        some,
        marks=[(0.0, "")],
    )


def _cosine_table(data: Data) -> Data:
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


def _bars(data: Data, kind: str) -> Data:
    """Mean absolute cosine and floor for each lambda, and what was published."""
    keys = [f"{kind}, lambda {lam:g}" for lam in _LAMBDAS]
    places = list(range(len(keys)))
    some = [
        figures.series(words, places, [data["cosines"][layout][key][layout][what] for key in keys])
        for layout in data["layouts"]
        for what, words in (("absolute", layout), ("noise", f"{layout}, noise alone"))
    ]
    return figures.bars(
        f"{_ENV}, {kind} advantages: mean absolute cosine between different batches' means",
        [f"lambda {lam:g}" for lam in _LAMBDAS],
        "mean absolute cosine",
        some,
    )
