"""Mini-batches: the first epoch of an update against the last, and every step of an update."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import tag
from nbyt.report.html.page import Content, Part, merged, section
from nbyt.report.pages.probes.records import bare, side_by_side, unknown_section
from nbyt.results.probes import Minibatch, ProbedTraining, ProbeRecord
from nbyt.results.study import Lines
from nbyt.results.values import Number

# A page is one file: updates and points beyond these would take tens of megabytes.
MOST_UPDATES = 40
MOST_POINTS = 320
_MOST_EPOCHS = 20  # more cannot be distinguished by shading
_TITLE = "Mini-batches"
_LEAD = (
    "Every mini-batch is looked at before its gradient step. Its cosine is with the gradient of "
    "the whole batch at the start of the update; its ratio is the new policy's probability of an "
    "action over the old one's. These are facts of that mini-batch, so they have no intervals."
)
Marks = Sequence[tuple[float, str]]
Summary = Callable[[Sequence[float]], float]  # of the values that share a point
Minibatched = tuple[ProbeRecord, Sequence[Minibatch]]


@dataclass(frozen=True)
class _Chart:
    """A chart of mini-batches: for each line its values, name and summary."""

    title: str
    unit: str
    unit_of_mean: str
    lines: tuple[tuple[Callable[[Minibatch], float | None], str, Summary], ...]
    marked: bool = False

    def is_known(self, records: Sequence[Minibatched]) -> bool:
        value = self.lines[0][0]
        return any(value(batch) is not None for _, batches in records for batch in batches)


def _mean(title: str, unit: str, value: Callable[[Minibatch], float | None]) -> _Chart:
    return _Chart(title, unit, f"mean {unit}", ((value, "", fmean),))


_RATIOS = (
    (lambda batch: batch.ratio_high, "highest", max),
    (lambda batch: batch.ratio_low, "lowest", min),
)
_CHARTS = (
    _mean("Cosine with the batch's gradient", "cosine", lambda batch: batch.cosine),
    _mean("Samples outside the clip range", "share", lambda batch: batch.clip_fraction),
    _Chart("Range of the ratio", "new over old", "new over old", _RATIOS, marked=True),
    _mean("Approximate KL from the old policy", "KL", lambda batch: batch.approximate_kl),
)


def minibatch_section(training: ProbedTraining) -> Part:
    """Build charts of first against last epoch over the updates, and of one update's steps."""
    records = [(record, record.minibatches) for record in training.records if record.minibatches]
    if not records:
        why = "The training did not show its mini-batches, so nothing is known of them."
        return unknown_section("minibatches", _TITLE, why, link=_TITLE)
    marks = _clip_marks(training)
    epochs = [_over_updates(chart, records, marks) for chart in _CHARTS]
    content: list[Content] = [
        tag("h3", "First epoch against last"),
        side_by_side(epochs[:2], "epochs-0"),
        side_by_side(epochs[2:], "epochs-1"),
        tag("h3", "Within an update"),
        _within_updates(records, marks),
    ]
    return section("minibatches", _TITLE, _LEAD, *content, link=_TITLE)


def _clip_marks(training: ProbedTraining) -> list[tuple[float, str]]:
    """Return the ends of the clip range, if the training gives one."""
    clip = (training.settings or {}).get("clip")
    if isinstance(clip, bool) or not isinstance(clip, (int, float)):
        return []
    return [(1 - clip, "clip range"), (1 + clip, "clip range")]


