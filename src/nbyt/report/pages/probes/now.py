"""The last probe, in words and in a small table."""

from collections.abc import Sequence

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import Markup, bullets, tag
from nbyt.report.html.page import Part, section
from nbyt.report.numbers import has_value, samples_words, short, words
from nbyt.report.pages.probes.records import SAMPLES, bare, networks, over_samples
from nbyt.results.probes import BatchGradient, ProbedTraining, ProbeRecord
from nbyt.results.study import Lines, Table
from nbyt.results.values import OBJECTIVES, Number, Objective


def worth(number: Number, batch: int) -> str:
    """Say what the samples of a batch are worth. number: its ess_ratio."""
    if not has_value(number):
        return f"What the samples of a batch are worth cannot be told{_reason(number)}."
    said = f"A batch of {batch:,} samples is worth {samples_words(number, batch)} independent ones"
    _, low, high = number.ends
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
    _, low, high = number.ends
    if low is not None and low > 0:
        return f"{said} of its variance is covariance: steps of one env are alike."
    if high is not None and high < 0:
        return f"Its covariance is negative, {said} of the variance: it lowers the noise."
    return f"{said} of its variance is covariance; whether there is any cannot be told."


def noise(number: Number, batch: int) -> str:
    """Compare the noise with the signal. number: the noise scale, in samples."""
    _, low, high = number.ends
    if not has_value(number):
        if low is None or low <= 0:
            return f"How large the noise is beside the signal cannot be told{_reason(number)}."
        return f"The noise is at least {low / batch:.2g} times the signal; more cannot be told."
    if number.value <= 0:
        most = "" if high is None else f": it is at most {high / batch:.2g} times the signal"
        return f"The noise cannot be told from none{most}."
    equal = f"with {samples_words(number)} samples the two would be equal"
    return f"The noise is {words(number, 1 / batch)} times the signal; {equal}."


def _reason(number: Number) -> str:
    return f": {number.why}" if number.why else ""


_ROWS = {
    "variance": "variance",
    "individual": "individual part",
    "covariance": "covariance",
    "covariance_share": "share of covariance",
    "ess_ratio": "worth of a sample",
    "noise_factor": "noise factor",
    "noise_scale": "noise scale, samples",
}


def now_section(training: ProbedTraining) -> Part:
    """Build a card for each network, a table of all numbers, and the chart of the mean return."""
    last = training.records[-1]
    cards = [_card(training, gradient, name) for name, gradient in _gradients(last, alone=True)]
    below = figures_part([_numbers(last), *_returns(training.records)], "now")
    warned = [tag("p", warning) for warning in last.warnings]
    content = [
        tag("div", *warned, class_="notice loud") if warned else None,
        tag("div", *cards, class_="answers"),
        _legend(last),
        below,
    ]
    return section("now", "Now", _lead(last), *content, link="Now")


def _gradients(last: ProbeRecord, *, alone: bool) -> list[tuple[Objective, BatchGradient]]:
    """Return the measured gradients; alone: of the networks only, where those are known."""
    names = networks([last]) if alone else OBJECTIVES
    return [(name, found) for name in names if (found := last.gradients.of(name)) is not None]


def _lead(last: ProbeRecord) -> str:
    mean = last.mean_return
    known = "" if mean is None else f", at a mean return of {short(mean)}"
    return (
        f"Update {last.update:,}, after {last.samples:,} samples{known}. Noise is the "
        "variance of the batch's mean gradient, signal the square of its expectation."
    )


def _card(training: ProbedTraining, gradient: BatchGradient, network: Objective) -> Markup:
    batch = training.batch
    weights = (training.parameters or {}).get(network)
    about = None if weights is None else f", {weights:,} weights"
    title = "Actor and critic" if network == "total" else network.capitalize()
    head = tag("p", tag("strong", title), about, class_="kind")
    said = [
        worth(gradient.ess_ratio, batch),
        shared(gradient.covariance_share),
        noise(gradient.noise_scale, batch),
    ]
    look = "answer" if has_value(gradient.ess_ratio) else "answer open"
    return tag("div", head, _big(gradient.ess_ratio, batch), bullets(said), class_=look)


def _big(number: Number, batch: int) -> Markup:
    if not has_value(number):
        return tag("p", "?", tag("small", "what a batch is worth"), class_="big")
    count = samples_words(number, batch).partition(" [")[0]
    return tag("p", count, tag("small", f"of {batch:,} samples"), class_="big")


def _legend(last: ProbeRecord) -> Markup:
    rough = " Here pieces of env streams stand for independent ones, so intervals are rough."
    said = "Ranges in brackets and bands in charts are 95 % intervals; ≈ marks a rough one."
    return tag("p", said, None if last.units.whole else rough, class_="muted")


def _numbers(last: ProbeRecord) -> Table:
    gradients = _gradients(last, alone=False)
    rows: list[list[str | Number]] = [
        [word, *(one.of(key) for _, one in gradients)] for key, word in _ROWS.items()
    ]
    head = ["", *(name for name, _ in gradients)]
    return figures.table(f"The gradient at update {last.update:,}", head, rows)


def _returns(records: Sequence[ProbeRecord]) -> list[Lines]:
    """Draw the mean return so far, if at least two records have it."""
    returns = [bare(record.mean_return) for record in records]
    if sum(map(has_value, returns)) < 2:
        return []
    some = [over_samples("", records, returns)]
    return [figures.lines("Mean return", SAMPLES, "mean return", some)]
