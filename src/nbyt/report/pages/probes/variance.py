"""Variance of the batch's gradient over training: its parts, and the worth of a sample."""

from collections.abc import Sequence

from nbyt.report import figures
from nbyt.report.html.element import Child, Markup
from nbyt.report.html.page import Part, numbers, row, section, table
from nbyt.report.html.quantity import shown_brief
from nbyt.report.numbers import short
from nbyt.report.pages.probes.records import (
    SAMPLES,
    fits_log,
    networks,
    numbers_of,
    over_samples,
    side_by_side,
)
from nbyt.results.probes import ProbedTraining, ProbeRecord
from nbyt.results.study import Lines, NumberSeries
from nbyt.results.values import Objective

_COLUMNS = {
    "individual": "individual",
    "covariance": "covariance",
    "ess_ratio": "worth",
    "noise_scale": "noise scale",
}


def worth_section(training: ProbedTraining) -> Part:
    """Draw worth and noise scale, with every number of every probe in a folded table."""
    records, batch = training.records, training.batch
    worth = figures.lines(
        "Worth of a sample",
        SAMPLES,
        "in independent samples",
        _of_networks(records, "ess_ratio"),
        marks=[(1.0, "independent")],
    )
    scale = figures.lines(
        "Noise scale",
        SAMPLES,
        "samples",
        _of_networks(records, "noise_scale"),
        log_y=True,
        marks=[(batch, f"batch of {batch:,}")],
    )
    lead = (
        "A sample is worth less than an independent one where steps of one env are alike. The "
        "noise scale is how many samples, from more envs of the same steps, would make noise and "
        "signal equal: a batch far below it gains much from more samples, one far above it little."
    )
    folded = numbers("The numbers of every probe", _table(records))
    drawn = side_by_side([worth, scale], "worth")
    return section("worth", "Worth", lead, drawn, folded, link="Worth")


def _of_networks(records: Sequence[ProbeRecord], quantity: str) -> list[NumberSeries]:
    return [
        over_samples(name, records, numbers_of(records, name, quantity))
        for name in networks(records)
    ]


def _table(records: Sequence[ProbeRecord]) -> Markup:
    names = networks(records)
    head: list[Child] = ["update", "samples", "mean return"]
    head += [f"{word}, {name}" for name in names for word in _COLUMNS.values()]
    columns = [numbers_of(records, name, key) for name in names for key in _COLUMNS]
    rows = []
    for record, cells in zip(records, zip(*columns, strict=True), strict=True):
        mean = "" if record.mean_return is None else short(record.mean_return)
        rows.append(
            row(f"{record.update:,}", f"{record.samples:,}", mean, *map(shown_brief, cells))
        )
    return table("The numbers of every probe", head, rows)


_ADVANTAGES = {
    "normalised": " Advantages are normalised, as in the training.",
    "raw": " Advantages are raw, so the variance has the scale of squared rewards.",
}


def variance_section(training: ProbedTraining) -> Part:
    """Draw individual part and covariance over the samples so far, a chart for each network."""
    records = training.records
    drawn = side_by_side([_parts(records, network) for network in networks(records)], "variance")
    lead = (
        "The variance of the batch's mean gradient is the individual part, which single steps "
        "would have if they had nothing in common, plus the covariance of steps of one env, which "
        f"can be negative.{_ADVANTAGES.get(str(training.advantages), '')}"
    )
    return section("variance", "Variance", lead, drawn, link="Variance")


def _parts(records: Sequence[ProbeRecord], network: Objective) -> Lines:
    found = {name: numbers_of(records, network, name) for name in ("individual", "covariance")}
    return figures.lines(
        f"Parts of the variance, {network}",
        SAMPLES,
        "variance of the gradient",
        [over_samples(name, records, some) for name, some in found.items()],
        log_y=fits_log(number for some in found.values() for number in some),
    )
