"""Over training: what a sample is worth, and the noise scale beside the size of the batch."""

from collections.abc import Sequence

from nbyt.report.page.element import Child, Markup, tag
from nbyt.report.page.part import Part, numbers, section, table
from nbyt.report.probes.block import side_by_side
from nbyt.report.probes.records import SAMPLES, batch_of, course, networks, numbers_of
from nbyt.report.study import figures
from nbyt.report.study.number import Number, short, shown
from nbyt.results.values import Data

_COLUMNS = {
    "individual": "individual",
    "covariance": "covariance",
    "ess_ratio": "worth",
    "noise_scale": "noise scale",
}


def worth_section(data: Data) -> Part:
    """Both as charts, and every number of every probe in a table that is folded away."""
    records = data["records"]
    drawn = side_by_side([_ess_chart(records), _scale_chart(records, batch_of(data))], "worth")
    lead = (
        "A sample is worth less than an independent one where steps of one env are alike. The "
        "noise scale is how many samples, from more envs of the same steps, would make noise and "
        "signal equal: a batch far below it gains much from more samples, one far above it little."
    )
    content = [drawn.html, numbers("The numbers of every probe", _table(records))]
    return drawn.inside(section("worth", "Worth", lead, *content))


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
    """A series of the quantity for each network."""
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
    return tag("tr", *(tag("td", one) for one in first), *(tag("td", shown(one)) for one in cells))
