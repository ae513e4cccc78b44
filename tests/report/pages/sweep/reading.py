"""Read the charts of a sweep's page."""

from typing import Any

from tests.sweeps.made_up import record

from nbyt.report.pages.sweep import sweep_page

Data = dict[str, Any]


def rendered(data: Data) -> str:
    """Return the page of the data."""
    return sweep_page(record(data)).html()


def six(values: list[Any]) -> list[Any]:
    """Values as charts have them, with six digits."""
    return [None if one is None else float(f"{one:.6g}") for one in values]


def trace(chart: Data, name: str) -> Data:
    """Return the trace of that name."""
    return next(one for one in chart["data"] if one.get("name") == name)
