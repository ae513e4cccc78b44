"""Claims on layouts at equal N x T, and on the two terms of the variance."""

from collections.abc import Iterator
from dataclasses import replace

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.numbers import distance, exact_number
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Case, Check, Number

GRADIENTS = ("actor", "critic")
MEASURED = (
    "FrozenLake8x8, CartPole, Pendulum and (in the whole study) Breakout-MinAtar, a batch of 2,048 "
    "samples; stages of a training with 16x128; one pool of frozen-policy chains gives every "
    "layout from 1024x2 to 2x1024."
)


def stages(results: Results) -> list[Data]:
    """Return every stage of every task."""
    return results["layouts"]["stages"]


def _line(layouts: list[Data], gradient: str, name: str, words: str) -> Data:
    steps = [one["steps"] for one in layouts]
    return figures.series(words, steps, [one[gradient][name] for one in layouts])


def _ticks(layouts: list[Data]) -> list[tuple[float, str]]:
    return [(one["steps"], f"{one['envs']}x{one['steps']}") for one in layouts]


def over_layouts(
    results: Results, form: str, gradient: str, names: dict[str, str], y_title: str, *, log: bool
) -> list[Data]:
    """Draw a chart for each env, with the stage on a slider where there are several."""

    def chart(stage: Data) -> Data:
        layouts = stage[form]["layouts"]
        return figures.lines(
            f"{stage['env']}, {gradient}",
            "layout N x T",
            y_title,
            [_line(layouts, gradient, name, words) for name, words in names.items()],
            log_x=True,
            log_y=log,
            ticks=_ticks(layouts),
        )

    found = stages(results)
    envs = [stage["env"] for stage in found]
    single = [chart(stage) for stage in found if envs.count(stage["env"]) == 1]
    words = list(dict.fromkeys(one["stage"] for one in found if envs.count(one["env"]) > 1))
    several = [one for one in found if envs.count(one["env"]) > 1]
    frames = [
        [figures.row(*(chart(one) for one in several if one["stage"] == word))] for word in words
    ]
    name = f"{form}-{gradient}-{'-'.join(names)}".replace("_", "-")
    slides = [figures.slides(name, "stage", words, frames, start=len(words) // 2)] if words else []
    return [*slides, figures.row(*single)] if single else slides


_SAME = 0.1
_DOMINATES = 0.5
_ROUNDING = 1e-9
_NEEDS = ("layouts", "controls")
_TERMS = "Where the variance comes from"


def _cases(results: Results) -> Iterator[tuple[Case, Data]]:
    for stage in stages(results):
        for gradient in GRADIENTS:
            case = {"gradient": gradient, "env": stage["env"], "stage": stage["stage"]}
            yield case, stage["raw"]
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
    return raw + [
        Check(
            {
                "advantages": "normalised",
                "gradient": "actor",
                "env": stage["env"],
                "stage": stage["stage"],
            },
            words,
            stage["normalised"]["extremes"]["actor"]["variance"],
            0.0,
            1.0,
        )
        for stage in stages(results)
    ]


def _terms_figure(results: Results) -> list[Data]:
    names = {"variance": "variance", "individual": "individual", "covariance": "covariance"}
    return [
        figure
        for gradient in GRADIENTS
        for figure in over_layouts(results, "raw", gradient, names, "variance of G_B", log=False)
    ]


def _terms_table(results: Results) -> list[Data]:
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


def _lag_figure(results: Results) -> list[Data]:
    found = []
    for gradient in GRADIENTS:
        some = [
            figures.series(
                stage["env"],
                stage["raw"]["lags"][gradient]["lags"],
                stage["raw"]["lags"][gradient]["within"],
            )
            for stage in stages(results)
            if stage["stage"] == "middle"
        ]
        if gradient == "actor":
            some += [
                figures.series(
                    f"context that {one['context']}",
                    one["raw"]["lags"]["actor"]["lags"],
                    one["raw"]["lags"]["actor"]["within"],
                )
                for one in results["controls"]["contexts"]
            ]
        title = f"Contributions of the {gradient}, middle stage"
        found.append(
            figures.lines(
                title, "steps apart", "correlation", some, log_x=True, marks=[(0.0, "none")]
            )
        )
    return [figures.row(*found)]


_MATTERS = 0.1
_CLOSE = 0.9
_SHOWN = (2, 16, 128, 1024)
_TOPIC = "The same samples, split differently"
_AFTER_A_LOOK = always(
    "Stages and chains were settled after a first run: its late stages had learned all there was, "
    "and its intervals left most checks open. The bounds were not changed."
)


def _matters(results: Results) -> list[Check]:
    words = {
        "variance": ("raw", "distance from 1 of Var(1024x2) / Var(2x1024), advantages raw"),
        "along": (
            "normalised",
            "distance from 1 of the root alignment of 1024x2 over that of 2x1024",
        ),
    }
    return [
        Check(
            {"number": name, "env": stage["env"], "stage": stage["stage"]},
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
            {
                "layout": f"{one['envs']}x{one['steps']}",
                "env": stage["env"],
                "stage": stage["stage"],
            },
            words,
            number,
            low=_CLOSE,
        )
        for stage in stages(results)
        for one, number in _cosines(stage)
    ]


def _cosines(stage: Data) -> list[tuple[Data, Number]]:
    if stage["exact"]:
        return [(one, one["cosine"]) for one in stage["exact"]]
    shown = [one for one in stage["normalised"]["layouts"] if one["steps"] in _SHOWN]
    return [(one, one["actor"]["cosine"]) for one in shown]


def _alignment_figure(results: Results) -> list[Data]:
    names = {"alignment": "alignment", "cosine": "cosine of the mean with the true gradient"}
    return [
        *over_layouts(results, "normalised", "actor", names, "share, or cosine", log=False),
        *over_layouts(results, "raw", "actor", {"variance": "Var(G_B)"}, "variance", log=True),
    ]


def _planes(results: Results) -> list[Data]:
    found = []
    for stage in stages(results):
        if stage["stage"] != "middle":
            continue
        found.append(
            figures.row(
                *(
                    figures.plane(
                        f"{stage['env']}, {one['envs']}x{one['steps']}",
                        {name: one[name] for name in ("mean", "covariance", "points")},
                        goal="true gradient",
                        points="gradients of single batches",
                    )
                    for one in stage["planes"]
                )
            )
        )
    return found


CLAIMS = (
    Claim(
        "layout-matters",
        _TOPIC,
        "At the same N x T, how a batch is split into envs and steps changes the gradient.",
        MEASURED + " Variance with raw advantages, alignment with normalised ones.",
        "Var(G_B), and the root of the alignment, of 1024x2 and of 2x1024 differ by at least 10 %.",
        ("layouts",),
        _matters,
        _alignment_figure,
        _AFTER_A_LOOK,
    ),
    Claim(
        "scatter-around-truth",
        _TOPIC,
        "Gradients of single batches scatter around the true gradient.",
        MEASURED + " The true gradient waits for all rewards (lambda 1), on the same chains; on "
        "FrozenLake8x8 it is exact.",
        "The mean gradient of a layout points along the true one: a cosine of at least .9.",
        ("layouts",),
        _scatter,
        _planes,
        _AFTER_A_LOOK,
    ),
    Claim(
        "two-terms",
        _TERMS,
        "The variance of a batch's gradient is the steps' own variances plus their covariances.",
        "Tables, calculated twice: by recursion over a rollout of 32 steps, and summed over all "
        "pairs of its steps.",
        "Both ways give the same variance but for rounding, to one part in a billion.",
        ("controls",),
        _terms_add_up,
        _terms_table,
    ),
    Claim(
        "individual-by-size",
        _TERMS,
        "The individual term depends on the batch's size alone: it falls as 1 / (N x T).",
        MEASURED + " Advantages are raw, as in the post's formula; beside it a context that "
        "hardly changes (128 samples).",
        "At the same N x T, the individual terms of the most envs and of the longest rollout "
        "differ by at most 10 %.",
        _NEEDS,
        _individual_by_size,
        _terms_figure,
    ),
    Claim(
        "neighbours-correlate",
        _TERMS,
        "Contributions of consecutive steps are positively correlated.",
        MEASURED + " Correlation of contributions along a chain, advantages raw.",
        "The correlation one step apart is above 0.",
        _NEEDS,
        _first_lags,
        _lag_figure,
    ),
    Claim(
        "covariance-grows",
        _TERMS,
        "Longer rollouts have a larger covariance term.",
        MEASURED + " Advantages are raw.",
        "At the same N x T, the covariance term of the longest rollout is above that of the most "
        "envs.",
        _NEEDS,
        _covariance_grows,
    ),
    Claim(
        "covariance-dominates",
        _TERMS,
        "With long rollouts the covariance term is most of the variance.",
        MEASURED + " Advantages are raw.",
        "At the longest rollout, covariance is at least half of the variance.",
        _NEEDS,
        _covariance_dominates,
    ),
    Claim(
        "envs-lower-variance",
        _TERMS,
        "At the same N x T, more envs and shorter rollouts lower the variance.",
        MEASURED + " Advantages raw, as the post has them, and normalised, as PPO uses them.",
        "The variance of the most envs is below that of the longest rollout.",
        _NEEDS,
        _envs_lower_variance,
    ),
)
