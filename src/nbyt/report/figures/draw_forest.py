"""Draw a row for every check of a claim: number, interval, and the range that was asked for."""

from collections.abc import Sequence

from nbyt.report.figures.axes import Reach, reach, x_axis
from nbyt.report.figures.drawn import Drawn, remarks
from nbyt.report.figures.parts import figure, spread
from nbyt.report.html.element import for_chart
from nbyt.report.html.key import key
from nbyt.report.numbers import brief_words, has_value
from nbyt.results.values import Data

MOST = 48
"""Checks that can still be read below each other."""

_ROW, _FRAME = 19, 66
_LEAST = 620  # pixels: names beside the rows, and room for their numbers
_LOOKS = {
    "yes": ("green", "circle", "lies where the claim says"),
    "no": ("vermillion", "x", "lies elsewhere"),
    "open": ("muted", "circle-open", "cannot be told"),
}
_WIDE = 100.0  # largest over smallest value from which on a log axis reads better


def forest_drawn(frames: Sequence[Data]) -> Drawn:
    """Draw one chart; checks without a number are named below it."""
    (one,) = frames
    checks = [check for check in one["checks"] if has_value(check["number"])]
    missing = [
        (_label(check, one["checks"]), "", check["number"].get("reason") or "undetermined")
        for check in one["checks"]
        if not has_value(check["number"])
    ]
    own = _reach(checks)
    cut = ["Some intervals go beyond the edge of the chart."] * own.cut
    entries = [
        (colour, symbol, None, said)
        for says, (colour, symbol, said) in _LOOKS.items()
        if any(check["says"] == says for check in checks)
    ]
    asked = ("blue", "bar", None, f"asked: {checks[0]['asks']}") if _alike(checks) else None
    keys = key(*entries, *([asked] if asked else []))
    return Drawn([_chart(one, checks, own)], [keys], [remarks(missing, cut)], least=_LEAST)


def _reach(checks: Sequence[Data]) -> Reach:
    numbers = [check["number"] for check in checks]
    values = [number["value"] for number in numbers]
    lows = [number.get("low") for number in numbers]
    positive = all(low is None or low > 0 for low in lows) and min(values) > 0
    log = positive and max(values) > _WIDE * min(values)
    bounds = [bound for check in checks for bound in check["between"] if bound is not None]
    seen = [bound for bound in bounds if bound > 0 or not log]
    return reach(numbers, seen, log=log)


def _chart(one: Data, checks: Sequence[Data], own: Reach) -> Data:
    labels = [_label(check, one["checks"]) for check in checks]
    longest = max(len(label) for label in labels)
    return figure(
        [_rows(checks, says) for says in _LOOKS],
        _ROW * len(checks) + _FRAME,
        xaxis=x_axis(one["x"]["title"], own),
        yaxis={
            "title": {"text": ""},
            "range": [len(checks) - 0.4, -0.6],
            "tickvals": list(range(len(checks))),
            "ticktext": [for_chart(label) for label in labels],
            "zeroline": False,
            "showgrid": False,
        },
        shapes=_asked(checks, own),
        margin={"l": min(40 + 6 * longest, 330), "r": 14, "t": 8, "b": 52},
    )


def _rows(checks: Sequence[Data], says: str) -> Data:
    colour, symbol, _ = _LOOKS[says]
    some = [(place, check) for place, check in enumerate(checks) if check["says"] == says]
    numbers = [check["number"] for _, check in some]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": says,
        "x": [number["value"] for number in numbers],
        "y": [place for place, _ in some],
        "error_x": {**spread(numbers), "color": f"@{colour}"},
        "marker": {"color": f"@{colour}", "symbol": symbol, "size": 8},
        "hovertext": [for_chart(f"{brief_words(check['number'])}: {says}") for _, check in some],
        "hoverinfo": "text",
    }


def _asked(checks: Sequence[Data], own: Reach) -> list[Data]:
    """Draw a band where the claim expects the number, in each row."""
    ends = [10.0**end if own.log else end for end in own.range]
    bands = []
    for place, check in enumerate(checks):
        low, high = check["between"]
        low = ends[0] if low is None or (own.log and low <= 0) else low
        high = ends[1] if high is None else high
        band = {"type": "rect", "xref": "x", "yref": "y", "x0": low, "x1": high}
        look = {"line": {"width": 0}, "fillcolor": "@blue:0.09", "layer": "below"}
        bands.append({**band, "y0": place - 0.5, "y1": place + 0.5, **look})
    return bands


def _alike(checks: Sequence[Data]) -> bool:
    return len({check["asks"] for check in checks}) == 1


def _label(check: Data, checks: Sequence[Data]) -> str:
    """Name the properties in which the checks differ, and the quantity if that differs too."""
    case = check["case"]
    varied = [key for key in case if len({str(one["case"].get(key)) for one in checks}) > 1]
    words = [str(case[key]) for key in varied or case]
    if len({one["quantity"] for one in checks}) > 1 and "number" not in case:
        words.append(check["quantity"])
    return ", ".join(words)
