"""Over training: the two parts of the variance of the batch's gradient."""

from collections.abc import Sequence

from nbyt.report.page.part import Part, section
from nbyt.report.probes.block import side_by_side
from nbyt.report.probes.records import SAMPLES, course, fits_log, networks, numbers_of
from nbyt.report.study import figures
from nbyt.results.values import Data

_ADVANTAGES = {
    "normalised": " Advantages are normalised, as in the training.",
    "raw": " Advantages are raw, so the variance has the scale of squared rewards.",
}


def variance_section(data: Data) -> Part:
    """Individual part and covariance over the samples so far, a chart for each network."""
    records = data["records"]
    drawn = side_by_side([_parts(records, network) for network in networks(records)], "variance")
    lead = (
        "The variance of the batch's mean gradient is the individual part, which single steps "
        "would have if they had nothing in common, plus the covariance of steps of one env, which "
        f"can be negative.{_ADVANTAGES.get(str(data.get('advantages')), '')}"
    )
    return drawn.inside(section("variance", "Variance", lead, drawn.html))


def _parts(records: Sequence[Data], network: str) -> Data:
    found = {name: numbers_of(records, network, name) for name in ("individual", "covariance")}
    return figures.lines(
        f"Parts of the variance, {network}",
        SAMPLES,
        "variance of the gradient",
        [course(name, records, some) for name, some in found.items()],
        log_y=fits_log(one for some in found.values() for one in some),
    )
