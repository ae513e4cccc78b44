"""What an update costs."""

from nbyt.report.page.charts.seconds import cost_chart
from nbyt.report.page.element import tag
from nbyt.report.page.key import key
from nbyt.report.page.part import Part, chart, numbers, section, table
from nbyt.report.page.quantity import layout_mark, reasons_of, shown
from nbyt.results.values import Data


def cost_section(data: Data) -> Part:
    """Seconds of an update for every T, and the updates that were timed."""
    if not data.get("costs"):
        words = "The cost of an update was not measured."
        return Part(section("cost", "Cost", words))
    lead = (
        "Time of one update (collect a batch, run all epochs) on the machine named below. Each "
        "cross is an update that was timed; the line goes through them, its band is the 95 % "
        "interval."
    )
    marks = key(("blue", "circle", "solid", "estimated"), ("vermillion", "cross", None, "timed"))
    drawn = chart("cost", "Milliseconds of an update against T.", [cost_chart(data)])
    layouts = data["stages"][0]["layouts"]
    missing = reasons_of(("seconds", one["steps"], one["seconds"]) for one in layouts)
    rows = [
        tag("tr", tag("td", layout_mark(one)), tag("td", shown(one["seconds"], 1000, " ms")))
        for one in layouts
    ]
    folded = numbers("The numbers", table("Cost of an update", ["N × T", "an update"], rows))
    return Part(section("cost", "Cost", lead, marks, drawn.html, missing, folded), drawn.charts)
