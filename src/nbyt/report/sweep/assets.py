"""The style of a sweep's page, as text."""

from functools import cache
from importlib import resources


@cache
def sweep_style() -> str:
    """What goes behind the style sheet of all pages."""
    return (resources.files("nbyt.report.sweep") / "sweep.css").read_text("utf-8")
