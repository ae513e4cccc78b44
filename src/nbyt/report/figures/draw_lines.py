"""Draw lines with bands for their intervals, over a linear or a log axis."""

from collections.abc import Sequence
from math import log10

from nbyt.report.figures.axes import Reach, along, drawable, reach, said_of, shared, x_axis, y_axis
from nbyt.report.figures.drawn import Drawn, error_bars, look, named, remarks
from nbyt.report.figures.parts import band, curve, figure
from nbyt.report.html.element import Markup, for_chart
from nbyt.report.numbers import Number, brief_words, has_interval, short
from nbyt.results.values import Data

_HEIGHT = 340
_FEW = 14  # places that can all be ticks
_MANY = 60  # points of a line that need no markers
_QUIET: Data = {
    "showarrow": False,
    "bgcolor": "@card:0.7",
    "borderpad": 1,
    "font": {"size": 11, "color": "@muted"},
}
_ALONE = 0.008  # half the width of the band of a point alone, as a share of the axis


def lines_drawn(frames: Sequence[Data]) -> Drawn:
    """Draw a chart for each frame."""
    reaches = shared([_reach(one) for one in frames])
    pairs = list(zip(frames, reaches, strict=True))
    return Drawn(
        [_chart(one, own) for one, own in pairs],
        [_key(one) for one in frames],
        [_remarks(one, own, said_of(own, reaches)) for one, own in pairs],
    )


def _reach(one: Data) -> Reach:
    numbers = [number for series in one["series"] for number in series["numbers"]]
    heights = [height for height, _ in one["marks"]]
    return reach(numbers, heights, log=one["y"]["log"])


def _chart(one: Data, own: Reach) -> Data:
    # Points above lines: where a line follows them, it would hide them.
    order = sorted(enumerate(one["series"]), key=lambda pair: -pair[1]["line"])
    traces = [trace for k, series in order for trace in _traces(one, series, k, own)]
    shapes, notes = _marks(one["marks"], own)
    shaded, words_below = _spans(one)
    return figure(
        traces,
        _HEIGHT,
        xaxis=_across(one),
        yaxis=y_axis(one["y"]["title"], own),
        shapes=[*shaded, *shapes],
        annotations=[*words_below, *notes],
        margin={"l": 66, "r": 14, "t": 14, "b": 52},
    )


def _across(one: Data) -> Data:
    """Build the horizontal axis; its ticks are given, or the places themselves if they are few."""
    axis = one["x"]
    log = axis["log"]
    given = [(at, str(word)) for at, word in axis["ticks"] if at > 0 or not log]
    places = sorted({x for x in _places(one) if x > 0 or not log})
    if log and not given and len(places) <= _FEW:
        given = [(x, short(x)) for x in places]
    found = along([*places, *(at for at, _ in given)], log=log)
    # Words of layouts and the like are all needed: they turn where there is little room.
    worded = len(given) <= _FEW and any(c.isalpha() for _, word in given for c in word)
    needed = {"all": True, "automargin": True} if worded else {}
    return x_axis(axis["title"], found, given) | needed


def _places(one: Data) -> list[float]:
    return [x for series in one["series"] for x in series["x"]]


def _traces(one: Data, series: Data, place: int, own: Reach) -> list[Data]:
    style = look(place)
    numbers = [_clipped(number, own) for number in series["numbers"]]
    y = [n["value"] if drawable(n, log=own.log) else None for n in numbers]
    main = curve(series["x"], y, for_chart(series["name"]), _texts(one, series), style)
    if not series["line"]:
        return [{**main, "mode": "markers", **error_bars(numbers, style["colour"])}]
    if len(y) > _MANY:
        main = {**main, "mode": "lines"}
    if not any(has_interval(number) for number in numbers):
        return [main]
    return [band(series["x"], numbers, style["colour"], 1.0, _alone(one)), main]


