"""Claims on bias against T, lambda and the critic, and on the sources of noise."""

from collections.abc import Iterator
from math import inf

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.numbers import exact_number
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check

# Of the true gradient's squared length: less than this is no bias worth the name.
_SLIGHT = 0.01
_ROUNDING = 1e-9
_TOPIC = "Bias, and credit"
_SOURCES = {
    "sampling": "sampling noise",
    "own_step": "the env's answer to the action itself",
    "credit": "credit-assignment noise",
}
_MEASURED = (
    "One frozen policy (middle stage) with critics from untrained to late, at lambda 0, .9, .95 "
    "and 1: CartPole and (in the whole study) Pendulum measured, all critics on the same chains; "
    "FrozenLake8x8 exact, the right critic among them."
)


def _critics(results: Results) -> Iterator[tuple[str, Data]]:
    found = results["critics"]
    for one in (*found["measured"], found["exact"]):
        for critic in one["critics"]:
            yield one["env"], critic


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
        Check(
            {"lambda": str(one["lambda"]), "steps": str(one["steps"])},
            words,
            one["relative_bias"],
            high=_SLIGHT,
        )
        for critic in results["critics"]["exact"]["critics"]
        if critic["critic"] == "right"
        for one in critic["layouts"]
    ]


def _better_critic(results: Results) -> list[Check]:
    words = "squared bias with the untrained critic less that with the late one, / |G*|^2"
    return [
        Check(
            {"lambda": str(row["lambda"]), "steps": str(row["steps"]), "env": one["env"]},
            words,
            row["worst_less_best"],
            low=_SLIGHT,
        )
        for one in results["critics"]["measured"]
        for row in one["better_critic"]
    ]


def _ratio_checks(
    results: Results, source: str, words: str, low: float, high: float
) -> list[Check]:
    return [
        Check(
            {"gradient": gradient, "env": one["env"]},
            words,
            one["long_over_many"][gradient][source],
            low,
            high,
        )
        for one in results["sources"]["envs"]
        for gradient in ("actor", "critic")
    ]


def _long_credit(results: Results) -> list[Check]:
    words = "credit-assignment noise of the longest rollout over that of the most envs, same N x T"
    return _ratio_checks(results, "credit", words, -inf, 1.0)


def _envs_sampling(results: Results) -> list[Check]:
    words = "sampling noise of the longest rollout over that of the most envs, same N x T"
    return _ratio_checks(results, "sampling", words, 1.0, inf)


def _envs_luck(results: Results) -> list[Check]:
    words = "noise from luck of the longest rollout over that of the most envs, same N x T"
    return _ratio_checks(results, "luck", words, 1.0, inf)


def _lambda_credit(results: Results) -> list[Check]:
    words = "credit-assignment noise over that at lambda 1"
    return [
        Check(
            {"lambda": str(row["lambda"]), "steps": str(row["steps"])},
            words,
            row["credit"],
            high=1.0,
        )
        for row in results["sources"]["lambdas"]
        if row["lambda"] < 1
    ]


# Figures


def _bias_lines(env: str, critics: list[Data], lam: float) -> Data:
    some = []
    for critic in critics:
        rows = [one for one in critic["layouts"] if one["lambda"] == lam]
        some.append(
            figures.series(
                f"{critic['critic']} critic",
                [one["steps"] for one in rows],
                [one["cosine"] for one in rows],
            )
        )
    return figures.lines(
        env,
        "rollout steps T",
        "cosine of mean and true gradient",
        some,
        log_x=True,
        marks=[(1.0, "no bias in direction"), (0.0, "")],
    )


def _bias_figure(results: Results) -> list[Data]:
    found = results["critics"]
    lambdas = sorted(found["lambdas"])
    envs = (*found["measured"], found["exact"])
    frames = [
        [figures.row(*(_bias_lines(one["env"], one["critics"], lam) for one in envs))]
        for lam in lambdas
    ]
    words = [f"{lam:g}" for lam in lambdas]
    trained = lambdas.index(found["lambdas"][0])
    return [figures.slides("bias-lambda", "lambda of GAE", words, frames, start=trained)]