def _over_updates(chart: _Chart, records: Sequence[Minibatched], marks: Marks) -> Lines:
    """Draw the first and the last epoch of each update; the only one if all updates have one."""
    epochs = [[batch.epoch for batch in batches] for _, batches in records]
    chosen = {"first epoch": [*map(min, epochs)], "last epoch": [*map(max, epochs)]}
    if chosen["first epoch"] == chosen["last epoch"]:
        chosen = {"the only epoch": chosen["first epoch"]}
    updates = [record.update for record, _ in records]
    lines = []
    for value, line, summary in chart.lines:
        for name, which in chosen.items():
            numbers = [
                _number([value(b) for b in batches if b.epoch == epoch], summary)
                for (_, batches), epoch in zip(records, which, strict=True)
            ]
            lines.append(figures.series(f"{line}, {name}" if line else name, updates, numbers))
    shown = marks if chart.marked else ()
    return figures.lines(chart.title, "update", chart.unit_of_mean, lines, marks=shown)


def _within_updates(records: Sequence[Minibatched], marks: Marks) -> Part:
    """Build a slider over the updates with the charts of the chosen one."""
    chosen = _spread_out(records)
    words = [f"update {one.update:,}, after {one.samples:,} samples" for one, _ in chosen]
    charts = [chart for chart in _CHARTS if chart.is_known(chosen)]
    frames = []
    for _, batches in chosen:
        drawn = [_within_update(chart, batches, marks) for chart in charts]
        frames.append([figures.row(*drawn[k : k + 2]) for k in range(0, len(drawn), 2)])
    slides = figures.slides("update", "Update", words, frames, start=-1)
    text = _explained(records, chosen)
    note = tag("p", text, class_="muted") if text else None
    return merged([note, figures_part([slides], "course")])


def _spread_out(records: Sequence[Minibatched]) -> list[Minibatched]:
    """Pick as many as a page can hold, evenly from the first to the last."""
    if len(records) <= MOST_UPDATES:
        return list(records)
    step = (len(records) - 1) / (MOST_UPDATES - 1)
    return [records[round(k * step)] for k in range(MOST_UPDATES)]


def _explained(records: Sequence[Minibatched], chosen: Sequence[Minibatched]) -> str:
    """Explain how to read the charts."""
    sentences = []
    if any(_every_second_epoch(batches) for _, batches in chosen):
        sentences.append("Every second epoch is shaded, with its number at the foot.")
    if len(chosen) < len(records):
        sentences.append(f"The slider stops at {len(chosen)} of {len(records)} probed updates.")
    together = max(_together(batches) for _, batches in chosen)
    if together > 1:
        sentences.append(
            f"A point stands for up to {together} mini-batches: their mean, or the lowest and "
            "the highest of their ratios."
        )
    return " ".join(sentences)


def _within_update(chart: _Chart, minibatches: Sequence[Minibatch], marks: Marks) -> Lines:
    size = _together(minibatches)
    starts = range(0, len(minibatches), size)
    groups = [minibatches[start : start + size] for start in starts]
    x = [start + (len(group) + 1) / 2 for start, group in zip(starts, groups, strict=True)]
    lines = [
        figures.series(name, x, [_number([*map(value, group)], summary) for group in groups])
        for value, name, summary in chart.lines
    ]
    return figures.lines(
        chart.title,
        "gradient step of the update",
        chart.unit,
        lines,
        marks=marks if chart.marked else (),
        spans=_every_second_epoch(minibatches),
    )


def _number(values: Sequence[float | None], summary: Summary) -> Number:
    known = [value for value in values if value is not None]
    return bare(summary(known) if known else None)


def _together(minibatches: Sequence[Minibatch]) -> int:
    """Return how many mini-batches are one point."""
    return ceil(len(minibatches) / MOST_POINTS)


def _every_second_epoch(minibatches: Sequence[Minibatch]) -> list[tuple[float, float, str]]:
    """Return start, end and number of every second epoch."""
    epochs = [batch.epoch for batch in minibatches]
    present = list(dict.fromkeys(epochs))
    if len(present) > _MOST_EPOCHS:
        return []
    first = {epoch: epochs.index(epoch) for epoch in present}
    return [
        (first[epoch] + 0.5, first[epoch] + epochs.count(epoch) + 0.5, str(epoch + 1))
        for epoch in present[1::2]
    ]
