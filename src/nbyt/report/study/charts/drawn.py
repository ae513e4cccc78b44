"""What drawing gives: charts for every place of a slider, their keys, and remarks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nbyt.report.page.element import Markup, bullets, tag

Data = dict[str, Any]


@dataclass(frozen=True)
class Drawn:
    """One figure as charts, one for each frame; each with a key and remarks, or None."""

    charts: list[Data]
    keys: list[Markup | None]
    remarks: list[Markup | None]


def remarks(missing: Sequence[str], others: Sequence[str] = ()) -> Markup | None:
    """What is not drawn and why, and what else a reader should know of a chart."""
    if not missing and not others:
        return None
    said = [tag("p", one) for one in others]
    lost = ["Not drawn:", bullets(missing)] if missing else []
    return tag("div", *lost, *said, class_="missing")
