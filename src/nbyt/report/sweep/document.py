"""The whole page of a sweep: its sections in order."""

from pathlib import Path

from nbyt.report.page.assets import behaviour, plotly_script, style
from nbyt.report.page.element import Child, Markup, join, tag
from nbyt.report.page.part import Part, merged
from nbyt.report.page.shell import frame, header, whole
from nbyt.report.study.assets import study_style
from nbyt.report.sweep.advice import advice_section
from nbyt.report.sweep.answer import answer_section
from nbyt.report.sweep.assets import sweep_style
from nbyt.report.sweep.cells import cells_section
from nbyt.report.sweep.curves import curves_section
from nbyt.report.sweep.made import made_section
from nbyt.report.sweep.steps import steps_section
from nbyt.report.sweep.wins import wins_section
from nbyt.results.values import Data
from nbyt.store.atomic import write_text

_SECTIONS = {
    "answer": ("Answer", answer_section),
    "steps": ("Against T", steps_section),
    "curves": ("Learning curves", curves_section),
    "wins": ("Improvement", wins_section),
    "advice": ("The advice", advice_section),
    "cells": ("Trainings", cells_section),
    "assumed": ("Assumptions", made_section),
}


def render_sweep(data: Data) -> str:
    """The page of a sweep as one HTML text that needs no other file and no network."""
    return whole(
        f"N by T: sweep of {data['env']}, batch {data['batch']}",
        _body(data),
        style=style() + study_style() + sweep_style(),
        scripts=[plotly_script(), behaviour()],
        lazy=True,
    )


def write_page(data: Data, path: Path) -> None:
    """Nothing; `path` then holds the page, or what it held before."""
    write_text(path, render_sweep(data))


def _body(data: Data) -> Part:
    content = merged(part(data) for _, part in _SECTIONS.values())
    links = {name: word for name, (word, _) in _SECTIONS.items()}
    return content.inside(frame(_header(data, links), content.html))


def _header(data: Data, links: dict[str, str]) -> Markup:
    seeds, layouts = len(data["seeds"]), len(data["layouts"])
    about: list[Child] = [
        f"{layouts} layout{'s' * (layouts > 1)} of a batch of {data['batch']:,} samples, "
        f"{seeds} seed{'s' * (seeds > 1)} of each, {data['total']:,} steps of each training"
    ]
    title = join(["What every layout reached on ", tag("span", data["env"], class_="env")])
    return header("nbyt sweep", title, about, links, ("Skip to the answer", "answer"))
