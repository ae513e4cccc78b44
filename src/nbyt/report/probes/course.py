"""The course within an update, mini-batch by mini-batch; a slider chooses the update."""

from collections.abc import Callable, Sequence
from math import ceil
from statistics import fmean

from nbyt.report.page.element import join, tag
from nbyt.report.page.part import Part
from nbyt.report.probes.records import bare
from nbyt.report.study import figures
from nbyt.report.study.figure import figures_part
from nbyt.results.values import Data

Marks = Sequence[tuple[float, str]]
# A page is one file: updates and points beyond these would make it tens of megabytes.
MOST_UPDATES = 40
MOST_POINTS = 320
_MOST_EPOCHS = 20  # that can be told apart by shading
_STEP = "gradient step of the update"


def course_part(looked: Sequence[Data], marks: Marks) -> Part:
    """A slider over the updates with the charts of the chosen one."""
    seen = _spread_out(looked)
    words = [f"update {one['update']:,}, after {one['samples']:,} samples" for one in seen]
    keys = [key for key in _CHARTS if any(_is_known(one, key) for one in seen)]
    frames = [_frame(one["minibatches"], keys, marks) for one in seen]
    drawn = figures_part([figures.slides("update", "Update", words, frames, start=-1)], "course")
    said = _said(looked, seen)
    return drawn.inside(join([tag("p", said, class_="muted") if said else None, drawn.html]))


def clip_marks(data: Data) -> list[tuple[float, str]]:
    """The ends of the clip range, where the training says it."""
    clip = (data.get("settings") or {}).get("clip")
    if isinstance(clip, bool) or not isinstance(clip, (int, float)):
        return []
    return [(1 - clip, "clip range"), (1 + clip, "clip range")]


def _spread_out(looked: Sequence[Data]) -> list[Data]:
    """All of them, or as many as a page can hold, evenly from the first to the last."""
    if len(looked) <= MOST_UPDATES:
        return list(looked)
    step = (len(looked) - 1) / (MOST_UPDATES - 1)
    return [looked[round(k * step)] for k in range(MOST_UPDATES)]


def _said(looked: Sequence[Data], seen: Sequence[Data]) -> str:
    """How the charts are to be read."""
    shaded = any(_every_second_epoch(one["minibatches"]) for one in seen)
    found = ["Every second epoch is shaded, with its number at the foot."] * shaded
    if len(seen) < len(looked):
        found.append(f"The slider stops at {len(seen)} of {len(looked)} probed updates.")
    together = max(_together(one["minibatches"]) for one in seen)
    if together > 1:
        found.append(
            f"A point stands for up to {together} mini-batches: their mean, or the lowest and "
            "the highest of their ratios."
        )
    return " ".join(found)


def _is_known(record: Data, key: str) -> bool:
    return any(one.get(key) is not None for one in record["minibatches"])


def _frame(minibatches: Sequence[Data], keys: Sequence[str], marks: Marks) -> list[Data]:
    """The charts of one update, in rows of two."""
    charts = [_CHARTS[key](minibatches, marks) for key in keys]
    return [figures.row(*charts[k : k + 2]) for k in range(0, len(charts), 2)]


def _cosine(minibatches: Sequence[Data], marks: Marks) -> Data:
    some = [_series(minibatches, "cosine", "", fmean)]
    return _lines("Cosine with the batch's gradient", "cosine", some, minibatches)


def _clipped(minibatches: Sequence[Data], marks: Marks) -> Data:
    some = [_series(minibatches, "clip_fraction", "", fmean)]
    return _lines("Samples outside the clip range", "share", some, minibatches)


def _ratio(minibatches: Sequence[Data], marks: Marks) -> Data:
    some = [
        _series(minibatches, "ratio_high", "highest", max),
        _series(minibatches, "ratio_low", "lowest", min),
    ]
    return _lines("Range of the ratio", "new over old", some, minibatches, marks)


def _divergence(minibatches: Sequence[Data], marks: Marks) -> Data:
    some = [_series(minibatches, "approximate_kl", "", fmean)]
    return _lines("Approximate KL from the old policy", "KL", some, minibatches)


_CHARTS: dict[str, Callable[[Sequence[Data], Marks], Data]] = {
    "cosine": _cosine,
    "clip_fraction": _clipped,
    "ratio_high": _ratio,
    "approximate_kl": _divergence,
}


def _series(
    minibatches: Sequence[Data], key: str, name: str, told: Callable[[Sequence[float]], float]
) -> Data:
    """One number of the mini-batches in order. told: what is said of those in one point."""
    size, x, numbers = _together(minibatches), [], []
    for start in range(0, len(minibatches), size):
        group = minibatches[start : start + size]
        known = [one[key] for one in group if one.get(key) is not None]
        x.append(start + (len(group) + 1) / 2)
        numbers.append(bare(told(known) if known else None))
    return figures.series(name, x, numbers)


def _together(minibatches: Sequence[Data]) -> int:
    """How many mini-batches are one point."""
    return ceil(len(minibatches) / MOST_POINTS)


def _lines(
    title: str, y_title: str, some: list[Data], minibatches: Sequence[Data], marks: Marks = ()
) -> Data:
    spans = _every_second_epoch(minibatches)
    return figures.lines(title, _STEP, y_title, some, marks=marks, spans=spans)


def _every_second_epoch(minibatches: Sequence[Data]) -> list[tuple[float, float, str]]:
    """From where to where each of them goes, with its number."""
    epochs = [one["epoch"] for one in minibatches]
    present = list(dict.fromkeys(epochs))
    if len(present) > _MOST_EPOCHS:
        return []
    first = {epoch: epochs.index(epoch) for epoch in present}
    return [
        (first[epoch] + 0.5, first[epoch] + epochs.count(epoch) + 0.5, str(epoch + 1))
        for epoch in present[1::2]
    ]
