"""The last probe: what a batch is made of, in words and in a small table."""

from collections.abc import Sequence

from nbyt.report.page.element import Markup, bullets, tag
from nbyt.report.page.part import Part, section
from nbyt.report.probes.records import NETWORKS, SAMPLES, bare, batch_of, course, networks
from nbyt.report.probes.wording import noise, samples_words, shared, worth
from nbyt.report.study import figures
from nbyt.report.study.figure import figures_part
from nbyt.report.study.number import has_value, short
from nbyt.results.values import Data

_ROWS = {
    "variance": "variance",
    "individual": "individual part",
    "covariance": "covariance",
    "covariance_share": "share of covariance",
    "ess_ratio": "worth of a sample",
    "noise_factor": "noise factor",
    "noise_scale": "noise scale, samples",
}


def now_section(data: Data) -> Part:
    """The last record: a card for each network, every number, and the mean return so far."""
    records = data["records"]
    last = records[-1]
    cards = tag("div", *(_card(data, last, name) for name in networks([last])), class_="answers")
    below = figures_part([_numbers(last), *_returns(records)], "now")
    content = [_warned(last), cards, _legend(last), below.html]
    return below.inside(section("now", "Now", _lead(last), *content))


def _lead(last: Data) -> str:
    found = last.get("mean_return")
    known = "" if found is None else f", at a mean return of {short(found)}"
    return (
        f"Update {last['update']:,}, after {last['samples']:,} samples{known}. Noise is the "
        "variance of the batch's mean gradient, signal the square of its expectation."
    )


def _card(data: Data, last: Data, network: str) -> Markup:
    found, batch = last["gradients"][network], batch_of(data)
    weights = (data.get("parameters") or {}).get(network)
    about = None if weights is None else f", {weights:,} weights"
    title = "Actor and critic" if network == "total" else network.capitalize()
    head = tag("p", tag("strong", title), about, class_="kind")
    said = [
        worth(found["ess_ratio"], batch),
        shared(found["covariance_share"]),
        noise(found["noise_scale"], batch),
    ]
    sure = has_value(found["ess_ratio"])
    return tag(
        "div",
        head,
        _big(found["ess_ratio"], batch),
        bullets(said),
        class_="answer" if sure else "answer open",
    )


def _big(number: Data, batch: int) -> Markup:
    if not has_value(number):
        return tag("p", "?", tag("small", "what a batch is worth"), class_="big")
    count = samples_words(number, batch).partition(" [")[0]
    return tag("p", count, tag("small", f"of {batch:,} samples"), class_="big")


def _warned(last: Data) -> Markup | None:
    warnings = last.get("warnings") or []
    if not warnings:
        return None
    return tag("div", *(tag("p", one) for one in warnings), class_="notice loud")


def _legend(last: Data) -> Markup:
    """How numbers are to be read."""
    units = last.get("units") or {}
    rough = " Here pieces of env streams stand for independent ones, so intervals are rough."
    said = "Ranges in brackets and bands in charts are 95 % intervals; ≈ marks a rough one."
    return tag("p", said, rough if units.get("whole") is False else None, class_="muted")


def _numbers(last: Data) -> Data:
    """Every number of the record in a table."""
    present = [name for name in NETWORKS if name in last["gradients"]]
    rows = [
        [words, *(last["gradients"][name].get(key) or bare(None) for name in present)]
        for key, words in _ROWS.items()
    ]
    return figures.table(f"The gradient at update {last['update']:,}", ["", *present], rows)


def _returns(records: Sequence[Data]) -> list[Data]:
    """The mean return so far, where it is known of more than one record."""
    returns = [bare(one.get("mean_return")) for one in records]
    if sum(has_value(one) for one in returns) < 2:
        return []
    return [figures.lines("Mean return", SAMPLES, "mean return", [course("", records, returns)])]
