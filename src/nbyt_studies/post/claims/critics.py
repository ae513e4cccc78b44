"""Claims on bias against T and the critic, and on the sources of noise."""

from nbyt.report import figures
from nbyt.results.study import Figures, Lines, Row
from nbyt.results.values import Data
from nbyt_studies.charts import common_lines
from nbyt_studies.numbers import (
    exact_number,
    over_trainings,
    typical_over_trainings,
)
from nbyt_studies.post.claims.layouts import RELATIVE, less, where
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Case, Check, Number

# Of the true gradient's squared length: less than this is no bias worth the name.
_SLIGHT = 0.01
BySteps = dict[int, list[float | None]]  # a number of every training, by T
_CRITICS = {"untrained": "untrained", "middle": "its own"}


def _envs(results: Results) -> list[Data]:
    return results["critics"]["envs"]


def _case(env: Data) -> Case:
    own = where({**env, "stage": "middle"})
    return {"env": own["env"], "return": own["return"]}


def _biases(env: Data, critic: str, lam: float, key: str = "relative_bias") -> BySteps:
    """Return a number of every training, by T."""
    found: BySteps = {}
    for training in env["trainings"]:
        own = next(one for one in training["critics"] if one["critic"] == critic)
        for one in own["layouts"]:
            if one["lambda"] == lam:
                found.setdefault(one["steps"], []).append(one[key])
    return found


def _lambdas(env: Data) -> list[float]:
    layouts = env["trainings"][0]["critics"][0]["layouts"]
    return list(dict.fromkeys(one["lambda"] for one in layouts))


def _less(first: list[float | None], second: list[float | None]) -> Number:
    pairs = zip(first, second, strict=True)
    return over_trainings(less(a, b) for a, b in pairs)


def _short_bias(results: Results) -> list[Check]:
    words = "squared bias of the shortest rollout less that of the longest, / |G*|^2"
    checks = []
    for env in _envs(results):
        for critic, name in _CRITICS.items():
            for lam in _lambdas(env):
                by_steps = list(_biases(env, critic, lam).values())
                case = {"critic": name, "lambda": str(lam), **_case(env)}
                checks.append(Check(case, words, _less(by_steps[0], by_steps[-1]), low=_SLIGHT))
    return checks


def _right_critic(results: Results) -> list[Check]:
    words = "squared bias with the right critic / |G*|^2"
    return [
        Check(
            {"T": str(one["steps"]), "lambda": str(one["lambda"]), "seed": str(training["seed"])},
            words,
            exact_number(one["relative_bias"]),
            high=1e-9,
        )
        for env in _envs(results)
        if env["method"] == "exact"
        for training in env["trainings"]
        for critic in training["critics"]
        if critic["critic"] == "right"
        for one in critic["layouts"]
    ]


def _better_critic(results: Results) -> list[Check]:
    words = "squared bias with the untrained critic less that with the policy's own, / |G*|^2"
    checks = []
    for env in _envs(results):
        for lam in _lambdas(env):
            untrained, own = (_biases(env, critic, lam) for critic in _CRITICS)
            for steps in untrained:
                case = {"T": str(steps), "lambda": str(lam), **_case(env)}
                number = _less(untrained[steps], own[steps])
                checks.append(Check(case, words, number, low=_SLIGHT))
    return checks


def _bias_figure(results: Results) -> Figures:
    return [bias_row(results, lam) for lam in _lambdas(_envs(results)[0])]


def bias_row(results: Results, lam: float) -> Row:
    """Draw the cosine of mean and true gradient by T, with each critic, a chart for each env."""
    return figures.row(*(_bias_lines(env, lam) for env in _envs(results)))


def _bias_lines(env: Data, lam: float) -> Lines:
    by_critic = {name: _biases(env, critic, lam, "cosine") for critic, name in _CRITICS.items()}
    some = [
        figures.series(f"{name} critic", list(own), [over_trainings(x) for x in own.values()])
        for name, own in by_critic.items()
    ]
    axes, marks = ("rollout steps T", "cosine of mean and true gradient"), [(1.0, "no bias")]
    return figures.lines(f"{env['env']}, lambda {lam:g}", *axes, some, log_x=True, marks=marks)


# Sources of noise


def _sources(env: Data, gradient: str, names: tuple[str, ...]) -> list[list[float]]:
    """Return the sum of these sources for every training, by layout, most envs first."""
    by_training = [
        [sum(one[gradient][name] for name in names) for one in training["layouts"]]
        for training in env["trainings"]
    ]
    return [list(column) for column in zip(*by_training, strict=True)]


def _gained(env: Data, names: tuple[str, ...]) -> Number:
    """Return squared progress over the noise, longest rollout less most envs, over trainings."""
    by_layout = _sources(env, "actor", names)

    def shares(at: int) -> list[float | None]:
        trainings = zip(env["trainings"], by_layout[at], strict=True)
        return [one["layouts"][at]["progress"] / noise for one, noise in trainings]

    return _less(shares(-1), shares(0))


