"""Claims and figures of the grids on Pendulum, with the published values."""

from functools import partial

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.post.claims.grids import determined
from nbyt_studies.study import Claim, Results, always
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


_ENV = "Pendulum-v1"
_LAMBDAS = (0.0, 0.95, 1.0)
_KINDS = ("normalised", "raw")
_HISTOGRAM_LAGS = (1, 5, 10, 40)
_EDGES = tuple(round(-1 + 0.05 * place, 2) for place in range(41))


def within(data: Data) -> list[Data]:
    """Draw correlations within a rollout, ours and published, and histograms of cosines."""
    numbers = [_banded(value, PUBLISHED_BAND.get(lag)) for lag, value in PUBLISHED_WITHIN.items()]
    extra = figures.series("published", list(PUBLISHED_WITHIN), numbers, line=False)
    return [_by_lag(data, "within", [extra]), _lag_table(data), _histograms(data), _means(data)]


def across(data: Data) -> list[Data]:
    """Draw correlations between different envs."""
    return [_by_lag(data, "across", [])]


def layouts(data: Data) -> list[Data]:
    """Draw matrices with a slider, mean absolute cosines over checkpoints, and the table."""
    lines = [_cosines(data, layout) for layout in data["layouts"]]
    return [_matrices(data), figures.row(*lines), _cosine_table(data)]


def lambdas(data: Data) -> list[Data]:
    """Draw mean absolute cosines by lambda, each layout at its own policies; ours and published."""
    return [figures.row(*(_bars(data, kind) for kind in _KINDS)), _cosine_table(data)]


def _by_lag(data: Data, side: str, extra: list[Data]) -> Data:
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


TOPIC = "Batch against batch"
EXPERIMENT = "pendulum-grids"
LAGS = tuple(PUBLISHED_WITHIN)
KINDS = ("normalised", "raw")
# About 0: within the published band at lag 1.
NEARLY_ZERO = 0.02
# Published: .37 and .36.
ALIKE = 0.05

_MEASURED = (
    "Pendulum-v1, 64x64 tanh, trained for 120 updates of 1,024 samples with 4x256 and again with "
    "16x64 (gamma .9, lambda .95, step size .001, envs at random phases), 20 checkpoints each. At "
    "every checkpoint 32 fresh, independent batches of either layout; five of them are drawn. "
    "Advantages once standardised over each batch, as in training, and once as they are."
)
_UNIT = (
    " Means are over the checkpoints of one run; intervals treat the checkpoints' spread as error, "
    "which makes them wide rather than narrow."
)


def _lag_checks(results: Results, side: str, words: str) -> list[Check]:
    found = results[EXPERIMENT]["lags"]
    return [
        Check(
            {"layout": layout, "advantages": kind, "lag": str(lag)},
            f"{words}, {lag} steps apart",
            {
                key: value
                for key, value in found[layout][kind][side][place].items()
                if key != "band"
            },
            low=-NEARLY_ZERO,
            high=NEARLY_ZERO,
        )
        for layout in found
        for kind in KINDS
        for place, lag in enumerate(LAGS)
    ]


def _layout_checks(results: Results) -> list[Check]:
    found = results[EXPERIMENT]["cosines"]
    words = "mean absolute cosine between batch means, 16x64 less 4x256"
    return [
        Check(
            {"policy trained with": own, "advantages": kind},
            words,
            found[own][f"{kind}, lambda 0.95"]["difference"],
            low=-ALIKE,
            high=ALIKE,
        )
        for own in found
        for kind in KINDS
    ]


def _lambda_checks(results: Results) -> list[Check]:
    found = results[EXPERIMENT]["cosines"]
    words = "mean absolute cosine between batch means, lambda 0 less lambda 1"
    return [
        Check(
            {"policy trained with": own, "layout": layout, "advantages": kind},
            words,
            number,
            low=0.0,
        )
        for own in found
        for kind in KINDS
        for layout, number in found[own]["0 less 1"][kind].items()
    ]


