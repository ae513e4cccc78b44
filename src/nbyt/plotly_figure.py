"""Charts as figures of Plotly. The only file that imports plotly."""

import re
from functools import cache
from importlib import resources
from typing import Any

import plotly

_COLOUR = re.compile(r"--([a-z-]+): (#[0-9a-f]{3,6})")
_GIVEN = re.compile(r"@([a-z-]+)(?::([0-9.]+))?")


@cache
def plotly_script() -> str:
    """Read Plotly's script from its Python package; line ends are always \\n."""
    source = resources.files(plotly) / "package_data" / "plotly.min.js"
    text = source.read_text("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    if "</script" in text.lower() or "<!--" in text:
        raise RuntimeError("Plotly's script would end its own element; use another version")
    return text


def plotly_figure(chart: dict[str, Any]) -> Any:
    """Return a chart of a page as a `plotly.graph_objects.Figure`, in the page's light colours."""
    from plotly.graph_objects import Figure

    style = (resources.files("nbyt.report.html") / "style.css").read_text(encoding="utf-8")
    # The light colours are the first of each name.
    colours = dict(reversed(_COLOUR.findall(style)))
    drawn = _coloured(chart, colours)
    return Figure(drawn["data"], drawn["layout"], skip_invalid=True)


def _coloured(value: Any, colours: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _coloured(one, colours) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_coloured(one, colours) for one in value]
    found = _GIVEN.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[1] not in colours:
        return value
    colour, share = colours[found[1]], found[2]
    if share is None:
        return colour
    long = colour if len(colour) == 7 else "#" + "".join(2 * one for one in colour[1:])
    parts = [str(int(long[at : at + 2], 16)) for at in (1, 3, 5)]
    return f"rgba({', '.join(parts)}, {share})"