def _alone(one: Data) -> float | None:
    """Return half the width of a band without neighbours; None on a log axis."""
    xs = _places(one) or [0.0]
    return None if one["x"]["log"] else _ALONE * ((max(xs) - min(xs)) or 1.0)


def _clipped(number: Number, own: Reach) -> Number:
    """Clip the interval to what a log axis can show; undetermined numbers stay."""
    if not own.log or not has_interval(number) or not drawable(number, log=True):
        return number if drawable(number, log=own.log) else {"value": None}
    return {**number, "low": max(number["low"], min(own.bottom, number["value"]))}


def _texts(one: Data, series: Data) -> list[str]:
    pairs = zip(series["x"], series["numbers"], strict=True)
    return [for_chart(f"{_place(one, x)}: {series['name']} {brief_words(n)}") for x, n in pairs]


def _marks(marks: Sequence[tuple[float, str]], own: Reach) -> tuple[list[Data], list[Data]]:
    """Draw a thin line at each height, with its words at the right end."""
    shapes, notes = [], []
    for height, text in marks:
        line = {"color": "@ink:0.55", "width": 1.2, "dash": "dash"}
        ends = {"x0": 0, "x1": 1, "y0": height, "y1": height}
        shapes.append({"type": "line", "xref": "paper", "layer": "below", "line": line, **ends})
        notes.append(_note(height, text, own))
    return shapes, notes


def _spans(one: Data) -> tuple[list[Data], list[Data]]:
    """Shade a part of x for each span, with its words at the foot."""
    shapes, notes = [], []
    # Figures of studies that were kept before there were spans have none.
    for first, last, text in one.get("spans", []):
        whole = {"yref": "paper", "y0": 0, "y1": 1, "x0": first, "x1": last}
        look = {"fillcolor": "@ink:0.07", "line": {"width": 0}, "layer": "below"}
        shapes.append({"type": "rect", **whole, **look})
        middle = (log10(first) + log10(last)) / 2 if one["x"]["log"] else (first + last) / 2
        own = {"x": middle, "y": 0, "yref": "paper", "yanchor": "bottom"}
        notes.append({"text": for_chart(text), **own, **_QUIET})
    return shapes, notes


def _note(height: float, text: str, own: Reach) -> Data:
    at = log10(height) if own.log else height
    low, high = own.range
    return {
        "text": for_chart(text),
        "x": 1,
        "xref": "paper",
        "y": at,
        "xanchor": "right",
        # Below the line where there is no room above it.
        "yanchor": "top" if at > high - 0.08 * (high - low) else "bottom",
        **_QUIET,
    }


def _key(one: Data) -> Markup | None:
    return named(one["series"], lambda place: _sample(one["series"][place], place))


def _sample(series: Data, place: int) -> tuple[str, str | None]:
    style = look(place)
    plain = series["line"] and len(series["x"]) > _MANY
    return "none" if plain else style["symbol"], style["dash"] if series["line"] else None


def _remarks(one: Data, own: Reach, others: list[str]) -> Markup | None:
    missing = [lost for series in one["series"] for lost in _missing(one, series, own)]
    return remarks(missing, others)


def _missing(one: Data, series: Data, own: Reach) -> list[tuple[str, str, str]]:
    """List name, place and reason of what is not drawn; no places if it is all of a series."""
    pairs = list(zip(series["x"], series["numbers"], strict=True))
    lost = [(x, _why(number)) for x, number in pairs if not drawable(number, log=own.log)]
    reasons = {reason for _, reason in lost}
    if len(lost) == len(pairs) and len(reasons) == 1:
        return [(series["name"], "", reasons.pop())]
    return [(series["name"], _place(one, x), reason) for x, reason in lost]


def _place(one: Data, x: float) -> str:
    """Name a place of x: by its tick, or by the number."""
    named = dict(one["x"]["ticks"])
    return str(named.get(x, short(x)))


def _why(number: Number) -> str:
    if number.get("value") is not None:
        return f"{brief_words(number)} has no place on a log axis"
    return number.get("reason") or "undetermined"
