"""Claims on bias against T, lambda and the critic, and on the sources of noise."""

from collections.abc import Iterator
from math import inf

from nbyt.report import figures
from nbyt.results.study import Figures, Lines
from nbyt.results.values import Data
from nbyt_studies.charts import common_lines, layout_ticks
from nbyt_studies.numbers import exact_number
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Case, Check

# Of the true gradient's squared length: less than this is no bias worth the name.
_SLIGHT = 0.01
_ROUNDING = 1e-9
_SOURCES = {
    "sampling": "sampling noise",
    "own_step": "the env's answer to the action itself",
    "credit": "credit-assignment noise",
}


def _critics(results: Results) -> Iterator[tuple[str, Data]]:
    data = results["critics"]
    for one in (*data["measured"], data["exact"]):
        for critic in one["critics"]:
            yield one["env"], critic


def _place(row: Data) -> Case:
    return {"lambda": str(row["lambda"]), "steps": str(row["steps"])}


def _short_bias(results: Results) -> list[Check]:
    words = "squared bias of the shortest rollout less that of the longest, / |G*|^2"
    return [
        Check({"lambda": lam, "critic": critic["critic"], "env": env}, words, gap, low=_SLIGHT)
        for env, critic in _critics(results)
        for lam, gap in critic["short_less_long"].items()
    ]


def _right_critic(results: Results) -> list[Check]:
    words = "squared bias with the right critic / |G*|^2"
    return [
        Check(_place(one), words, one["relative_bias"], high=_SLIGHT)
        for critic in results["critics"]["exact"]["critics"]
        if critic["critic"] == "right"
        for one in critic["layouts"]
    ]


def _better_critic(results: Results) -> list[Check]:
    words = "squared bias with the untrained critic less that with the late one, / |G*|^2"
    return [
        Check({**_place(row), "env": one["env"]}, words, row["worst_less_best"], low=_SLIGHT)
        for one in results["critics"]["measured"]
        for row in one["better_critic"]
    ]


def _long_over_many(
    results: Results, source: str, words: str, low: float, high: float
) -> list[Check]:
    quantity = f"{words} of the longest rollout over that of the most envs, same N x T"
    return [
        Check(
            {"gradient": gradient, "env": one["env"]},
            quantity,
            one["long_over_many"][gradient][source],
            low,
            high,
        )
        for one in results["sources"]["envs"]
        for gradient in ("actor", "critic")
    ]


def _long_credit(results: Results) -> list[Check]:
    return _long_over_many(results, "credit", "credit-assignment noise", -inf, 1.0)


def _envs_sampling(results: Results) -> list[Check]:
    return _long_over_many(results, "sampling", "sampling noise", 1.0, inf)


def _envs_trajectory_noise(results: Results) -> list[Check]:
    return _long_over_many(results, "luck", "noise from luck", 1.0, inf)


def _lambda_credit(results: Results) -> list[Check]:
    words = "credit-assignment noise over that at lambda 1"
    return [
        Check(_place(row), words, row["credit"], high=1.0)
        for row in results["sources"]["lambdas"]
        if row["lambda"] < 1
    ]


# Figures


def _bias_lines(env: str, critics: list[Data], lam: float) -> Lines:
    some = []
    for critic in critics:
        rows = [one for one in critic["layouts"] if one["lambda"] == lam]
        steps, cosines = ([one[key] for one in rows] for key in ("steps", "cosine"))
        some.append(figures.series(f"{critic['critic']} critic", steps, cosines))
    axes = ("rollout steps T", "cosine of mean and true gradient")
    marks = [(1.0, "no bias in direction"), (0.0, "")]
    return figures.lines(env, *axes, some, log_x=True, marks=marks)


def _bias_figure(results: Results) -> Figures:
    data = results["critics"]
    lambdas = sorted(data["lambdas"])
    envs = (*data["measured"], data["exact"])
    frames = [
        [figures.row(*(_bias_lines(one["env"], one["critics"], lam) for one in envs))]
        for lam in lambdas
    ]
    words = [f"{lam:g}" for lam in lambdas]
    trained = lambdas.index(data["lambdas"][0])
    return [figures.slides("bias-lambda", "lambda of GAE", words, frames, start=trained)]


def _source_figure(results: Results) -> Figures:
    envs = results["sources"]["envs"]
    return [
        figures.row(*(_source_lines(one["env"], one["layouts"], gradient) for one in envs))
        for gradient in ("actor", "critic")
    ]


def _source_lines(env: str, layouts: list[Data], gradient: str) -> Lines:
    numbers = {
        words: [_unless_rounding(one[gradient], name) for one in layouts]
        for name, words in {**_SOURCES, "variance": "all of the variance"}.items()
    }
    steps, axes = [one["steps"] for one in layouts], ("layout N x T", "variance of G_B")
    more = {"log_x": True, "log_y": True, "ticks": layout_ticks(layouts)}
    return common_lines(f"{env}, {gradient}", axes, steps, numbers, **more)


def _unless_rounding(sources: Data, name: str) -> Data:
    number, whole = sources[name], sources["variance"]["value"]
    return exact_number(0.0) if abs(number["value"]) < _ROUNDING * whole else number


def _lambda_figure(results: Results) -> Figures:
    rows = results["sources"]["lambdas"]
    some = [
        figures.series(
            f"{words}, T = {steps}",
            [row["lambda"] for row in rows if row["steps"] == steps],
            [row[name] for row in rows if row["steps"] == steps],
        )
        for steps in dict.fromkeys(row["steps"] for row in rows)
        for name, words in (("credit", "credit-assignment noise"), ("variance", "variance"))
    ]
    title = "FrozenLake8x8-v1, middle stage, exact"
    return [figures.lines(title, "lambda of GAE", "share of that at lambda 1", some)]


EVIDENCE = {
    "short-rollouts-bias": Evidence(_short_bias, _bias_figure),
    "bias-is-the-critics": Evidence(_right_critic),
    "better-critic-less-bias": Evidence(_better_critic),
    "long-rollouts-credit": Evidence(_long_credit, _source_figure),
    "envs-reduce-sampling": Evidence(_envs_sampling),
    "envs-reduce-trajectory-noise": Evidence(_envs_trajectory_noise),
    "lambda-cuts-credit": Evidence(_lambda_credit, _lambda_figure),
}
