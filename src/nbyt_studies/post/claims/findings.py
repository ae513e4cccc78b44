"""The findings on top of the page: numbers of the claims they rest on, and a picture each."""

from nbyt.results.study import AnyFigure, Row
from nbyt_studies.highlights import bars_of, some_checks, words_of
from nbyt_studies.post.claims.critics import EVIDENCE as CRITICS
from nbyt_studies.post.claims.critics import bias_row, quality_row
from nbyt_studies.post.claims.delay import EVIDENCE as DELAY
from nbyt_studies.post.claims.layouts import EVIDENCE as LAYOUTS
from nbyt_studies.post.claims.stability import EVIDENCE as STABILITY
from nbyt_studies.post.claims.stability import direction_row
from nbyt_studies.study import Picture, Results

_STAGE = ("env", "stage")
_ACTOR = {"gradient": "actor", "advantages": "normalised"}
_RAW = {"gradient": "actor", "advantages": "raw"}
_SHARES = {
    "critic": some_checks(LAYOUTS, "covariance-dominates", gradient="critic"),
    "actor": some_checks(LAYOUTS, "covariance-dominates", **_ACTOR),
}
_RATIOS = {
    "raw_variance": some_checks(LAYOUTS, "envs-lower-variance", number="variance", **_RAW),
    "normalised_variance": some_checks(LAYOUTS, "envs-lower-variance", number="variance", **_ACTOR),
}
_PROGRESS = some_checks(LAYOUTS, "envs-lower-variance", number="relative to progress", **_ACTOR)
_CORR = "corr² with the true advantage"


def _bias(results: Results) -> Row:
    return bias_row(results, 0.95)


def _quality(results: Results) -> Row:
    return quality_row(results, "early")


def _direction(results: Results) -> AnyFigure:
    return direction_row(results, "late")


PICTURES: dict[str, Picture] = {
    "covariance": (
        words_of(
            **_SHARES, sign=some_checks(LAYOUTS, "covariance-grows", layout="2x1024", **_ACTOR)
        ),
        bars_of("Covariance term over the variance, 2x1024", "share", _STAGE, **_SHARES),
    ),
    "envs": (
        words_of(**_RATIOS, progress=_PROGRESS),
        bars_of(
            "Variance of 1024x2 over that of 2x1024", "ratio; below 1: envs help", _STAGE, **_RATIOS
        ),
    ),
    "bias": (
        words_of(
            biased=some_checks(CRITICS, "short-rollouts-bias", **{"lambda": "0.95"}),
            full=some_checks(CRITICS, "short-rollouts-bias", **{"lambda": "1.0"}),
            sparse=some_checks(DELAY, "delay-bias"),
        ),
        _bias,
    ),
    "credit": (
        words_of(
            first=some_checks(CRITICS, "long-rollouts-credit", measure=_CORR, T="8 to 64"),
            later=some_checks(CRITICS, "long-rollouts-credit", measure=_CORR, T="64 to 512"),
        ),
        _quality,
    ),
    "update": (STABILITY["ratio-near-one"].values, _direction),
}
