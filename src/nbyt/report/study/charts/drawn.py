"""What drawing gives: charts for every place of a slider, their keys, and remarks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nbyt.report.page.charts.parts import spread
from nbyt.report.page.element import Markup, bullets, tag
from nbyt.report.study.number import Number, has_interval
from nbyt.results.values import Data

_MANY = 12  # places that are too many to be named one by one


@dataclass(frozen=True)
class Drawn:
    """One figure as charts, one for each frame; each with a key and remarks, or None.

    widest: pixels that it may be wide, or None for all there are. least: pixels that it needs;
    where there are fewer it scrolls by itself.
    """

    charts: list[Data]
    keys: Sequence[Markup | None]
    remarks: Sequence[Markup | None]
    widest: int | None = None
    least: int | None = None


def remarks(missing: Iterable[tuple[str, str, str]], others: Sequence[str] = ()) -> Markup | None:
    """What is not drawn, and what else a reader should know of a chart.

    missing: name, place and reason of each; no place for all of that name.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for name, place, reason in missing:
        found.setdefault((name, reason), []).append(place)
    lines = [
        f"{' at '.join(filter(None, (name, _listed(list(filter(None, places))))))}: {reason}"
        for (name, reason), places in found.items()
    ]
    if not lines and not others:
        return None
    said = [tag("div", one) for one in others]
    return tag("div", "Not drawn:" if lines else None, bullets(lines), *said, class_="missing")


def _listed(places: Sequence[str]) -> str:
    """The places one by one, or how many there are from the first to the last."""
    if len(places) <= _MANY:
        return ", ".join(places)
    return f"{len(places)} places from {places[0]} to {places[-1]}"


def error_bars(numbers: Sequence[Number], colour: str) -> Data:
    """Bars for the intervals of a trace; none where there is no interval at all."""
    if not any(has_interval(number) for number in numbers):
        return {}
    return {"error_y": {**spread(numbers), "color": f"@{colour}"}}
