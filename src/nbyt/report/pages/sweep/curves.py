"""Learning curves of all layouts, over samples and over seconds; a slider brings one forward."""

from nbyt.report.figures.axes import along, reach, x_axis
from nbyt.report.figures.parts import band, figure, scatter, value_axis
from nbyt.report.html.element import Markup, tag
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart_place, section, slider_bar, wrap
from nbyt.report.numbers import words
from nbyt.report.pages.sweep.answer import (
    best_index,
    colours,
    finished_indices,
    kinds_of,
    layout_label,
)
from nbyt.results.sweep import Sweep, SweptLayout
from nbyt.results.values import Data, Kind

_TITLE = "Learning curves"
_SLIDER = "slider-curves"
_TITLES: dict[Kind, str] = {"per_sample": "Over samples", "per_second": "Over seconds"}
_UNITS: dict[Kind, str] = {"per_sample": "samples", "per_second": "s"}
_HEIGHT = 380


def curves_section(sweep: Sweep) -> Part:
    """Show both charts, and the slider that chooses the layout whose interval is drawn."""
    kinds = kinds_of(sweep)
    if not kinds:
        return section("curves", _TITLE, "No training was finished.", link=_TITLE)
    places = finished_indices(sweep)
    start = places.index(best_index(sweep, kinds[0]))
    labels = [layout_label(sweep, kinds[0], place) for place in places]
    row = wrap("div", *(_figure(sweep, kind, places) for kind in kinds), class_="row")
    bar = slider_bar(_SLIDER, "Layout", labels, start) if len(places) > 1 else None
    inside = wrap("div", bar, _key(sweep, places), row, class_="slides", role="group")
    lead = (
        "The IQM of the return of the frozen policy over whole episodes; the key goes from the "
        "first layout to the last. The slider brings one layout forward, with its 95 % interval."
    )
    return section("curves", _TITLE, lead, inside, link=_TITLE)


def curves_chart(sweep: Sweep) -> Data:
    """Draw the curves over samples, the best layout's with its interval."""
    kind = kinds_of(sweep)[0]
    return _chart(sweep, kind, finished_indices(sweep), best_index(sweep, kind))


def _figure(sweep: Sweep, kind: Kind, places: list[int]) -> Part:
    frames = [_chart(sweep, kind, places, place) for place in places]
    about = f"{_TITLES[kind]}: the return of every layout while it is trained."
    drawn = chart_place(f"curves-{kind}", about, frames, _SLIDER)
    return wrap("figure", tag("h3", _TITLES[kind]), drawn)


def _key(sweep: Sweep, places: list[int]) -> Markup:
    shades = colours(sweep.layouts)
    return key(*((shades[k], "none", "solid", sweep.layouts[k].name) for k in places))


def _chart(sweep: Sweep, kind: Kind, places: list[int], chosen: int) -> Data:
    across = _across(sweep, kind)
    shades = colours(sweep.layouts)
    curves = {place: sweep.layouts[place].standing(kind).curve for place in places}
    order = [place for place in places if place != chosen] + [chosen]
    lines = [
        _line(sweep.layouts[place], kind, across, shades[place], forward=place == chosen)
        for place in order
    ]
    title = "samples" if kind == "per_sample" else "seconds of training"
    numbers = [number for curve in curves.values() for number in curve]
    # A single point has no neighbours from which its band would get a width.
    alone = 0.008 * (across[-1] or 1.0)
    return figure(
        [band(across, curves[chosen], shades[chosen], alone=alone), *lines],
        _HEIGHT,
        xaxis=x_axis(title, along([0.0, *across])),
        yaxis={**value_axis("return", automargin=True), "range": reach(numbers).range},
    )


def _line(
    layout: SweptLayout, kind: Kind, across: list[float], colour: str, *, forward: bool
) -> Data:
    curve = layout.standing(kind).curve
    pairs = zip(across, curve, strict=True)
    texts = [f"{layout.name}, {x:,.4g} {_UNITS[kind]}: {words(number)}" for x, number in pairs]
    shade, width = ("", 3.2) if forward else (":0.6", 1.5)
    return scatter(
        across,
        [number.value for number in curve],
        layout.name,
        texts,
        mode="lines+markers" if forward or len(across) == 1 else "lines",
        line={"color": f"@{colour}{shade}", "width": width},
        marker={"color": f"@{colour}", "size": 6},
    )


def _across(sweep: Sweep, kind: Kind) -> list[float]:
    """Return the samples of the points, or the seconds at which the fastest layout is there."""
    if kind == "per_sample":
        return list(sweep.samples)
    seconds = (sweep.budget and sweep.budget.seconds.value) or 0.0
    return [seconds * point / sweep.points[-1] for point in sweep.points]
