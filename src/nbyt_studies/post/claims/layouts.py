"""Claims on layouts at equal N x T, and on the two terms of the variance."""

from collections.abc import Iterator
from dataclasses import replace

from nbyt.report import figures
from nbyt.results.study import Figures, Lines, Plane
from nbyt.results.values import Data
from nbyt_studies.charts import common_lines, layout_ticks
from nbyt_studies.numbers import distance, exact_number
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Case, Check, Number

GRADIENTS = ("actor", "critic")


def stages(results: Results) -> list[Data]:
    """Return every stage of every task."""
    return results["layouts"]["stages"]


def _where(stage: Data) -> Case:
    return {"env": stage["env"], "stage": stage["stage"]}


def over_layouts(
    results: Results, form: str, gradient: str, names: dict[str, str], y_title: str, *, log: bool
) -> Figures:
    """Draw a chart for each env, with the stage on a slider where there are several."""

    def chart(stage: Data) -> Lines:
        layouts = stage[form]["layouts"]
        numbers = {words: [one[gradient][name] for one in layouts] for name, words in names.items()}
        steps, axes = [one["steps"] for one in layouts], ("layout N x T", y_title)
        more = {"log_x": True, "log_y": log, "ticks": layout_ticks(layouts)}
        return common_lines(f"{stage['env']}, {gradient}", axes, steps, numbers, **more)

    everywhere = stages(results)
    envs = [stage["env"] for stage in everywhere]
    single = [chart(stage) for stage in everywhere if envs.count(stage["env"]) == 1]
    several = [one for one in everywhere if envs.count(one["env"]) > 1]
    words = list(dict.fromkeys(one["stage"] for one in several))
    frames = [
        [figures.row(*(chart(one) for one in several if one["stage"] == word))] for word in words
    ]
    name = f"{form}-{gradient}-{'-'.join(names)}".replace("_", "-")
    slides = [figures.slides(name, "stage", words, frames, start=len(words) // 2)] if words else []
    return [*slides, figures.row(*single)] if single else slides


_SAME = 0.1
_DOMINATES = 0.5
_ROUNDING = 1e-9


def _cases(results: Results) -> Iterator[tuple[Case, Data]]:
    for stage in stages(results):
        for gradient in GRADIENTS:
            yield {"gradient": gradient, **_where(stage)}, stage["raw"]
    for one in results["controls"]["contexts"]:
        case = {"gradient": "actor", "env": f"context that {one['context']}", "stage": "uniform"}
        yield case, one["raw"]


def _extreme(name: str, words: str, low: float, high: float, results: Results) -> list[Check]:
    return [
        Check(case, words, data["extremes"][case["gradient"]][name], low, high)
        for case, data in _cases(results)
    ]


def _terms_add_up(results: Results) -> list[Check]:
    words = "|individual + covariance - sum over all pairs of steps| / variance"
    return [
        Check(
            {"table": row["table"], "gradient": row["gradient"]},
            words,
            exact_number(abs(row["summed_over_pairs"] / row["variance"] - 1)),
            high=_ROUNDING,
        )
        for row in results["controls"]["terms"]
    ]


def _individual_by_size(results: Results) -> list[Check]:
    words = "individual term of the most envs over that of the longest rollout, same N x T"
    return _extreme("individual", words, 1 - _SAME, 1 + _SAME, results)


def _first_lags(results: Results) -> list[Check]:
    words = "correlation of contributions one step apart"
    return [
        Check(case, words, data["lags"][case["gradient"]]["within"][0], low=0.0)
        for case, data in _cases(results)
    ]


def _covariance_grows(results: Results) -> list[Check]:
    words = "covariance of the longest rollout less that of the most envs, / sum of their variances"
    return _extreme("covariance_gap", words, 0.0, float("inf"), results)


def _covariance_dominates(results: Results) -> list[Check]:
    words = "covariance of the longest rollout / its variance"
    return _extreme("long_covariance_share", words, _DOMINATES, float("inf"), results)


def _envs_lower_variance(results: Results) -> list[Check]:
    words = "variance of the most envs over that of the longest rollout, same N x T"
    raw = [
        replace(check, case={"advantages": "raw", **check.case})
        for check in _extreme("variance", words, 0.0, 1.0, results)
    ]
    actor = {"advantages": "normalised", "gradient": "actor"}
    return raw + [
        Check(
            {**actor, **_where(stage)},
            words,
            stage["normalised"]["extremes"]["actor"]["variance"],
            0.0,
            1.0,
        )
        for stage in stages(results)
    ]


def _terms_figure(results: Results) -> Figures:
    names = {"variance": "variance", "individual": "individual", "covariance": "covariance"}
    return [
        figure
        for gradient in GRADIENTS
        for figure in over_layouts(results, "raw", gradient, names, "variance of G_B", log=False)
    ]


def _terms_table(results: Results) -> Figures:
    rows = [
        [
            row["table"],
            row["gradient"],
            *(f"{row[name]:.6g}" for name in ("individual", "covariance", "variance")),
            f"{row['summed_over_pairs']:.6g}",
        ]
        for row in results["controls"]["terms"]
    ]
    head = ["table", "gradient", "individual", "covariance", "variance", "sum over all pairs"]
    return [figures.table("One rollout of 32 steps, exact", head, rows)]


def _lag_figure(results: Results) -> Figures:
    charts = []
    for gradient in GRADIENTS:
        rows = [(one["env"], one) for one in stages(results) if one["stage"] == "middle"]
        if gradient == "actor":
            contexts = results["controls"]["contexts"]
            rows += [(f"context that {one['context']}", one) for one in contexts]
        lags = [(name, one["raw"]["lags"][gradient]) for name, one in rows]
        some = [figures.series(name, own["lags"], own["within"]) for name, own in lags]
        title, marks = f"Contributions of the {gradient}, middle stage", [(0.0, "none")]
        axes = ("steps apart", "correlation")
        charts.append(figures.lines(title, *axes, some, log_x=True, marks=marks))
    return [figures.row(*charts)]


_MATTERS = 0.1
_CLOSE = 0.9
_SHOWN = (2, 16, 128, 1024)


def _matters(results: Results) -> list[Check]:
    alignment = "distance from 1 of the root alignment of 1024x2 over that of 2x1024"
    words = {
        "variance": ("raw", "distance from 1 of Var(1024x2) / Var(2x1024), advantages raw"),
        "along": ("normalised", alignment),
    }
    return [
        Check(
            {"number": name, **_where(stage)},
            text,
            distance(stage[form]["extremes"]["actor"][name], 1.0),
            low=_MATTERS,
        )
        for name, (form, text) in words.items()
        for stage in stages(results)
    ]


def _scatter(results: Results) -> list[Check]:
    words = "cosine between a layout's mean gradient and the true one"
    return [
        Check(
            {"layout": f"{one['envs']}x{one['steps']}", **_where(stage)}, words, number, low=_CLOSE
        )
        for stage in stages(results)
        for one, number in _cosines(stage)
    ]


def _cosines(stage: Data) -> list[tuple[Data, Number]]:
    if stage["exact"]:
        return [(one, one["cosine"]) for one in stage["exact"]]
    shown = [one for one in stage["normalised"]["layouts"] if one["steps"] in _SHOWN]
    return [(one, one["actor"]["cosine"]) for one in shown]


def _alignment_figure(results: Results) -> Figures:
    names = {"alignment": "alignment", "cosine": "cosine of the mean with the true gradient"}
    return [
        *over_layouts(results, "normalised", "actor", names, "share, or cosine", log=False),
        *over_layouts(results, "raw", "actor", {"variance": "Var(G_B)"}, "variance", log=True),
    ]


def _planes(results: Results) -> Figures:
    rows = []
    for stage in stages(results):
        if stage["stage"] == "middle":
            clouds = {
                f"{stage['env']}, {one['envs']}x{one['steps']}": one for one in stage["planes"]
            }
            rows.append(figures.row(*(_plane(title, one) for title, one in clouds.items())))
    return rows


def _plane(title: str, one: Data) -> Plane:
    cloud = {name: one[name] for name in ("mean", "covariance", "points")}
    return figures.plane(title, cloud, goal="true gradient", points="gradients of single batches")


EVIDENCE = {
    "layout-matters": Evidence(_matters, _alignment_figure),
    "scatter-around-truth": Evidence(_scatter, _planes),
    "two-terms": Evidence(_terms_add_up, _terms_table),
    "individual-by-size": Evidence(_individual_by_size, _terms_figure),
    "neighbours-correlate": Evidence(_first_lags, _lag_figure),
    "covariance-grows": Evidence(_covariance_grows),
    "covariance-dominates": Evidence(_covariance_dominates),
    "envs-lower-variance": Evidence(_envs_lower_variance),
}
