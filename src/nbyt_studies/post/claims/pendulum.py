"""Claims that the later grids, on Pendulum, show: lags, layouts and lambda."""

from nbyt.results.values import Data
from nbyt_studies.post.claims import pendulum_figures as figures
from nbyt_studies.post.claims.pendulum_figures import PUBLISHED_WITHIN
from nbyt_studies.study import Claim, Results
from nbyt_studies.verdict import Check

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


def _within_checks(results: Results) -> list[Check]:
    return _lag_checks(results, "within", "correlation of contributions in one rollout")


def _across_checks(results: Results) -> list[Check]:
    return _lag_checks(results, "across", "correlation of contributions of different envs")


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
    return [
        Check(
            {"policy trained with": own, "advantages": kind},
            "mean absolute cosine between batch means, 16x64 less 4x256",
            found[own][f"{kind}, lambda 0.95"]["difference"],
            low=-ALIKE,
            high=ALIKE,
        )
        for own in found
        for kind in KINDS
    ]


def _lambda_checks(results: Results) -> list[Check]:
    found = results[EXPERIMENT]["cosines"]
    return [
        Check(
            {"policy trained with": own, "layout": layout, "advantages": kind},
            "mean absolute cosine between batch means, lambda 0 less lambda 1",
            number,
            low=0.0,
        )
        for own in found
        for kind in KINDS
        for layout, number in found[own]["0 less 1"][kind].items()
    ]


def _lag_notes(results: Results) -> list[str]:
    return [
        "The correlation compares inner products, so it keeps length: (mean of g·g' - |E g|²) / "
        "(E|g|² - |E g|²). The mean cosine of the histograms gives short and long contributions "
        "the same weight, and takes no mean off.",
        "Contributions are those of the layout: advantages are cut at the rollout's end.",
        "A score has mean 0 given its state, whatever came before. So contributions of one rollout "
        "can only correlate through what their advantages have in common with later scores.",
    ]


def _across_notes(results: Results) -> list[str]:
    return [
        "Envs that share no random number cannot correlate under one frozen policy; this is a "
        "check of the measurement, and the yardstick for the same numbers within a rollout."
    ]


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
    """The least and the most over trainings, layouts and settings, in words."""
    found = [
        one[layout][what]["value"]
        for own in data["cosines"].values()
        for key, one in own.items()
        if key != "0 less 1"
        for layout in data["layouts"]
    ]
    return f"{min(found):.2f} to {max(found):.2f}"


def _figures_of(results: Results) -> Data:
    return results[EXPERIMENT]


CLAIMS = (
    Claim(
        id="pendulum-lags-within",
        topic=TOPIC,
        says="Contributions of one rollout are hardly correlated, 1, 5, 10 or 20 steps apart.",
        measured=_MEASURED + _UNIT,
        asks="The mean correlation at each lag lies between -.02 and .02.",
        needs=(EXPERIMENT,),
        checks=_within_checks,
        figures=lambda results: figures.within(_figures_of(results)),
        notes=_lag_notes,
    ),
    Claim(
        id="pendulum-lags-across",
        topic=TOPIC,
        says="Contributions of different rollouts are not correlated at any of these lags.",
        measured=_MEASURED + _UNIT,
        asks="The mean correlation at each lag lies between -.02 and .02.",
        needs=(EXPERIMENT,),
        checks=_across_checks,
        figures=lambda results: figures.across(_figures_of(results)),
        notes=_across_notes,
    ),
    Claim(
        id="pendulum-layouts-agree-alike",
        topic=TOPIC,
        says="Batches of 4x256 and of 16x64 agree on a direction equally well.",
        measured=_MEASURED + _UNIT,
        asks=(
            "At lambda .95 and the same policies, the mean absolute cosine between different "
            "batches' means of 16x64 less that of 4x256 lies between -.05 and .05."
        ),
        needs=(EXPERIMENT,),
        checks=_layout_checks,
        figures=lambda results: figures.layouts(_figures_of(results)),
        notes=_layout_notes,
    ),
    Claim(
        id="pendulum-lambda",
        topic=TOPIC,
        says="Batches agree better on a direction with lambda 0 than with lambda 1.",
        measured=_MEASURED + _UNIT,
        asks=(
            "At the same policies, the mean absolute cosine between different batches' means at "
            "lambda 0 less that at lambda 1 is above 0."
        ),
        needs=(EXPERIMENT,),
        checks=_lambda_checks,
        figures=lambda results: figures.lambdas(_figures_of(results)),
    ),
)
