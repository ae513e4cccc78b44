"""Variance of the batch's gradient over training: its parts, and the worth of a sample."""

from collections.abc import Sequence

from nbyt.report import figures
from nbyt.report.html.element import Child, Markup, tag
from nbyt.report.html.page import Part, numbers, section, table
from nbyt.report.html.quantity import shown_brief
from nbyt.report.numbers import Number, short
from nbyt.report.pages.probes.records import (
    SAMPLES,
    batch_of,
    course,
    fits_log,
    networks,
    numbers_of,
    side_by_side,
)
from nbyt.results.values import Data

_COLUMNS = {
    "individual": "individual",
    "covariance": "covariance",
    "ess_ratio": "worth",
    "noise_scale": "noise scale",
}


def worth_section(data: Data) -> Part:
    """Draw worth and noise scale, with every number of every probe in a folded table."""
    records = data["records"]
    drawn = side_by_side([_ess_chart(records), _scale_chart(records, batch_of(data))], "worth")
    lead = (
        "A sample is worth less than an independent one where steps of one env are alike. The "
        "noise scale is how many samples, from more envs of the same steps, would make noise and "
        "signal equal: a batch far below it gains much from more samples, one far above it little."
    )
    folded = numbers("The numbers of every probe", _table(records))
    return section("worth", "Worth", lead, drawn, folded, link="Worth")


def _ess_chart(records: Sequence[Data]) -> Data:
    return figures.lines(
        "Worth of a sample",
        SAMPLES,
        "in independent samples",
        _of_networks(records, "ess_ratio"),
        marks=[(1.0, "independent")],
    )


def _scale_chart(records: Sequence[Data], batch: int) -> Data:
    return figures.lines(
        "Noise scale",
        SAMPLES,
        "samples",
        _of_networks(records, "noise_scale"),
        log_y=True,
        marks=[(batch, f"batch of {batch:,}")],
    )


def _of_networks(records: Sequence[Data], quantity: str) -> list[Data]:
    return [
        course(name, records, numbers_of(records, name, quantity)) for name in networks(records)
    ]


def _table(records: Sequence[Data]) -> Markup:
    names = networks(records)
    head: list[Child] = ["update", "samples", "mean return"]
    head += [f"{word}, {name}" for name in names for word in _COLUMNS.values()]
    columns = [numbers_of(records, name, key) for name in names for key in _COLUMNS]
    rows = [
        _row(record, cells)
        for record, cells in zip(records, zip(*columns, strict=True), strict=True)
    ]
    return table("The numbers of every probe", head, rows)


def _row(record: Data, cells: Sequence[Number]) -> Markup:
    found = record.get("mean_return")
    first = [
        f"{record['update']:,}",
        f"{record['samples']:,}",
        "" if found is None else short(found),
    ]
    return tag(
        "tr", *(tag("td", one) for one in first), *(tag("td", shown_brief(one)) for one in cells)
    )


_ADVANTAGES = {
    "normalised": " Advantages are normalised, as in the training.",
    "raw": " Advantages are raw, so the variance has the scale of squared rewards.",
}


def variance_section(data: Data) -> Part:
    """Draw individual part and covariance over the samples so far, a chart for each network."""
    records = data["records"]
    drawn = side_by_side([_parts(records, network) for network in networks(records)], "variance")
    lead = (
        "The variance of the batch's mean gradient is the individual part, which single steps "
        "would have if they had nothing in common, plus the covariance of steps of one env, which "
        f"can be negative.{_ADVANTAGES.get(str(data.get('advantages')), '')}"
    )
    return section("variance", "Variance", lead, drawn, link="Variance")


def _parts(records: Sequence[Data], network: str) -> Data:
    found = {name: numbers_of(records, network, name) for name in ("individual", "covariance")}
    return figures.lines(
        f"Parts of the variance, {network}",
        SAMPLES,
        "variance of the gradient",
        [course(name, records, some) for name, some in found.items()],
        log_y=fits_log(one for some in found.values() for one in some),
    )
