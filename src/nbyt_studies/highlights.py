"""What the findings on top of a study's page are made of: numbers of claims, and a picture each."""

import statistics
from collections.abc import Callable, Mapping, Sequence

from nbyt.results.study import AnyFigure, Bars
from nbyt.results.values import Data
from nbyt_studies.charts import grouped_bars
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check

Some = Callable[[Results], list[Check]]


def some_checks(evidence: Mapping[str, Evidence], claim: str, **case: str) -> Some:
    """Return the claim's checks of this case; keys of a case stand with _ for a blank."""
    wanted = {key.replace("_", " "): value for key, value in case.items()}
    return lambda results: [
        check
        for check in evidence[claim].checks(results)
        if all(check.case.get(key) == value for key, value in wanted.items())
    ]


def words_of(**parts: Some) -> Callable[[Results], Data]:
    """Return least, median and largest number of each part, and how many say what."""

    def values(results: Results) -> Data:
        return {name: _range(some(results)) for name, some in parts.items()}

    return values


def _range(checks: Sequence[Check]) -> Data:
    known = [one.number["value"] for one in checks if one.number.get("value") is not None] or [0.0]
    said = [check.says for check in checks]
    ends = {"least": min(known), "middle": statistics.median(known), "most": max(known)}
    return {**ends, "yes": said.count("yes"), "no": said.count("no"), "all": len(said)}


def bars_of(
    title: str, y_title: str, by: Sequence[str], **parts: Some
) -> Callable[[Results], Bars]:
    """Return a picture of each part's numbers; `by`: the properties that name a bar's place."""

    def draw(results: Results) -> Bars:
        found = {name.replace("_", " "): some(results) for name, some in parts.items()}
        first = next(iter(found.values()))
        places = [", ".join(check.case[key] for key in by) for check in first]
        numbers = {name: [check.number for check in checks] for name, checks in found.items()}
        return grouped_bars(title, places, y_title, numbers)

    return draw


def figure_of(evidence: Mapping[str, Evidence], claim: str) -> Callable[[Results], AnyFigure]:
    """Return the first figure of a claim."""
    return lambda results: evidence[claim].figures(results)[0]