def _source_figure(results: Results) -> list[Data]:
    return [
        figures.row(
            *(
                _source_lines(f"{one['env']}, {gradient}", one["layouts"], gradient)
                for one in results["sources"]["envs"]
            )
        )
        for gradient in ("actor", "critic")
    ]


def _source_lines(title: str, layouts: list[Data], gradient: str) -> Data:
    steps = [one["steps"] for one in layouts]
    some = [
        figures.series(words, steps, [_unless_rounding(one[gradient], name) for one in layouts])
        for name, words in {**_SOURCES, "variance": "all of the variance"}.items()
    ]
    ticks = [(one["steps"], f"{one['envs']}x{one['steps']}") for one in layouts]
    return figures.lines(
        title, "layout N x T", "variance of G_B", some, log_x=True, log_y=True, ticks=ticks
    )


def _unless_rounding(sources: Data, name: str) -> Data:
    number, whole = sources[name], sources["variance"]["value"]
    return exact_number(0.0) if abs(number["value"]) < _ROUNDING * whole else number


def _lambda_figure(results: Results) -> list[Data]:
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


CLAIMS = (
    Claim(
        "short-rollouts-bias",
        _TOPIC,
        "Short rollouts bias the gradient; longer ones bias it less.",
        _MEASURED,
        "The squared bias of the shortest rollout is above that of the longest by at least 1 % of "
        "the true gradient's squared length.",
        ("critics",),
        _short_bias,
        _bias_figure,
    ),
    Claim(
        "bias-is-the-critics",
        _TOPIC,
        "The bias comes from wrong values: with the right critic there is none.",
        "FrozenLake8x8, middle policy, its true values as critic; exact.",
        "The squared bias is at most 1 % of the true gradient's squared length, at every T and "
        "lambda.",
        ("critics",),
        _right_critic,
    ),
    Claim(
        "better-critic-less-bias",
        _TOPIC,
        "A critic that was trained biases the gradient less than an untrained one.",
        _MEASURED,
        "The squared bias with the untrained critic is above that with the late critic by at least "
        "1 % of the true gradient's squared length.",
        ("critics",),
        _better_critic,
        notes=always(
            "In a first run, with half the chains, most checks were open; the bound is the same."
        ),
    ),
    Claim(
        "long-rollouts-credit",
        _TOPIC,
        "Longer rollouts reduce the noise of credit assignment.",
        "Middle stages, lambda .95, a batch of 2,048 samples: exact on FrozenLake8x8 (512x4 to "
        "8x256), by cloning the simulator on CartPole and (in the whole study) Pendulum (512x4 to "
        "32x64).",
        "At the same N x T, credit-assignment noise of the longest rollout is below that of the "
        "most envs.",
        ("sources",),
        _long_credit,
        _source_figure,
    ),
    Claim(
        "envs-reduce-sampling",
        _TOPIC,
        "More envs reduce the noise of which states and actions happen to be visited.",
        "As above.",
        "At the same N x T, sampling noise of the longest rollout is above that of the most envs.",
        ("sources",),
        _envs_sampling,
        notes=always(
            "At a fixed T every source falls exactly as 1/N, since envs are independent; what is "
            "asked here is what happens when envs are had by shortening the rollouts."
        ),
    ),
    Claim(
        "envs-reduce-trajectory-noise",
        _TOPIC,
        "More envs reduce the noise that the luck of env and policy brings into the advantages.",
        "As above.",
        "At the same N x T, that noise is larger for the longest rollout than for the most envs.",
        ("sources",),
        _envs_luck,
    ),
    Claim(
        "lambda-cuts-credit",
        _TOPIC,
        "A smaller lambda of GAE reduces the noise of credit assignment.",
        "FrozenLake8x8, middle stage, rollouts of 16 and of 64 steps, exact.",
        "Credit-assignment noise is below that at lambda 1.",
        ("sources",),
        _lambda_credit,
        _lambda_figure,
    ),
)