_LUCK = ("environment", "policy")


def _trajectory_noise(results: Results) -> list[Check]:
    words = "noise from luck of the longest rollout over that of the most envs, same N x T"
    checks = []
    for env in results["sources"]["envs"]:
        for gradient in ("actor", "critic"):
            own = _sources(env, gradient, _LUCK)
            case = {"number": "noise", "gradient": gradient, **_case(env)}
            number = typical_over_trainings(own[-1], own[0])
            checks.append(Check(case, words, number, low=1.0))
    words = "squared progress over that noise, longest rollout less most envs"
    for env in results["sources"]["envs"]:
        case = {"number": RELATIVE, "gradient": "actor", **_case(env)}
        checks.append(Check(case, words, _gained(env, _LUCK), high=0.0))
    return checks


def _long_credit(results: Results) -> list[Check]:
    checks = []
    for case, by_steps in _qualities(results, 0.95):
        for short, long in ((8, 64), (64, 512)):
            own = {"measure": "corr² with the true advantage", "T": f"{short} to {long}", **case}
            words = "corr² of estimated and true advantages, longer T less shorter"
            checks.append(Check(own, words, _less(by_steps[long], by_steps[short]), low=0.0))
    words = "squared progress over credit noise, longest rollout less most envs"
    for env in results["sources"]["envs"]:
        own = {"measure": "progress over credit noise", "T": "4 to 64", **_case(env)}
        checks.append(Check(own, words, _gained(env, ("credit",)), low=0.0))
    return checks


def _qualities(results: Results, lam: float) -> list[tuple[Case, BySteps]]:
    """Return corr² of every training by T, for each env and stage."""
    found: dict[tuple[str, str], BySteps] = {}
    for row in results["advantages"]["rows"]:
        by_steps = found.setdefault((row["env"], row["stage"]), {})
        for one in row["rows"]:
            if one["lambda"] == lam:
                by_steps.setdefault(one["steps"], []).append(_quality(one))
    return [({"env": env, "stage": stage}, own) for (env, stage), own in found.items()]


def _quality(one: Data) -> float | None:
    if one["truth"] <= 0 or one["variance"] <= 0:
        return None
    return float(one["covariance"] * abs(one["covariance"]) / one["variance"] / one["truth"])


def _lambda_credit(results: Results) -> list[Check]:
    words = "corr² of estimated and true advantages, lambda .95 less lambda 1"
    usual, without = _qualities(results, 0.95), _qualities(results, 1.0)
    return [
        Check({"T": str(steps), **case}, words, _less(own[steps], other[steps]), low=0.0)
        for (case, own), (_, other) in zip(usual, without, strict=True)
        for steps in own
    ]


def quality_row(results: Results, stage: str) -> Row:
    """Draw corr² of estimated and true advantages by T, a chart for each env."""
    lambdas = (0.0, 0.9, 0.95, 1.0)
    by_env: dict[str, dict[str, list[Number]]] = {}
    steps: list[float] = []
    for lam in lambdas:
        for case, by_steps in _qualities(results, lam):
            if case["stage"] == stage:
                numbers = [over_trainings(values) for values in by_steps.values()]
                by_env.setdefault(case["env"], {})[f"lambda {lam:g}"] = numbers
                steps = list(by_steps)
    axes = ("rollout steps T", "corr² of estimated and true advantage")
    return figures.row(
        *(
            common_lines(f"{env}, {stage} stage", axes, steps, numbers, log_x=True)
            for env, numbers in by_env.items()
        )
    )


def _credit_figures(results: Results) -> Figures:
    rows = []
    for env in results["sources"]["envs"]:
        credit = _sources(env, "actor", ("credit",))
        absolute = typical_over_trainings(credit[-1], credit[0])
        rows.append([env["env"], absolute, _gained(env, ("credit",))])
    head = ["env", "credit noise, longest over most envs", "squared progress over it, difference"]
    title = "Credit noise at 32x64 and at 512x4, by two definitions"
    return [*_quality_figures(results), figures.table(title, head, rows)]


def _quality_figures(results: Results) -> Figures:
    return [quality_row(results, stage) for stage in ("early", "middle")]


EVIDENCE = {
    "short-rollouts-bias": Evidence(_short_bias, _bias_figure),
    "bias-is-the-critics": Evidence(_right_critic),
    "better-critic-less-bias": Evidence(_better_critic),
    "long-rollouts-credit": Evidence(_long_credit, _credit_figures),
    "envs-reduce-trajectory-noise": Evidence(_trajectory_noise),
    "lambda-cuts-credit": Evidence(_lambda_credit, _quality_figures),
}
