"""Charts beside each other; one that would be empty is a sentence instead."""

from collections.abc import Sequence

from nbyt.report.page.element import Child, join, tag
from nbyt.report.page.part import Part, section
from nbyt.report.study import figures
from nbyt.report.study.figure import figures_part
from nbyt.report.study.number import Number, has_value
from nbyt.results.values import Data


def side_by_side(some: Sequence[Data], name: str) -> Part:
    """Figures of lines in a row; name: their own on the page, from which elements get ids."""
    known = [one for one in some if _is_known(one)]
    unknown = [one for one in some if not _is_known(one)]
    drawn = figures_part([figures.row(*known)] if len(known) > 1 else known, name)
    said = [tag("p", _why(one), class_="missing") for one in unknown]
    return drawn.inside(join([drawn.html, *said]))


def unknown_section(name: str, title: str, lead: Child, why: str) -> Part:
    """A section that says why there is nothing to show."""
    return Part(section(name, title, lead, tag("p", why, class_="notice")))


def _numbers(figure: Data) -> list[Number]:
    return [number for series in figure["series"] for number in series["numbers"]]


def _is_known(figure: Data) -> bool:
    return any(has_value(number) for number in _numbers(figure))


def _why(figure: Data) -> str:
    reasons = dict.fromkeys(one.get("reason") or "undetermined" for one in _numbers(figure))
    return f"{figure['title']}, not drawn: {'; '.join(reasons)}."
