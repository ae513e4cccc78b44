"""Records of a training as series over its samples, and sections without data."""

from collections.abc import Iterable, Sequence

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import tag
from nbyt.report.html.page import Part, merged, section
from nbyt.report.numbers import Number, has_value
from nbyt.results.values import Data


def side_by_side(some: Sequence[Data], name: str) -> Part:
    """Put figures of lines in a row; name: unique on the page; ids of elements start with it."""
    known = [one for one in some if _is_known(one)]
    unknown = [one for one in some if not _is_known(one)]
    drawn = figures_part([figures.row(*known)] if len(known) > 1 else known, name)
    return merged([drawn, *(tag("p", _why(one), class_="missing") for one in unknown)])


def unknown_section(name: str, title: str, why: str, *, link: str) -> Part:
    """Build a section that says why there is nothing to show."""
    return section(name, title, None, tag("p", why, class_="notice"), link=link)


def _numbers(figure: Data) -> list[Number]:
    return [number for series in figure["series"] for number in series["numbers"]]


def _is_known(figure: Data) -> bool:
    return any(has_value(number) for number in _numbers(figure))


def _why(figure: Data) -> str:
    reasons = dict.fromkeys(one.get("reason") or "undetermined" for one in _numbers(figure))
    return f"{figure['title']}, not drawn: {'; '.join(reasons)}."


NETWORKS = ("actor", "critic", "total")
SAMPLES = "samples so far"
_ABSENT: Number = {"value": None, "low": None, "high": None, "reason": "not measured there"}
_SPREAD = 10.0  # from the smallest to the largest value, where a log axis begins to help


def networks(records: Sequence[Data]) -> list[str]:
    """Return the networks whose gradients were measured in the batches; see `present`."""
    return present([one["gradients"] for one in records])


def present(gradients: Sequence[Data]) -> list[str]:
    """Return actor and critic if any has them, or else total. gradients: by network."""
    found = [name for name in NETWORKS if any(one.get(name) for one in gradients)]
    return [name for name in found if name != "total"] or found


def numbers_of(records: Sequence[Data], network: str, quantity: str) -> list[Number]:
    """Return a quantity of one network's gradient for each record."""
    return [one["gradients"].get(network, {}).get(quantity) or _ABSENT for one in records]


def course(name: str, records: Sequence[Data], numbers: Sequence[Number]) -> Data:
    """Build a series of one number for each record over the samples so far."""
    return figures.series(name, [one["samples"] for one in records], numbers)


def bare(value: float | None) -> Number:
    """Return a number without an interval: counted, not estimated."""
    return {"value": value, "reason": "not known there"}


def fits_log(numbers: Iterable[Number]) -> bool:
    """Return True if all values are positive and span enough for a log axis."""
    values = [one["value"] for one in numbers if has_value(one)]
    return bool(values) and min(values) > 0 and max(values) > _SPREAD * min(values)


def batch_of(data: Data) -> int:
    """Return the samples of one update; those last measured if the training does not say."""
    units = data["records"][-1]["units"]
    return (data.get("layout") or {}).get("batch") or units["count"] * units["steps"]
