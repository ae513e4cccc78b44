"""Draw lines with bands for their intervals, over a linear or a log axis."""

from collections.abc import Sequence
from math import log10

from msgspec.structs import replace

from nbyt.report.figures.axes import Reach, along, drawable, reach, said_of, shared, x_axis, y_axis
from nbyt.report.figures.drawn import Drawn, error_bars, look, named, remarks
from nbyt.report.figures.parts import MARGIN, band, curve, figure, level, shaded
from nbyt.report.html.element import Markup, for_chart
from nbyt.report.numbers import brief_words, has_interval, short
from nbyt.results.study import Lines, NumberSeries
from nbyt.results.values import Data, Number

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


def lines_drawn(frames: Sequence[Lines]) -> Drawn:
    """Draw a chart for each frame."""
    reaches = shared([_reach(one) for one in frames])
    pairs = list(zip(frames, reaches, strict=True))
    return Drawn(
        [_chart(one, own) for one, own in pairs],
        [_key(one.series) for one in frames],
        [
            remarks(
                (lost for series in one.series for lost in _missing(one, series, own)),
                said_of(own, reaches),
            )
            for one, own in pairs
        ],
    )


def _reach(one: Lines) -> Reach:
    numbers = [number for series in one.series for number in series.numbers]
    heights = [height for height, _ in one.marks]
    return reach(numbers, heights, log=one.y.log)


def _chart(one: Lines, own: Reach) -> Data:
    # Points above lines: where a line follows them, it would hide them.
    order = sorted(enumerate(one.series), key=lambda pair: -pair[1].line)
    traces = [trace for k, series in order for trace in _traces(one, series, k, own)]
    spans, words_below = _spans(one)
    return figure(
        traces,
        _HEIGHT,
        xaxis=_across(one),
        yaxis=y_axis(one.y.title, own),
        shapes=[*spans, *(level(height) for height, _ in one.marks)],
        annotations=[*words_below, *(_note(height, text, own) for height, text in one.marks)],
        margin=MARGIN,
    )


def _across(one: Lines) -> Data:
    """Build the horizontal axis; its ticks are given, or the places themselves if they are few."""
    axis = one.x
    log = axis.log
    given = [(at, word) for at, word in axis.ticks or () if at > 0 or not log]
    places = sorted({x for x in _places(one) if x > 0 or not log})
    if log and not given and len(places) <= _FEW:
        given = [(x, short(x)) for x in places]
    found = along([*places, *(at for at, _ in given)], log=log)
    # Words of layouts and the like are all needed: they turn where there is little room.
    worded = len(given) <= _FEW and any(c.isalpha() for _, word in given for c in word)
    needed = {"all": True, "automargin": True} if worded else {}
    return x_axis(axis.title, found, given) | needed


def _places(one: Lines) -> list[float]:
    return [x for series in one.series for x in series.x]


def _traces(one: Lines, series: NumberSeries, place: int, own: Reach) -> list[Data]:
    style = look(place)
    numbers = [_clipped(number, own) for number in series.numbers]
    y = [n.value if drawable(n, log=own.log) else None for n in numbers]
    pairs = zip(series.x, series.numbers, strict=True)
    texts = [f"{_place(one, x)}: {series.name} {brief_words(n)}" for x, n in pairs]
    main = curve(series.x, y, series.name, texts, style)
    if not series.line:
        return [{**main, "mode": "markers", **error_bars(numbers, style["colour"])}]
    if len(y) > _MANY:
        main = {**main, "mode": "lines"}
    if not any(has_interval(number) for number in numbers):
        return [main]
    return [band(series.x, numbers, style["colour"], 1.0, _alone(one)), main]


def _alone(one: Lines) -> float | None:
    """Return half the width of a band without neighbours; None on a log axis."""
    xs = _places(one) or [0.0]
    return None if one.x.log else _ALONE * ((max(xs) - min(xs)) or 1.0)


def _clipped(number: Number, own: Reach) -> Number:
    """Clip the interval to what a log axis can show; undetermined numbers stay."""
    if not drawable(number, log=own.log):
        return Number(value=None)
    if not own.log or not has_interval(number):
        return number
    return replace(number, low=max(number.low, min(own.bottom, number.value)))


def _spans(one: Lines) -> tuple[list[Data], list[Data]]:
    """Shade a part of x for each span, with its words at the foot."""
    shapes, notes = [], []
    # Figures of studies that were kept before there were spans have none.
    for first, last, text in one.spans or ():
        shapes.append(shaded("@ink:0.07", yref="paper", y0=0, y1=1, x0=first, x1=last))
        middle = (log10(first) + log10(last)) / 2 if one.x.log else (first + last) / 2
        place = {"x": middle, "y": 0, "yref": "paper", "yanchor": "bottom"}
        notes.append({"text": for_chart(text), **place, **_QUIET})
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


def _key(some: Sequence[NumberSeries]) -> Markup | None:
    return named(some, lambda place: _sample(some[place], place))


def _sample(series: NumberSeries, place: int) -> tuple[str, str | None]:
    style = look(place)
    plain = series.line and len(series.x) > _MANY
    return "none" if plain else style["symbol"], style["dash"] if series.line else None


def _missing(one: Lines, series: NumberSeries, own: Reach) -> list[tuple[str, str, str]]:
    """List name, place and reason of what is not drawn; no places if it is all of a series."""
    pairs = list(zip(series.x, series.numbers, strict=True))
    lost = [(x, _why(number)) for x, number in pairs if not drawable(number, log=own.log)]
    reasons = {reason for _, reason in lost}
    if len(lost) == len(pairs) and len(reasons) == 1:
        return [(series.name, "", reasons.pop())]
    return [(series.name, _place(one, x), reason) for x, reason in lost]


def _place(one: Lines, x: float) -> str:
    """Name a place of x: by its tick, or by the number."""
    return dict(one.x.ticks or ()).get(x, short(x))


def _why(number: Number) -> str:
    if number.value is not None:
        return f"{brief_words(number)} has no place on a log axis"
    return number.why or "undetermined"
