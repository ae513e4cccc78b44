"""Mini-batches over training: what they are in the first epoch of an update, and in the last."""

from collections.abc import Callable, Sequence
from statistics import fmean

from nbyt.report.page.element import tag
from nbyt.report.page.part import Part, merged, section
from nbyt.report.probes.block import side_by_side, unknown_section
from nbyt.report.probes.course import clip_marks, course_part
from nbyt.report.probes.records import bare
from nbyt.report.study import figures
from nbyt.results.values import Data

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
        return unknown_section("minibatches", _TITLE, None, why)
    marks = clip_marks(data)
    over = [
        side_by_side([_cosines(looked), _clipped(looked)], "epochs-0"),
        side_by_side([_ratios(looked, marks), _divergence(looked)], "epochs-1"),
    ]
    part = merged(
        [
            Part(tag("h3", "First epoch against last")),
            *over,
            Part(tag("h3", "Within an update")),
            course_part(looked, marks),
        ]
    )
    return part.inside(section("minibatches", _TITLE, _LEAD, part.html))


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
