"""Claims on layouts at equal N x T, and on the two terms of the variance."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from nbyt.report import figures
from nbyt.results.study import Figures, Lines, Plane, Row
from nbyt.results.values import Data
from nbyt_studies.charts import common_lines, layout_ticks
from nbyt_studies.numbers import (
    distance,
    exact_number,
    over_trainings,
    typical_over_trainings,
)
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Case, Check, Number

# The critic's loss takes advantages as they are; the actor's takes them normalised, the post raw.
FORMS: tuple[tuple[Case, str, str], ...] = (
    ({"gradient": "actor", "advantages": "normalised"}, "normalised", "actor"),
    ({"gradient": "actor", "advantages": "raw"}, "raw", "actor"),
    ({"gradient": "critic"}, "raw", "critic"),
)
_MATTERS = 0.1
_NOISY = 0.9
_FAST = 0.5
_HIGHLY = 0.1
_DOMINATES = 0.5
_ROUNDING = 1e-9
_USUAL = 128

Value = Callable[[list[Data]], float | None]  # of the layouts of one training, most envs first


def stages(results: Results) -> list[Data]:
    """Return every stage of every task."""
    return results["layouts"]["stages"]


def where(stage: Data) -> Case:
    """Return which stage it is, and the mean return of its trainings."""
    returns = [one["mean_return"] for one in stage["trainings"] if one["mean_return"] is not None]
    stated = f"{sum(returns) / len(returns):.3g}" if returns else "none"
    return {"env": stage["env"], "stage": stage["stage"], "return": stated}


def _each(stage: Data, form: str, gradient: str, value: Value) -> list[float | None]:
    return [value(one[form][gradient]["layouts"]) for one in stage["trainings"]]


def _checks(
    results: Results, words: str, value: Value, low: float = -math.inf, high: float = math.inf
) -> list[Check]:
    """Return a check of each stage, gradient and kind of advantages: its mean over trainings."""
    return [
        Check(
            {**own, **where(stage)},
            words,
            over_trainings(_each(stage, form, gradient, value)),
            low,
            high,
        )
        for own, form, gradient in FORMS
        for stage in stages(results)
    ]


def _matters(results: Results) -> list[Check]:
    variance = "distance from 1 of Var(1024x2) / Var(2x1024)"
    bias = "distance of the squared biases of 1024x2 and of 2x1024, / |G*|^2"
    checks = []
    for stage in stages(results):
        ratios = {form: _variance_ratio(stage, form, "actor") for form in ("raw", "normalised")}
        turned = over_trainings(_each(stage, "normalised", "actor", _less_at_longest))
        numbers = [(f"variance, {form}", variance, distance(r, 1.0)) for form, r in ratios.items()]
        checks += [
            Check({"number": name, **where(stage)}, words, number, low=_MATTERS)
            for name, words, number in (*numbers, ("bias", bias, distance(turned, 0.0)))
        ]
    return checks


def _less_at_longest(rows: list[Data]) -> float | None:
    return less(rows[0]["relative_bias"], rows[-1]["relative_bias"])


def less(first: float | None, second: float | None) -> float | None:
    """Return the difference, if both are known."""
    return None if first is None or second is None else first - second


def _variance_ratio(stage: Data, form: str, gradient: str) -> Number:
    own = [one[form][gradient]["layouts"] for one in stage["trainings"]]
    ends = ([rows[place]["variance"] for rows in own] for place in (0, -1))
    return typical_over_trainings(*ends)


def _noisy(results: Results) -> list[Check]:
    words = "squared mean over mean square of the gradient of 16x128; 1 without noise"
    return _checks(results, words, _usual("noise_factor"), high=_NOISY)


def _usual(key: str) -> Value:
    return lambda rows: next(one[key] for one in rows if one["steps"] == _USUAL)


def _longest(key: str) -> Value:
    return lambda rows: rows[-1][key]


def _individual(results: Results) -> list[Check]:
    words = "a where the individual term falls as T^-a, from T = 2 to 1024 with the same N"
    return _checks(results, words, _exponent, low=_FAST)


def _exponent(rows: list[Data]) -> float | None:
    short, long = (one["individual"] * one["envs"] for one in (rows[0], rows[-1]))
    if short <= 0 or long <= 0:
        return None
    return math.log(short / long) / math.log(rows[-1]["steps"] / rows[0]["steps"])


def _neighbours(results: Results) -> list[Check]:
    words = "correlation of contributions one step apart"
    return [
        Check(
            {**own, **where(stage)},
            words,
            over_trainings(one[form][gradient]["neighbours"] for one in stage["trainings"]),
            low=_HIGHLY,
        )
        for own, form, gradient in FORMS
        for stage in stages(results)
    ]


_SHARE = "covariance term of 2x1024 over its variance"


def _covariance_grows(results: Results) -> list[Check]:
    words = "covariance term over the variance"
    checks = []
    for layout, value in (("16x128", _usual), ("2x1024", _longest)):
        found = _checks(results, words, value("covariance_share"), low=0.0)
        checks += [replace(one, case={"layout": layout, **one.case}) for one in found]
    return checks


def _covariance_dominates(results: Results) -> list[Check]:
    return _checks(results, _SHARE, _longest("covariance_share"), low=_DOMINATES)


def _envs_lower_variance(results: Results) -> list[Check]:
    checks = []
    for own, form, gradient in FORMS:
        for stage in stages(results):
            gained = over_trainings(_each(stage, form, gradient, _signal_gained))
            case = {**own, **where(stage)}
            ratio = _variance_ratio(stage, form, gradient)
            checks += [
                Check({"number": "variance", **case}, _RATIO, ratio, high=1.0),
                Check({"number": RELATIVE, **case}, _GAINED, gained, low=0.0),
            ]
    return checks


RELATIVE = "relative to progress"
_RATIO = "Var(1024x2) / Var(2x1024)"
_GAINED = "squared progress over variance, 1024x2 less 2x1024"


def _signal_gained(rows: list[Data]) -> float | None:
    return less(rows[0]["signal"], rows[-1]["signal"])


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


def _terms_table(results: Results) -> Figures:
    names = ("individual", "covariance", "variance", "summed_over_pairs")
    rows = [
        [row["table"], row["gradient"], *(f"{row[name]:.6g}" for name in names)]
        for row in results["controls"]["terms"]
    ]
    head = ["table", "gradient", "individual", "covariance", "variance", "sum over all pairs"]
    return [figures.table("One rollout of 32 steps, exact", head, rows)]


def by_layout(
    results: Results, form: str, gradient: str, key: str, words: str, *, log: bool = False
) -> Row:
    """Draw a number of every layout, a chart for each env and a line for each stage."""
    envs = dict.fromkeys(stage["env"] for stage in stages(results))
    return figures.row(*(_lines(results, env, form, gradient, key, words, log=log) for env in envs))


def _lines(
    results: Results, env: str, form: str, gradient: str, key: str, words: str, *, log: bool
) -> Lines:
    numbers = {}
    for stage in (one for one in stages(results) if one["env"] == env):
        layouts = stage["trainings"][0][form][gradient]["layouts"]
        numbers[stage["stage"]] = [
            over_trainings(one[form][gradient]["layouts"][at][key] for one in stage["trainings"])
            for at in range(len(layouts))
        ]
    steps = [one["steps"] for one in layouts]
    more = {"log_x": True, "log_y": log, "ticks": layout_ticks(layouts)}
    of = gradient if gradient == "critic" else f"{gradient}, {form} advantages"
    return common_lines(f"{env}, {of}", ("layout N x T", words), steps, numbers, **more)


def _matters_figures(results: Results) -> Figures:
    return [
        by_layout(results, "normalised", "actor", "variance", "variance of G_B", log=True),
        by_layout(results, "normalised", "actor", "cosine", "cosine of mean and true gradient"),
    ]


def _terms_figures(results: Results) -> Figures:
    return [
        by_layout(results, form, gradient, "covariance_share", "covariance / variance")
        for _, form, gradient in FORMS
    ]


def _envs_figures(results: Results) -> Figures:
    words = {"variance": "variance of G_B", "signal": "squared progress / variance"}
    drawn: list[Row] = [
        by_layout(results, form, "actor", key, text, log=key == "variance")
        for key, text in words.items()
        for form in ("raw", "normalised")
    ]
    return drawn


def _planes(results: Results) -> Figures:
    return [figures.row(*_clouds(stage)) for stage in stages(results) if stage["stage"] == "middle"]


def _clouds(stage: Data) -> Iterator[Plane]:
    for one in stage["trainings"][0]["planes"]:
        cloud = {name: one[name] for name in ("mean", "covariance", "points")}
        title = f"{stage['env']}, {one['envs']}x{one['steps']}"
        yield figures.plane(
            title, cloud, goal="true gradient", points="gradients of single batches"
        )


EVIDENCE = {
    "layout-matters": Evidence(_matters, _matters_figures),
    "scatter-around-truth": Evidence(_noisy, _planes),
    "two-terms": Evidence(_terms_add_up, _terms_table),
    "individual-by-size": Evidence(_individual),
    "neighbours-correlate": Evidence(_neighbours),
    "covariance-grows": Evidence(_covariance_grows, _terms_figures),
    "covariance-dominates": Evidence(_covariance_dominates),
    "envs-lower-variance": Evidence(_envs_lower_variance, _envs_figures),
}
