"""The whole page of a sweep: its sections in order."""

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from nbyt.report.html.element import Child, Markup, bullets, code, join, tag
from nbyt.report.html.page import Page, Part, command, row, section, table, titled_facts
from nbyt.report.html.quantity import layout_mark
from nbyt.report.numbers import words
from nbyt.report.pages.sweep.advice import advice_section
from nbyt.report.pages.sweep.answer import answer_section
from nbyt.report.pages.sweep.curves import curves_section
from nbyt.report.pages.sweep.steps import steps_section
from nbyt.report.pages.sweep.wins import wins_section
from nbyt.report.tables.sweep import last_line
from nbyt.results.sweep import FailedCell, Sweep, SweptLayout


def assumptions_section(sweep: Sweep) -> Part:
    """Show assumptions, settings, the command and the versions."""
    versions: list[tuple[Child, Child]] = [
        (name, str(value)) for name, value in sweep.versions.items()
    ]
    content = [
        bullets(_assumptions(sweep)),
        titled_facts("Trained with", _settings(sweep)),
        tag("h3", "How to get this again"),
        command(sweep.reproduce),
        titled_facts("Versions", versions),
    ]
    return section("assumed", "What was assumed", None, *content, link="Assumptions")


def _assumptions(sweep: Sweep) -> list[str]:
    return [
        "All layouts have the same batch, mini-batch size, epochs and learning settings; only N "
        "and T differ. With other settings another layout may be best.",
        f"Return over training is the mean of {len(sweep.points)} returns at evenly spaced "
        "moments, that is the area under the learning curve. At each the policy is frozen and "
        "plays whole episodes.",
        "IQM is the interquartile mean: the mean of the middle half of the seeds. Its interval is "
        "a stratified bootstrap over the seeds of each layout, with percentiles taken further "
        "out for few seeds. A number with ≈ has an interval that is known to be rough.",
        "A layout ties with the best where the interval of the difference of their IQMs holds 0. "
        "The leader is partly lucky (winner's curse), so “behind the best” is rather too large.",
        "What the advised layout loses is measured with the best chosen in one half of the seeds "
        "and compared in the other, so that luck does not count; such intervals are wide.",
        _timing(sweep),
    ]


def _timing(sweep: Sweep) -> str:
    fastest = sweep.budget
    if fastest is None:
        return "The seconds of an update were not measured, so nothing is said about time."
    start = "unknown" if sweep.start is None else f"{sweep.start:.4g}"
    return (
        "The same time is that which the fastest layout takes for all of its updates: "
        f"{fastest.envs}x{fastest.steps}, {words(fastest.seconds)} seconds of training "
        "alone, one training at a time. How long an update takes was timed at a few layouts on "
        "the machine of this sweep; between its points a curve is a straight line, and it is taken "
        f"to come from {start}, the lowest first point of all layouts."
    )


def _settings(sweep: Sweep) -> list[tuple[Child, Child]]:
    seeds = sweep.seeds
    several = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
    rows: list[tuple[Child, Child]] = [
        ("environment", sweep.env),
        ("batch", f"{sweep.batch:,}"),
        ("mini-batch", f"{sweep.minibatch:,}"),
        ("epochs", str(sweep.epochs)),
        ("steps of each training", f"{sweep.total:,}"),
        ("seeds", several),
    ]
    settings = to_builtins(sweep.settings)
    return rows + [(name.replace("_", " "), _text(value)) for name, value in settings.items()]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def cells_section(sweep: Sweep) -> Part:
    """Show a row for each layout, and each reason for which trainings failed."""
    head: list[Child] = ["N × T", "finished", "failed", "seeds that failed", "missing"]
    rows = [_row(sweep, layout) for layout in sweep.layouts]
    counts = sweep.cells
    if counts.done == counts.total:
        said = f"All {counts.total} trainings are finished; none failed."
        return section("cells", "The trainings", said, link="Trainings")
    lead = (
        f"{counts.done} of {counts.total} trainings are finished, {counts.failed} "
        "failed. Numbers of a layout are those of its finished seeds."
    )
    body = table("Trainings of every layout", head, rows, class_="cells")
    why = _reasons(sweep.failures)
    return section("cells", "The trainings", lead, body, why, link="Trainings")


def _row(sweep: Sweep, layout: SweptLayout) -> Markup:
    split = (layout.envs, layout.steps)
    failed = [str(cell.seed) for cell in sweep.failures if (cell.envs, cell.steps) == split]
    cells: list[Child] = [
        layout_mark(layout),
        f"{len(layout.seeds.finished)} of {len(sweep.seeds)}",
        str(layout.seeds.failed),
        ", ".join(failed) or "\u2013",
        str(layout.seeds.missing),
    ]
    return row(*cells)


def _reasons(failures: Sequence[FailedCell]) -> Markup | None:
    """Show every reason once, with the trainings that it ended."""
    cells: dict[tuple[str, str], list[FailedCell]] = {}
    for cell in failures:
        cells.setdefault((cell.message, cell.fix), []).append(cell)
    if not cells:
        return None
    blocks = [_reason(message, fix, ended) for (message, fix), ended in cells.items()]
    return join([tag("h3", "Why trainings failed"), *blocks])


def _reason(message: str, fix: str, ended: Sequence[FailedCell]) -> Markup:
    where: dict[str, list[str]] = {}
    for cell in ended:
        where.setdefault(f"{cell.envs}x{cell.steps}", []).append(str(cell.seed))
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
    assumptions_section,
)


def sweep_page(sweep: Sweep) -> Page:
    """Build the page of a sweep."""
    seeds, layouts = len(sweep.seeds), len(sweep.layouts)
    about = (
        f"{layouts} layout{'s' * (layouts > 1)} of a batch of {sweep.batch:,} samples, "
        f"{seeds} seed{'s' * (seeds > 1)} of each, {sweep.total:,} steps of each training"
    )
    return Page(
        kind="sweep",
        title=f"N by T: sweep of {sweep.env}, batch {sweep.batch}",
        brand="nbyt sweep",
        heading=join(["What every layout reached on ", tag("span", sweep.env, class_="env")]),
        about=[about],
        skip="Skip to the answer",
        sections=[build(sweep) for build in _SECTIONS],
    )
