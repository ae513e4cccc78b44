"""Every layout's trainings: finished, failed or missing, and why they failed."""

from collections.abc import Sequence

from nbyt.report.page.element import Child, Markup, code, join, tag
from nbyt.report.page.part import Part, section, table
from nbyt.report.page.quantity import layout_mark
from nbyt.report.sweep_tables import last_line
from nbyt.results.values import Data


def cells_section(data: Data) -> Part:
    """A row for each layout, and each reason for which trainings failed."""
    head: list[Child] = ["N × T", "finished", "failed", "seeds that failed", "missing"]
    rows = [_row(data, layout) for layout in data["layouts"]]
    counts = data["cells"]
    if counts["done"] == counts["total"]:
        said = f"All {counts['total']} trainings are finished; none failed."
        return Part(section("cells", "The trainings", said))
    lead = (
        f"{counts['done']} of {counts['total']} trainings are finished, {counts['failed']} "
        "failed. Numbers of a layout are those of its finished seeds."
    )
    body = table("Trainings of every layout", head, rows, class_="cells")
    return Part(section("cells", "The trainings", lead, body, _reasons(data["failures"])))


def _row(data: Data, layout: Data) -> Markup:
    failed = [
        str(one["seed"])
        for one in data["failures"]
        if (one["envs"], one["steps"]) == (layout["envs"], layout["steps"])
    ]
    cells: list[Child] = [
        layout_mark(layout),
        f"{len(layout['seeds']['finished'])} of {len(data['seeds'])}",
        str(layout["seeds"]["failed"]),
        ", ".join(failed) or "\u2013",
        str(layout["seeds"]["missing"]),
    ]
    return tag("tr", *(tag("td", cell) for cell in cells))


def _reasons(failures: Sequence[Data]) -> Markup | None:
    """Every reason once, with the trainings that it ended."""
    found: dict[tuple[str, str], list[Data]] = {}
    for one in failures:
        found.setdefault((one["message"], one.get("fix", "")), []).append(one)
    if not found:
        return None
    blocks = [_reason(message, fix, own) for (message, fix), own in found.items()]
    return join([tag("h3", "Why trainings failed"), *blocks])


def _reason(message: str, fix: str, own: Sequence[Data]) -> Markup:
    where: dict[str, list[str]] = {}
    for one in own:
        where.setdefault(f"{one['envs']}x{one['steps']}", []).append(str(one["seed"]))
    said = "; ".join(
        f"{name}, seed{'s' * (len(seeds) > 1)} {', '.join(seeds)}" for name, seeds in where.items()
    )
    last = last_line(message)
    trace = None
    if last != message.strip():
        summary = tag("summary", "The whole message")
        trace = tag("details", summary, tag("pre", code(message), tabindex="0"))
    return tag(
        "div",
        tag("p", tag("strong", last)),
        tag("p", said, class_="muted"),
        tag("p", f"What to do: {fix}") if fix else None,
        trace,
        class_="failure",
    )
