"""The findings on top of the page: numbers of the claims they rest on, and a picture each."""

import statistics
from collections.abc import Callable

from nbyt.results.study import AnyFigure, Bars, Row
from nbyt.results.values import Data
from nbyt_studies.charts import grouped_bars
from nbyt_studies.post.claims.critics import EVIDENCE as CRITICS
from nbyt_studies.post.claims.critics import bias_row, quality_row
from nbyt_studies.post.claims.delay import EVIDENCE as DELAY
from nbyt_studies.post.claims.layouts import EVIDENCE as LAYOUTS
from nbyt_studies.post.claims.stability import EVIDENCE as STABILITY
from nbyt_studies.post.claims.stability import direction_row
from nbyt_studies.study import Evidence, Picture, Results
from nbyt_studies.verdict import Check

Some = Callable[[Results], list[Check]]


def _checks(evidence: dict[str, Evidence], claim: str, **case: str) -> Some:
    """Return the claim's checks of this case; keys of a case stand with _ for a blank."""
    wanted = {key.replace("_", " "): value for key, value in case.items()}
    return lambda results: [
        check
        for check in evidence[claim].checks(results)
        if all(check.case.get(key) == value for key, value in wanted.items())
    ]


def _words(**parts: Some) -> Callable[[Results], Data]:
    """Return least, median and largest number of each part, and how many say what."""

    def values(results: Results) -> Data:
        return {name: _range(some(results)) for name, some in parts.items()}

    return values


def _range(checks: list[Check]) -> Data:
    known = [one.number["value"] for one in checks if one.number.get("value") is not None] or [0.0]
    said = [check.says for check in checks]
    ends = {"least": min(known), "middle": statistics.median(known), "most": max(known)}
    return {**ends, "yes": said.count("yes"), "no": said.count("no"), "all": len(said)}


def _bars(title: str, y_title: str, **parts: Some) -> Callable[[Results], Bars]:
    """Return a picture of the same stages' numbers, part by part."""

    def draw(results: Results) -> Bars:
        found = {name.replace("_", " "): some(results) for name, some in parts.items()}
        stages = [f"{c.case['env']}, {c.case['stage']}" for c in next(iter(found.values()))]
        numbers = {name: [check.number for check in checks] for name, checks in found.items()}
        return grouped_bars(title, stages, y_title, numbers)

    return draw


_ACTOR = {"gradient": "actor", "advantages": "normalised"}
_RAW = {"gradient": "actor", "advantages": "raw"}
_SHARES = {
    "critic": _checks(LAYOUTS, "covariance-dominates", gradient="critic"),
    "actor": _checks(LAYOUTS, "covariance-dominates", **_ACTOR),
}
_RATIOS = {
    "raw_variance": _checks(LAYOUTS, "envs-lower-variance", number="variance", **_RAW),
    "normalised_variance": _checks(LAYOUTS, "envs-lower-variance", number="variance", **_ACTOR),
}
_PROGRESS = _checks(LAYOUTS, "envs-lower-variance", number="relative to progress", **_ACTOR)
_CORR = "corr² with the true advantage"


def _bias(results: Results) -> Row:
    return bias_row(results, 0.95)


def _quality(results: Results) -> Row:
    return quality_row(results, "early")


def _direction(results: Results) -> AnyFigure:
    return direction_row(results, "late")


PICTURES: dict[str, Picture] = {
    "covariance": (
        _words(**_SHARES, sign=_checks(LAYOUTS, "covariance-grows", layout="2x1024", **_ACTOR)),
        _bars("Covariance term over the variance, 2x1024", "share", **_SHARES),
    ),
    "envs": (
        _words(**_RATIOS, progress=_PROGRESS),
        _bars("Variance of 1024x2 over that of 2x1024", "ratio; below 1: envs help", **_RATIOS),
    ),
    "bias": (
        _words(
            biased=_checks(CRITICS, "short-rollouts-bias", **{"lambda": "0.95"}),
            full=_checks(CRITICS, "short-rollouts-bias", **{"lambda": "1.0"}),
            sparse=_checks(DELAY, "delay-bias"),
        ),
        _bias,
    ),
    "credit": (
        _words(
            first=_checks(CRITICS, "long-rollouts-credit", measure=_CORR, T="8 to 64"),
            later=_checks(CRITICS, "long-rollouts-credit", measure=_CORR, T="64 to 512"),
        ),
        _quality,
    ),
    "update": (STABILITY["ratio-near-one"].values, _direction),
}
