"""The last probe, in words and in a small table."""

from collections.abc import Sequence

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import Markup, bullets, tag
from nbyt.report.html.page import Part, section
from nbyt.report.numbers import Number, has_value, samples_words, short, words
from nbyt.report.pages.probes.records import NETWORKS, SAMPLES, bare, batch_of, course, networks
from nbyt.results.values import Data


def worth(number: Number, batch: int) -> str:
    """Say what the samples of a batch are worth. number: its ess_ratio."""
    if not has_value(number):
        return f"What the samples of a batch are worth cannot be told{_reason(number)}."
    said = f"A batch of {batch:,} samples is worth {samples_words(number, batch)} independent ones"
    low, high = number.get("low"), number.get("high")
    if low is not None and low > 1:
        return f"{said}: more than it has, because its steps make up for each other."
    if high is None or high >= 1:
        return f"{said}; whether that is less or more than it has cannot be told."
    return f"{said}."


def shared(number: Number) -> str:
    """Say how much of the variance is covariance. number: the covariance's share."""
    if not has_value(number):
        return f"How much of its variance is covariance cannot be told{_reason(number)}."
    said = words(number, 100, " %")
    low, high = number.get("low"), number.get("high")
    if low is not None and low > 0:
        return f"{said} of its variance is covariance: steps of one env are alike."
    if high is not None and high < 0:
        return f"Its covariance is negative, {said} of the variance: it lowers the noise."
    return f"{said} of its variance is covariance; whether there is any cannot be told."


def noise(number: Number, batch: int) -> str:
    """Compare the noise with the signal. number: the noise scale, in samples."""
    low, high = number.get("low"), number.get("high")
    if not has_value(number):
        if low is None or low <= 0:
            return f"How large the noise is beside the signal cannot be told{_reason(number)}."
        return f"The noise is at least {low / batch:.2g} times the signal; more cannot be told."
    if number["value"] <= 0:
        most = "" if high is None else f": it is at most {high / batch:.2g} times the signal"
        return f"The noise cannot be told from none{most}."
    equal = f"with {samples_words(number)} samples the two would be equal"
    return f"The noise is {words(number, 1 / batch)} times the signal; {equal}."


def _reason(number: Number) -> str:
    return f": {number['reason']}" if number.get("reason") else ""


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
    """Build a card for each network, a table of all numbers, and the chart of the mean return."""
    records = data["records"]
    last = records[-1]
    cards = tag("div", *(_card(data, last, name) for name in networks([last])), class_="answers")
    below = figures_part([_numbers(last), *_returns(records)], "now")
    content = [_warned(last), cards, _legend(last), below]
    return section("now", "Now", _lead(last), *content, link="Now")


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
    units = last.get("units") or {}
    rough = " Here pieces of env streams stand for independent ones, so intervals are rough."
    said = "Ranges in brackets and bands in charts are 95 % intervals; ≈ marks a rough one."
    return tag("p", said, rough if units.get("whole") is False else None, class_="muted")


def _numbers(last: Data) -> Data:
    present = [name for name in NETWORKS if name in last["gradients"]]
    rows = [
        [words, *(last["gradients"][name].get(key) or bare(None) for name in present)]
        for key, words in _ROWS.items()
    ]
    return figures.table(f"The gradient at update {last['update']:,}", ["", *present], rows)


def _returns(records: Sequence[Data]) -> list[Data]:
    """Draw the mean return so far, if at least two records have it."""
    returns = [bare(one.get("mean_return")) for one in records]
    if sum(has_value(one) for one in returns) < 2:
        return []
    return [figures.lines("Mean return", SAMPLES, "mean return", [course("", records, returns)])]
