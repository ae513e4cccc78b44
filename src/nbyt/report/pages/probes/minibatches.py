"""Mini-batches over training: what they are in the first epoch of an update, and in the last."""

from collections.abc import Callable, Sequence
from math import ceil
from statistics import fmean

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import tag
from nbyt.report.html.page import Content, Part, merged, section
from nbyt.report.pages.probes.records import bare, side_by_side, unknown_section
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
    return merged([tag("p", said, class_="muted") if said else None, drawn])


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


def _course_clipped(minibatches: Sequence[Data], marks: Marks) -> Data:
    some = [_series(minibatches, "clip_fraction", "", fmean)]
    return _lines("Samples outside the clip range", "share", some, minibatches)


def _ratio(minibatches: Sequence[Data], marks: Marks) -> Data:
    some = [
        _series(minibatches, "ratio_high", "highest", max),
        _series(minibatches, "ratio_low", "lowest", min),
    ]
    return _lines("Range of the ratio", "new over old", some, minibatches, marks)


def _course_divergence(minibatches: Sequence[Data], marks: Marks) -> Data:
    some = [_series(minibatches, "approximate_kl", "", fmean)]
    return _lines("Approximate KL from the old policy", "KL", some, minibatches)


_CHARTS: dict[str, Callable[[Sequence[Data], Marks], Data]] = {
    "cosine": _cosine,
    "clip_fraction": _course_clipped,
    "ratio_high": _ratio,
    "approximate_kl": _course_divergence,
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


Told = Callable[[Sequence[float]], float]
_TITLE = "Mini-batches"
_LEAD = (
    "Every mini-batch is looked at before its gradient step. Its cosine is with the gradient of "
    "the whole batch at the start of the update; its ratio is the new policy's probability of an "
    "action over the old one's. These are facts of that mini-batch, so they have no intervals."
)


def minibatch_section(data: Data) -> Part:
    """First epoch against last over the updates, and the course within an update."""
    looked = [one for one in data["records"] if one.get("minibatches")]
    if not looked:
        why = "The training did not show its mini-batches, so nothing is known of them."
        return unknown_section("minibatches", _TITLE, why, link=_TITLE)
    marks = clip_marks(data)
    content: list[Content] = [
        tag("h3", "First epoch against last"),
        side_by_side([_cosines(looked), _clipped(looked)], "epochs-0"),
        side_by_side([_ratios(looked, marks), _divergence(looked)], "epochs-1"),
        tag("h3", "Within an update"),
        course_part(looked, marks),
    ]
    return section("minibatches", _TITLE, _LEAD, *content, link=_TITLE)


def _cosines(looked: Sequence[Data]) -> Data:
    some = _first_and_last(looked, "cosine", fmean)
    return figures.lines("Cosine with the batch's gradient", "update", "mean cosine", some)


def _clipped(looked: Sequence[Data]) -> Data:
    some = _first_and_last(looked, "clip_fraction", fmean)
    return figures.lines("Samples outside the clip range", "update", "mean share", some)


def _divergence(looked: Sequence[Data]) -> Data:
    some = _first_and_last(looked, "approximate_kl", fmean)
    return figures.lines("Approximate KL from the old policy", "update", "mean KL", some)


def _ratios(looked: Sequence[Data], marks: Sequence[tuple[float, str]]) -> Data:
    some = [
        *_first_and_last(looked, "ratio_high", max, "highest, "),
        *_first_and_last(looked, "ratio_low", min, "lowest, "),
    ]
    return figures.lines("Range of the ratio", "update", "new over old", some, marks=marks)


def _first_and_last(looked: Sequence[Data], key: str, told: Told, before: str = "") -> list[Data]:
    """A number of the first and of the last epoch over the updates; of the only one if so.

    told: what is said of an epoch's mini-batches together.
    """
    ends = [_ends(one["minibatches"]) for one in looked]
    places = {"first epoch": 0, "last epoch": 1}
    if all(first == last for first, last in ends):
        places = {"the only epoch": 0}
    return [
        figures.series(
            f"{before}{name}",
            [one["update"] for one in looked],
            [_told(one, own[place], key, told) for one, own in zip(looked, ends, strict=True)],
        )
        for name, place in places.items()
    ]


def _ends(minibatches: Sequence[Data]) -> tuple[int, int]:
    epochs = [one["epoch"] for one in minibatches]
    return min(epochs), max(epochs)


def _told(record: Data, epoch: int, key: str, told: Told) -> Data:
    own = [one.get(key) for one in record["minibatches"] if one["epoch"] == epoch]
    known = [value for value in own if value is not None]
    return bare(told(known) if known else None)
