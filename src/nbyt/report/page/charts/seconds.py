"""What an update costs against T, with the updates that were timed."""

from nbyt.report.page.charts.parts import figure, line, steps_axis, value_axis
from nbyt.report.page.escape import for_chart
from nbyt.results.values import Data

_LOOK = {"colour": "blue", "dash": "solid", "symbol": "circle"}


def cost_chart(data: Data) -> Data:
    """Milliseconds of an update: the line is fitted, the crosses were timed."""
    layouts = data["stages"][0]["layouts"]
    numbers = [one["seconds"] for one in layouts]
    return figure(
        [*line(layouts, numbers, "seconds an update", _LOOK, 1000), _timed(data["costs"])],
        320,
        xaxis=steps_axis(layouts),
        yaxis=value_axis("milliseconds an update", rangemode="tozero"),
    )


def _timed(costs: Data) -> Data:
    rows = [(envs, steps, seconds) for envs, steps, every in costs["timed"] for seconds in every]
    texts = [f"timed, {envs}x{steps}: {1000 * seconds:.1f} ms" for envs, steps, seconds in rows]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "timed",
        "x": [steps for _, steps, _ in rows],
        "y": [1000 * seconds for _, _, seconds in rows],
        "marker": {"symbol": "x-thin", "size": 8, "line": {"width": 1.5, "color": "@vermillion"}},
        "hovertext": [for_chart(text) for text in texts],
        "hoverinfo": "text",
    }
