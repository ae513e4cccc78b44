"""The whole page of a sweep: its sections in order."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbyt.report.html.element import Child, Markup, bullets, code, join, tag
from nbyt.report.html.page import Page, Part, command, section, table, titled_facts
from nbyt.report.html.quantity import layout_mark
from nbyt.report.numbers import layout_name, words
from nbyt.report.pages.sweep.advice import advice_section
from nbyt.report.pages.sweep.answer import answer_section
from nbyt.report.pages.sweep.curves import curves_section
from nbyt.report.pages.sweep.steps import steps_section
from nbyt.report.pages.sweep.wins import wins_section
from nbyt.report.tables.sweep import last_line
from nbyt.results.values import Data


def made_section(data: Data) -> Part:
    """Assumptions, settings, the command and the versions."""
    versions: list[tuple[Child, Child]] = [
        (str(name), str(value)) for name, value in (data.get("versions") or {}).items()
    ]
    content = [
        bullets(_assumptions(data)),
        titled_facts("Trained with", _settings(data)),
        tag("h3", "How to get this again"),
        command(str(data["reproduce"])),
        titled_facts("Versions", versions),
    ]
    return section("assumed", "What was assumed", None, *content, link="Assumptions")


def _assumptions(data: Data) -> list[str]:
    start = "unknown" if data["start"] is None else f"{data['start']:.4g}"
    found = [
        "All layouts have the same batch, mini-batch size, epochs and learning settings; only N "
        "and T differ. With other settings another layout may be best.",
        f"Return over training is the mean of {len(data['points'])} returns at evenly spaced "
        "moments, that is the area under the learning curve. At each the policy is frozen and "
        "plays whole episodes.",
        "IQM is the interquartile mean: the mean of the middle half of the seeds. Its interval is "
        "a stratified bootstrap over the seeds of each layout, with percentiles taken further "
        "out for few seeds. A number with ≈ has an interval that is known to be rough.",
        "A layout ties with the best where the interval of the difference of their IQMs holds 0. "
        "Whoever looks best owes some of it to luck, so “behind the best” is rather too large.",
        "What the advised layout loses is measured with the best chosen in one half of the seeds "
        "and held against in the other, so that luck does not count; such intervals are wide.",
    ]
    return found + _timed(data, start)


def _timed(data: Data, start: str) -> list[str]:
    budget = data["budget"]
    if budget is None:
        return ["The seconds of an update were not measured, so nothing is said about time."]
    return [
        "The same time is that which the fastest layout takes for all of its updates: "
        f"{layout_name(budget)}, {words(budget['seconds'])} seconds of training alone, one "
        "training at a time. How long an update takes was timed at a few layouts on the machine "
        "of this sweep; between its points a curve is a straight line, and it is taken to come "
        f"from {start}, the lowest first point of all layouts."
    ]


def _settings(data: Data) -> list[tuple[Child, Child]]:
    seeds = data["seeds"]
    several = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
    rows: list[tuple[Child, Child]] = [
        ("environment", data["env"]),
        ("batch", f"{data['batch']:,}"),
        ("mini-batch", f"{data['minibatch']:,}"),
        ("epochs", str(data["epochs"])),
        ("steps of each training", f"{data['total']:,}"),
        ("seeds", several),
    ]
    rows += [(str(name).replace("_", " "), _plain(one)) for name, one in data["settings"].items()]
    return rows


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def cells_section(data: Data) -> Part:
    """A row for each layout, and each reason for which trainings failed."""
    head: list[Child] = ["N × T", "finished", "failed", "seeds that failed", "missing"]
    rows = [_row(data, layout) for layout in data["layouts"]]
    counts = data["cells"]
    if counts["done"] == counts["total"]:
        said = f"All {counts['total']} trainings are finished; none failed."
        return section("cells", "The trainings", said, link="Trainings")
    lead = (
        f"{counts['done']} of {counts['total']} trainings are finished, {counts['failed']} "
        "failed. Numbers of a layout are those of its finished seeds."
    )
    body = table("Trainings of every layout", head, rows, class_="cells")
    why = _reasons(data["failures"])
    return section("cells", "The trainings", lead, body, why, link="Trainings")


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


_SECTIONS = (
    answer_section,
    steps_section,
    curves_section,
    wins_section,
    advice_section,
    cells_section,
    made_section,
)


def render_sweep(data: Data) -> str:
    """Return the page of a sweep as HTML."""
    return _page(data).html()


def write_page(data: Data, path: Path) -> None:
    """Write the page; `path` holds all of it, or what it held before."""
    _page(data).write(path)


def _page(data: Data) -> Page:
    seeds, layouts = len(data["seeds"]), len(data["layouts"])
    about = (
        f"{layouts} layout{'s' * (layouts > 1)} of a batch of {data['batch']:,} samples, "
        f"{seeds} seed{'s' * (seeds > 1)} of each, {data['total']:,} steps of each training"
    )
    return Page(
        kind="sweep",
        title=f"N by T: sweep of {data['env']}, batch {data['batch']}",
        brand="nbyt sweep",
        heading=join(["What every layout reached on ", tag("span", data["env"], class_="env")]),
        about=[about],
        skip="Skip to the answer",
        sections=[build(data) for build in _SECTIONS],
    )
