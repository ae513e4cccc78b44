"""The cost of an update for every T, and the updates that were timed."""

from collections.abc import Sequence
from typing import NamedTuple

from nbyt.report.figures.parts import figure, line, scatter, steps_axis, value_axis
from nbyt.report.html.key import key
from nbyt.report.html.page import Content, Part, chart, merged, numbers, row, section, table
from nbyt.report.html.quantity import layout_mark, reasons_of, shown
from nbyt.report.pages.advice.losses import by_steps
from nbyt.results.advice import Advice, Costs
from nbyt.results.values import Data, Estimate

_LOOK = {"colour": "blue", "dash": "solid", "symbol": "circle"}


class _Place(NamedTuple):
    envs: int
    steps: int


def cost_section(data: Advice) -> Part:
    """Show the seconds of an update for every T, where they are known."""
    rows = [(_Place(one.envs, one.steps), one.seconds) for one in by_steps(data) if one.seconds]
    if data.costs is None and data.costs_from is None:
        return merged([])
    if data.costs is None:
        return section("cost", "Cost of an update", _source(data), link="Cost")
    drawn = chart("cost", "Milliseconds of an update against T.", [cost_chart(rows, data.costs)])
    marks = key(("blue", "circle", "solid", "estimated"), ("vermillion", "cross", None, "timed"))
    missing = reasons_of(("seconds", one.steps, number) for one, number in rows)
    cells = [row(layout_mark(one), shown(number, 1000, " ms")) for one, number in rows]
    body = table("Cost of an update", ["N × T", "an update"], cells)
    folded = numbers("The numbers", body) if rows else None
    lead = (
        f"{_source(data)} Each cross is an update that was timed (collect a batch, run all "
        "epochs); the line goes through them, its band is the 95 % interval."
    )
    content: list[Content] = [marks, drawn, missing, folded]
    return section("cost", "Cost of an update", lead, *content, link="Cost")


def _source(data: Advice) -> str:
    """Say where the costs come from."""
    source = data.costs_from
    if source in ("measured", None):
        return "Updates were timed on the machine named below."
    if source.split(":")[0] == "parallel":
        return (
            f"Nothing was timed: costs are those of parallel hardware ({source}), where all envs "
            "step at once and an update takes a time that grows with T and not with N."
        )
    return f"Costs were read from {source}."


def cost_chart(rows: Sequence[tuple[_Place, Estimate]], costs: Costs) -> Data:
    """Draw the milliseconds of an update: the line is fitted, the crosses were timed."""
    layouts = [one for one, _ in rows]
    timed = [_Place(envs, steps) for envs, steps, _ in costs.timed]
    places = list(dict.fromkeys([*layouts, *timed]))
    fitted = line(layouts, [one for _, one in rows], "seconds an update", _LOOK, 1000)
    return figure(
        [*fitted, _timed(costs)],
        320,
        xaxis=steps_axis(places),
        yaxis=value_axis("milliseconds an update", rangemode="tozero"),
    )


def _timed(costs: Costs) -> Data:
    rows = [(envs, steps, seconds) for envs, steps, every in costs.timed for seconds in every]
    look = {"symbol": "x-thin", "size": 8, "line": {"width": 1.5, "color": "@vermillion"}}
    return scatter(
        [steps for _, steps, _ in rows],
        [1000 * seconds for _, _, seconds in rows],
        "timed",
        [f"timed, {envs}x{steps}: {1000 * seconds:.1f} ms" for envs, steps, seconds in rows],
        marker=look,
    )