_lag_notes = always(
    "The correlation compares inner products, so it keeps length: (mean of g·g' - |E g|²) / "
    "(E|g|² - |E g|²). The mean cosine of the histograms gives short and long contributions "
    "the same weight, and takes no mean off.",
    "Contributions are those of the layout: advantages are cut at the rollout's end.",
    "A score has mean 0 given its state, whatever came before. So contributions of one rollout "
    "can only correlate through what their advantages have in common with later scores.",
)


_across_notes = always(
    "Envs that share no random number cannot correlate under one frozen policy; this is a "
    "check of the measurement, and the yardstick for the same numbers within a rollout."
)


def _layout_notes(results: Results) -> list[str]:
    data = results[EXPERIMENT]
    random, noise = _floors(data, "floor"), _floors(data, "noise")
    return [
        "A mean absolute cosine is not 0 for gradients that are nothing but noise: random "
        "directions in d dimensions have about √(2 / πd). Batches' gradients spread in few of "
        f"their 4,482 dimensions, which makes that {random} here and not .01, if all of these "
        "directions were alike. Differences of batches, in which the mean has gone and the spread "
        f"as it is remains, have {noise}. Only what is above this is agreement.",
        "A cosine discards length. What it stands for is |E G|² / (|E G|² + V), the last column: "
        "it is the mean cosine with its sign that comes near to this, not the absolute one.",
        "Pairs of batches share batches, so the checkpoint is the unit of all intervals. Layouts "
        "and lambdas are compared checkpoint by checkpoint, at the same policies; lambdas other "
        "than .95 are used for the advantages only, not to train.",
        "A first run with 16 batches at each checkpoint left the difference of the layouts open; "
        "the number of batches was then doubled, the bound was not changed.",
    ]


def _floors(data: Data, what: str) -> str:
    found = [
        one[layout][what]["value"]
        for own in data["cosines"].values()
        for key, one in own.items()
        if key != "0 less 1"
        for layout in data["layouts"]
    ]
    return f"{min(found):.2f} to {max(found):.2f}"


_claim = partial(Claim, topic=TOPIC, needs=(EXPERIMENT,), measured=_MEASURED + _UNIT)

CLAIMS = (
    _claim(
        id="pendulum-lags-within",
        says="Contributions of one rollout are hardly correlated, 1, 5, 10 or 20 steps apart.",
        asks="The mean correlation at each lag lies between -.02 and .02.",
        checks=partial(
            _lag_checks, side="within", words="correlation of contributions in one rollout"
        ),
        figures=lambda results: within(results[EXPERIMENT]),
        notes=_lag_notes,
    ),
    _claim(
        id="pendulum-lags-across",
        says="Contributions of different rollouts are not correlated at any of these lags.",
        asks="The mean correlation at each lag lies between -.02 and .02.",
        checks=partial(
            _lag_checks, side="across", words="correlation of contributions of different envs"
        ),
        figures=lambda results: across(results[EXPERIMENT]),
        notes=_across_notes,
    ),
    _claim(
        id="pendulum-layouts-agree-alike",
        says="Batches of 4x256 and of 16x64 agree on a direction equally well.",
        asks="At lambda .95 and the same policies, the mean absolute cosine between different "
        "batches' means of 16x64 less that of 4x256 lies between -.05 and .05.",
        checks=_layout_checks,
        figures=lambda results: layouts(results[EXPERIMENT]),
        notes=_layout_notes,
    ),
    _claim(
        id="pendulum-lambda",
        says="Batches agree better on a direction with lambda 0 than with lambda 1.",
        asks="At the same policies, the mean absolute cosine between different batches' means at "
        "lambda 0 less that at lambda 1 is above 0.",
        checks=_lambda_checks,
        figures=lambda results: lambdas(results[EXPERIMENT]),
    ),
)
