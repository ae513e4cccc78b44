"""Records of a training as series over its samples, and sections without data."""

from collections.abc import Iterable, Sequence

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import tag
from nbyt.report.html.page import Part, merged, section
from nbyt.report.numbers import has_value
from nbyt.results.probes import ProbeRecord
from nbyt.results.study import Lines, NumberSeries
from nbyt.results.values import OBJECTIVES, Number, Objective

SAMPLES = "samples so far"
_ABSENT = Number(value=None, low=None, high=None, reason="not measured there")
_SPREAD = 10.0  # from the smallest to the largest value, where a log axis begins to help


def side_by_side(some: Sequence[Lines], name: str) -> Part:
    """Put figures of lines in a row; name: unique on the page; ids of elements start with it."""
    known = [one for one in some if any(map(has_value, _numbers(one)))]
    unknown = [one for one in some if one not in known]
    drawn = figures_part([figures.row(*known)] if len(known) > 1 else known, name)
    return merged([drawn, *(tag("p", _why(one), class_="missing") for one in unknown)])


def unknown_section(name: str, title: str, why: str, *, link: str) -> Part:
    """Build a section that says why there is nothing to show."""
    return section(name, title, None, tag("p", why, class_="notice"), link=link)


def _numbers(figure: Lines) -> list[Number]:
    return [number for series in figure.series for number in series.numbers]


def _why(figure: Lines) -> str:
    reasons = dict.fromkeys(number.why or "undetermined" for number in _numbers(figure))
    return f"{figure.title}, not drawn: {'; '.join(reasons)}."


def networks(records: Sequence[ProbeRecord]) -> list[Objective]:
    """Return actor and critic if gradients of theirs were measured, or else total."""
    found = [name for name in OBJECTIVES if any(one.gradients.of(name) for one in records)]
    return [name for name in found if name != "total"] or found


def numbers_of(records: Sequence[ProbeRecord], network: Objective, quantity: str) -> list[Number]:
    """Return a quantity of one network's gradient for each record."""
    found = [record.gradients.of(network) for record in records]
    return [_ABSENT if gradient is None else gradient.of(quantity) for gradient in found]


def over_samples(
    name: str, records: Sequence[ProbeRecord], numbers: Sequence[Number]
) -> NumberSeries:
    """Build a series of one number for each record over the samples so far."""
    return figures.series(name, [record.samples for record in records], numbers)


def bare(value: float | None) -> Number:
    """Return a number without an interval: counted, not estimated."""
    return Number(value=value, reason="not known there")


def fits_log(numbers: Iterable[Number]) -> bool:
    """Return True if all values are positive and span enough for a log axis."""
    values = [number.value for number in numbers if has_value(number)]
    return bool(values) and min(values) > 0 and max(values) > _SPREAD * min(values)
