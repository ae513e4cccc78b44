"""The style of figures, sliders and claims, as text."""

from functools import cache
from importlib import resources


@cache
def study_style() -> str:
    """The style sheet of a study's page, for what it has beyond the style of all pages."""
    return (resources.files("nbyt.report.study") / "study.css").read_text("utf-8")
