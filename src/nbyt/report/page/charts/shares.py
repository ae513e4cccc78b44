"""The sources of the noise as shares of the variance, actor and critic beside each other."""

from nbyt.report.page.charts.parts import figure, spread
from nbyt.report.page.escape import for_chart
from nbyt.report.page.quantity import Number, known, words
from nbyt.results.values import Data

SOURCES = ("sampling", "own_step", "credit", "coupling")
# Smaller shares are what is left of zero after rounding, or as good as none.
_ROUNDING = 1e-6
_LOOKS: dict[str, Data] = {
    "actor": {"colour": "blue", "symbol": "circle", "shift": 0.14},
    "critic": {"colour": "vermillion", "symbol": "square", "shift": -0.14},
}


def share_of(parts: Data, name: str) -> Number:
    """A source as a share of the variance; undetermined where the variance is."""
    whole, number = parts["variance"], parts[name]
    if not known(whole) or not whole["value"] or not known(number):
        return {"value": None, "low": None, "high": None, "reason": number.get("reason")}
    scaled = {key: number[key] / whole["value"] for key in ("value", "low", "high")}
    if max(map(abs, scaled.values())) < _ROUNDING:
        scaled = dict.fromkeys(scaled, 0.0)
    return {**number, **scaled}


def source_chart(layout: Data) -> Data:
    """A point with its interval for each source and each gradient."""
    rows = list(reversed(SOURCES))
    return figure(
        [_points(layout, gradient, rows) for gradient in _LOOKS],
        270,
        xaxis={"title": {"text": "share of the variance (%)"}, "zeroline": True},
        yaxis={
            "tickvals": list(range(len(rows))),
            "ticktext": [name.replace("_", " ") for name in rows],
            "range": [-0.5, len(rows) - 0.5],
            "zeroline": False,
        },
        margin={"l": 76, "r": 14, "t": 10, "b": 52},
    )


def _points(layout: Data, gradient: str, rows: list[str]) -> Data:
    look = _LOOKS[gradient]
    numbers = [share_of(layout[gradient], name) for name in rows]
    texts = [
        for_chart(f"{gradient}, {name.replace('_', ' ')}: {words(number, 100, ' %')}")
        for name, number in zip(rows, numbers, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": gradient,
        "x": [100 * one["value"] if known(one) else None for one in numbers],
        "y": [place + look["shift"] for place in range(len(rows))],
        "error_x": {**spread(numbers, 100), "color": f"@{look['colour']}"},
        "marker": {"symbol": look["symbol"], "size": 9, "color": f"@{look['colour']}"},
        "hovertext": texts,
        "hoverinfo": "text",
    }
