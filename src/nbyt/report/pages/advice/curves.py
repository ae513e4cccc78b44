"""Learning curves of the race: every layout's seeds, over time and over samples."""

from collections.abc import Sequence
from typing import Literal

from nbyt.report.advice_words import marks, part_words, raced_words, time_words
from nbyt.report.figures.axes import Reach, along, reach, x_axis
from nbyt.report.figures.parts import band, figure, level, scatter, value_axis
from nbyt.report.html.element import Markup, for_chart, tag
from nbyt.report.html.key import key
from nbyt.report.html.page import Part, chart_place, section, slider_bar, wrap
from nbyt.report.numbers import layout_name, short
from nbyt.results.advice import Advice, Arm, Race
from nbyt.results.values import Data, Known

Across = Literal["spent", "samples"]
_TITLE = "Learning curves"
_SLIDER = "slider-curves"
_HEIGHT = 390
_COLOURS = 12
_SHARES = (1, 2, 5, 10, 20, 25, 50)  # per cent between two ticks
_MOST_TICKS = 7


def curves_section(data: Advice) -> Part:
    """Show the curves of all layouts; a slider brings one forward."""
    race = data.race
    if race is None:
        said = (
            "Nothing was trained for this advice, so there are no learning curves of this task: "
            "the answer rests on the reference tasks alone."
        )
        return section("curves", _TITLE, said, link="Curves")
    arms = ordered(race)
    start = _start(data, arms)
    labels = [", ".join([layout_name(arm), *marks(data, arm)]) for arm in arms]
    bar = slider_bar(_SLIDER, "Layout", labels, start)
    kinds: list[Across] = ["spent", "samples"] if data.objective == "time" else ["spent"]
    row = wrap("div", *(_figure(data, race, arms, kind) for kind in kinds), class_="row")
    inside = wrap("div", bar, _key(data, arms), row, class_="slides", role="group")
    return section("curves", _TITLE, _lead(race), inside, link="Curves")


def ordered(race: Race) -> list[Arm]:
    """Return the layouts of a race from the shortest T to the longest."""
    return sorted(race.arms, key=lambda arm: arm.steps)


def means(arm: Arm) -> list[Known]:
    """Return the mean return at every point, with the lowest and the highest seed."""
    columns = list(zip(*arm.returns, strict=True))
    return [Known(value=sum(own) / len(own), low=min(own), high=max(own)) for own in columns]


def shades(arms: Sequence[Arm]) -> list[str]:
    """Return a colour of the style sheet for each layout."""
    last = max(len(arms) - 1, 1)
    return [f"t{round(place * (_COLOURS - 1) / last)}" for place in range(len(arms))]


def _lead(race: Race) -> str:
    seeds = {len(arm.seeds) for arm in race.arms}
    return (
        f"The mean return of the {raced_words(race)} while they ran. A line is the mean of a "
        f"layout's seeds ({'one' if seeds == {1} else 'the same seeds for all layouts'}), its "
        "band goes from the lowest seed to the highest. The slider brings one layout forward."
    )


def _start(data: Advice, arms: Sequence[Arm]) -> int:
    """Return the place of the advised layout, or of the one with the best mean gain."""
    advised = [k for k, arm in enumerate(arms) if "advised" in marks(data, arm)]
    best = max(range(len(arms)), key=lambda k: sum(arms[k].gains) / len(arms[k].gains))
    return advised[0] if advised else best


def _figure(data: Advice, race: Race, arms: Sequence[Arm], kind: Across) -> Part:
    frames = [_chart(data, race, arms, kind, chosen) for chosen in range(len(arms))]
    title = "Over samples"
    if kind == "spent":
        title = "Over time" if data.objective == "time" else "Over a training's samples"
    about = f"{title}: the mean return of every layout in its {part_words(race)}."
    drawn = chart_place(f"curves-{kind}", about, frames, _SLIDER)
    return wrap("figure", tag("h3", title), drawn)


def _key(data: Advice, arms: Sequence[Arm]) -> Markup:
    roles = {"advised": " ★", "yours": " (yours)"}
    names = [
        layout_name(arm) + "".join(roles.get(role, "") for role in marks(data, arm)) for arm in arms
    ]
    pairs = zip(shades(arms), names, strict=True)
    return key(*((shade, "none", "solid", name) for shade, name in pairs))


def _chart(data: Advice, race: Race, arms: Sequence[Arm], kind: Across, chosen: int) -> Data:
    order = [place for place in range(len(arms)) if place != chosen] + [chosen]
    traces: list[Data] = []
    for place in order:
        traces += _traces(arms[place], shades(arms)[place], kind, forward=place == chosen)
    numbers = [number for arm in arms for number in means(arm)]
    up = reach(numbers, [race.untrained])
    return figure(
        traces,
        _HEIGHT,
        xaxis=_across(data, race, arms, kind),
        yaxis={**value_axis("return", automargin=True, zeroline=False), "range": up.range},
        shapes=[level(race.untrained)],
        annotations=[_untrained(race, up)],
    )


def _traces(arm: Arm, colour: str, kind: Across, *, forward: bool) -> list[Data]:
    x = list(arm.spent if kind == "spent" else arm.samples)
    numbers = means(arm)
    texts = [
        f"{layout_name(arm)}, {_place(at, kind)}: {short(one.value)}, "
        f"seeds {short(one.low)} to {short(one.high)}"
        for at, one in zip(x, numbers, strict=True)
    ]
    shade, width = ("", 3.4) if forward else (":0.7", 1.6)
    line = {"color": f"@{colour}{shade}", "width": width}
    values = [one.value for one in numbers]
    drawn = scatter(x, values, layout_name(arm), texts, mode="lines", line=line)
    fill = f"@{colour}:{0.22 if forward else 0.11}"
    return [{**band(x, numbers, colour), "fillcolor": fill}, drawn]


def _place(at: float, kind: Across) -> str:
    return f"{100 * at:.3g} % of a training" if kind == "spent" else f"{at:,.0f} env steps"


def _across(data: Advice, race: Race, arms: Sequence[Arm], kind: Across) -> Data:
    if kind == "samples":
        seen = [float(at) for arm in arms for at in arm.samples]
        return x_axis("env steps", along([0.0, *seen]))
    last = max(at for arm in arms for at in arm.spent)
    below = ", seconds" if race.unit_seconds else ""
    what = "time" if data.objective == "time" else "samples"
    return x_axis(f"share of a training's {what}{below}", along([0.0, last])) | _ticks(race, last)


def _ticks(race: Race, last: float) -> Data:
    """Return shares of a whole training as ticks, with the seconds that they take below."""
    between = next((one for one in _SHARES if 100 * last / one <= _MOST_TICKS - 1), None)
    if between is None:
        return {}
    places = range(0, int(100 * last + 1e-6) + 1, between)
    unit = race.unit_seconds
    texts = [f"{at} %" + (f"<br>{time_words(unit * at / 100)}" if unit else "") for at in places]
    return {"tickvals": [at / 100 for at in places], "ticktext": texts}


def _untrained(race: Race, up: Reach) -> Data:
    """Name the thin line of the untrained policy."""
    low, high = up.range
    above = race.untrained < high - 0.08 * (high - low)
    return {
        "text": for_chart("untrained"),
        "x": 1,
        "xref": "paper",
        "y": race.untrained,
        "xanchor": "right",
        "yanchor": "bottom" if above else "top",
        "showarrow": False,
        "bgcolor": "@card:0.7",
        "font": {"size": 11, "color": "@muted"},
    }
