"""The whole page of a sweep: its sections in order."""

from pathlib import Path
from typing import Any

from nbyt.report.page.assets import behaviour, plotly_script, style
from nbyt.report.page.element import Child, Markup, bullets, join, tag
from nbyt.report.page.part import Part, merged, section
from nbyt.report.page.shell import command, frame, header, whole
from nbyt.report.study import figures
from nbyt.report.study.assets import study_style
from nbyt.report.study.figure import figures_part
from nbyt.report.sweep_tables import failure_lines, sweep_lines
from nbyt.store.atomic import write_text

Data = dict[str, Any]


def render_sweep(data: Data) -> str:
    """The page of a sweep as one HTML text that needs no other file and no network."""
    return whole(
        f"N by T: sweep of {data['env']}, batch {data['batch']}",
        _body(data),
        style=style() + study_style(),
        scripts=[plotly_script(), behaviour()],
    )


def write_page(data: Data, path: Path) -> None:
    """Nothing; `path` then holds the page, or what it held before."""
    write_text(path, render_sweep(data))


def _body(data: Data) -> Part:
    content = merged([_answer(data), _steps(data), Part(_made(data))])
    links = {"answer": "Answer", "steps": "Against T", "made": "How it was made"}
    return content.inside(frame(_header(data, links), content.html))


def _header(data: Data, links: dict[str, str]) -> Markup:
    about: list[Child] = [
        f"A batch of {data['batch']:,} samples, {len(data['seeds'])} seeds, {data['total']:,} "
        "steps of each training"
    ]
    title = join(["What every layout reached on ", tag("span", data["env"], class_="env")])
    return header("nbyt sweep", title, about, links, ("Skip to the answer", "answer"))


def _answer(data: Data) -> Part:
    return Part(section("answer", "The answer", None, bullets(sweep_lines(data))))


def _steps(data: Data) -> Part:
    layouts = data["layouts"]
    x = [one["steps"] for one in layouts]
    some = [
        figures.series(word, x, [one[kind]["over_training"] for one in layouts])
        for kind, word in (("per_sample", "same samples"), ("per_second", "same seconds"))
        if data["answer"][kind]
    ]
    if not some:
        return Part(section("steps", "Against T", "No training was finished."))
    chart = figures.lines("", "T steps", "mean return over training", some, log_x=True)
    drawn = figures_part([chart], "steps")
    return drawn.inside(section("steps", "Against T", None, drawn.html))


def _made(data: Data) -> Markup:
    return section(
        "made", "How it was made", None, bullets(failure_lines(data)), command(data["reproduce"])
    )
