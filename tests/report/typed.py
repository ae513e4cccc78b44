"""Pages of JSON data: read as types, as the store reads them, and rendered."""

from pathlib import Path
from typing import Any

from msgspec import convert
from tests.report import made_up_advice

from nbyt.report.pages import advice, probes, study
from nbyt.results import Advice, ProbedTraining, Study
from nbyt.results.values import Number

Data = dict[str, Any]


def advice_sample() -> Data:
    """Return an advice on CartPole with a race, probed stages, and all that is optional."""
    return made_up_advice.sample()


def number(value: float | None, low: Any = None, high: Any = None, **more: Any) -> Number:
    """Return a number with its interval."""
    return Number(value=value, low=low, high=high, **more)


def render(data: Data) -> str:
    """Return the page of an advice."""
    return advice.advice_page(convert(data, Advice)).html()


def card(data: Data) -> str:
    """Return the card of an advice."""
    return advice.card(convert(data, Advice))


def write_page(data: Data, path: Path) -> None:
    """Write the page of an advice."""
    advice.advice_page(convert(data, Advice)).write(path)


def render_study(data: Data) -> str:
    """Return the page of a study."""
    return study.study_page(convert(data, Study)).html()


def write_study_page(data: Data, path: Path) -> None:
    """Write the page of a study."""
    study.study_page(convert(data, Study)).write(path)


def render_probes(data: Data) -> str:
    """Return the page of a probed training."""
    return probes.probes_page(convert(data, ProbedTraining)).html()


def write_probes_page(data: Data, path: Path) -> None:
    """Write the page of a probed training."""
    probes.probes_page(convert(data, ProbedTraining)).write(path)
