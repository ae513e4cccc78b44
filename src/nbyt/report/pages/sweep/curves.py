"""Learning curves of all layouts, over samples and over seconds; a slider brings one forward."""

from nbyt.report.figures.axes import along, reach, x_axis
from nbyt.report.figures.parts import band, figure, value_axis
from nbyt.report.html.element import Markup, for_chart, tag
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart_place, section, slider_bar, wrap
from nbyt.report.numbers import layout_name, words
from nbyt.report.pages.sweep.answer import best_index, colours, is_known, kinds_of, layout_label
from nbyt.results.values import Data

_TITLE = "Learning curves"
_SLIDER = "slider-curves"
_TITLES = {"per_sample": "Over samples", "per_second": "Over seconds"}
_HEIGHT = 380


def curves_section(data: Data) -> Part:
    """Both charts, and the slider that chooses the layout whose interval is drawn."""
    kinds = kinds_of(data)
    if not kinds:
        said = "No training was finished."
        return section("curves", _TITLE, said, link=_TITLE)
    places = [place for place, one in enumerate(data["layouts"]) if is_known(one, kinds[0])]
    start = places.index(best_index(data, kinds[0]))
    words_ = [layout_label(data, kinds[0], place) for place in places]
    row = wrap("div", *(_figure(data, kind, places) for kind in kinds), class_="row")
    bar = slider_bar(_SLIDER, "Layout", words_, start) if len(places) > 1 else None
    inside = wrap("div", bar, _key(data, places), row, class_="slides", role="group")
    lead = (
        "The IQM of the return of the frozen policy, played in whole episodes; the key goes from "
        "the first layout to the last. The slider brings one layout forward, with its 95 % "
        "interval."
    )
    return section("curves", _TITLE, lead, inside, link=_TITLE)


def _figure(data: Data, kind: str, places: list[int]) -> Part:
    frames = [_chart(data, kind, places, place) for place in places]
    words_ = f"{_TITLES[kind]}: the return of every layout while it is trained."
    drawn = chart_place(f"curves-{kind}", words_, frames, _SLIDER)
    return wrap("figure", tag("h3", _TITLES[kind]), drawn)


def _key(data: Data, places: list[int]) -> Markup:
    shades = colours(data["layouts"])
    return key(*((shades[k], "none", "solid", layout_name(data["layouts"][k])) for k in places))


def _chart(data: Data, kind: str, places: list[int], chosen: int) -> Data:
    across = _across(data, kind)
    shades = colours(data["layouts"])
    order = [place for place in places if place != chosen] + [chosen]
    own = data["layouts"][chosen][kind]["curve"]
    traces = [_line(data, kind, place, across, shades[place], place == chosen) for place in order]
    numbers = [one for place in places for one in data["layouts"][place][kind]["curve"]]
    title = "samples" if kind == "per_sample" else "seconds of training"
    return figure(
        [band(across, own, shades[chosen], alone=_alone(across)), *traces],
        _HEIGHT,
        xaxis=x_axis(title, along([0.0, *across])),
        yaxis={**value_axis("return", automargin=True), "range": reach(numbers).range},
    )


def _line(
    data: Data, kind: str, place: int, across: list[float], colour: str, forward: bool
) -> Data:
    layout = data["layouts"][place]
    curve = layout[kind]["curve"]
    unit = "samples" if kind == "per_sample" else "s"
    return {
        "type": "scatter",
        "mode": "lines+markers" if forward or len(across) == 1 else "lines",
        "name": layout_name(layout),
        "x": across,
        "y": [one["value"] for one in curve],
        "line": {
            "color": f"@{colour}" if forward else f"@{colour}:0.6",
            "width": 3.2 if forward else 1.5,
        },
        "marker": {"color": f"@{colour}", "size": 6},
        "hovertext": [
            for_chart(f"{layout_name(layout)}, {x:,.4g} {unit}: {words(one)}")
            for x, one in zip(across, curve, strict=True)
        ],
        "hoverinfo": "text",
    }


def _across(data: Data, kind: str) -> list[float]:
    """The samples of the points; or the seconds at which the fastest layout is there."""
    if kind == "per_sample":
        return list(data["samples"])
    whole = data["budget"]["seconds"]["value"]
    return [whole * point / data["points"][-1] for point in data["points"]]


def _alone(across: list[float]) -> float:
    return 0.008 * (across[-1] or 1.0)
