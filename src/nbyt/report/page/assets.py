"""The page's own style and behaviour, and Plotly's script, as text."""

from functools import cache
from importlib import resources

import plotly


@cache
def style() -> str:
    """The style sheet."""
    return _own("style.css")


@cache
def behaviour() -> str:
    """The page's own script."""
    return _own("behaviour.js")


@cache
def plotly_script() -> str:
    """Plotly's script, as its Python package brings it; a page's line ends are always \\n."""
    source = resources.files(plotly) / "package_data" / "plotly.min.js"
    text = source.read_text("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    if "</script" in text.lower() or "<!--" in text:
        raise RuntimeError("Plotly's script would end its own element; use another version")
    return text


def _own(name: str) -> str:
    return (resources.files("nbyt.report.page") / name).read_text("utf-8")
