"""Figures drawn alone."""

from typing import Any

from nbyt.report.figures.figure import Drawable, figures_part

Data = dict[str, Any]


def chart_of(figure: Drawable) -> Data:
    """Return what Plotly is given for a figure."""
    return charts_of(figure, "chart-f-0")[0]


def charts_of(figure: Drawable, name: str) -> list[Data]:
    """Return what Plotly is given for every frame of a chart."""
    return figures_part([figure], "f").charts[name]


def html_of(figure: Drawable) -> str:
    """Return the HTML of a figure."""
    return figures_part([figure], "f").html
