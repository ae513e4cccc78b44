"""A study: study.json. An experiment's own file is read only by the claims that need it."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from nbyt.results.measurement import Cloud
from nbyt.results.values import (
    LONGEST,
    Count,
    Machine,
    Names,
    NotNegative,
    Number,
    Real,
    Reals,
    Record,
    Seed,
    Size,
    Text,
    Texts,
    require,
    require_same_length,
)

Tick = tuple[Real, Text]
Ends = tuple[Real, Real]


Numbers = Annotated[tuple[Number, ...], Meta(max_length=LONGEST)]


class Axis(Record, frozen=True, kw_only=True):
    """An axis."""

    title: Text
    log: bool | UnsetType = UNSET
    ticks: Annotated[tuple[Tick, ...], Meta(max_length=LONGEST)] | UnsetType = UNSET
    range: Ends | UnsetType | None = UNSET


class ScaledAxis(Axis, frozen=True, kw_only=True):
    """An axis that is linear or logarithmic."""

    log: bool


class NumberSeries(Record, frozen=True, kw_only=True):
    """Numbers with intervals along x."""

    name: Text
    x: Reals
    numbers: Numbers
    line: bool

    def __post_init__(self) -> None:
        require_same_length(x=self.x, numbers=self.numbers)


class PointSeries(Record, frozen=True, kw_only=True):
    """Points."""

    name: Text
    x: Reals
    y: Reals

    def __post_init__(self) -> None:
        require_same_length(x=self.x, y=self.y)


class HeightSeries(Record, frozen=True, kw_only=True):
    """The heights of a histogram."""

    name: Text
    heights: Annotated[tuple[NotNegative, ...], Meta(max_length=LONGEST)]


class NumberedCloud(Cloud, frozen=True, kw_only=True):
    """Gradients in a plane; minibatch: how many samples each is made of."""

    minibatch: Size | UnsetType = UNSET


class ColourScale(Record, frozen=True, kw_only=True):
    """The scale of a table of colours; null where the values say its ends."""

    title: Text
    low: Real | None
    high: Real | None


class Figure(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """A figure of some kind, named by the key `kind`."""


class Titled(Figure, frozen=True, kw_only=True):
    """A figure with a title."""

    title: Text

    @property
    def form(self) -> tuple[str, ...]:
        """Return what it has in common with the same figure in other frames of a slider."""
        return (type(self).__name__,)


class Lines(Titled, frozen=True, kw_only=True, tag="lines"):
    """Lines with bands for their intervals."""

    x: ScaledAxis
    y: ScaledAxis
    series: Annotated[tuple[NumberSeries, ...], Meta(max_length=LONGEST)]
    marks: Annotated[tuple[Tick, ...], Meta(max_length=LONGEST)]
    spans: Annotated[tuple[tuple[Real, Real, Text], ...], Meta(max_length=LONGEST)] | UnsetType = (
        UNSET
    )


class Bars(Titled, frozen=True, kw_only=True, tag="bars"):
    """A bar with its interval for each category."""

    categories: Texts
    y: Axis
    series: Annotated[tuple[NumberSeries, ...], Meta(max_length=LONGEST)]

    def __post_init__(self) -> None:
        for one in self.series:
            require(
                all(type(x) is int and 0 <= x < len(self.categories) for x in one.x),
                "a bar is at no category",
            )


class Points(Titled, frozen=True, kw_only=True, tag="points"):
    """Many points."""

    x: ScaledAxis
    y: Axis
    series: Annotated[tuple[PointSeries, ...], Meta(max_length=LONGEST)]


class Heatmap(Titled, frozen=True, kw_only=True, tag="heatmap"):
    """A table of colours."""

    values: Annotated[
        tuple[Annotated[tuple[Real | None, ...], Meta(max_length=LONGEST)], ...],
        Meta(max_length=LONGEST),
    ]
    scale: ColourScale
    rows: Texts
    columns: Texts
    written: bool
    x_title: Text
    y_title: Text

    def __post_init__(self) -> None:
        require(len({len(row) for row in self.values}) <= 1, "rows differ in length")

    @property
    def form(self) -> tuple[str, ...]:
        """Return the form of the figure, and whether its values are written."""
        return ("Heatmap", str(self.written))


class Histogram(Titled, frozen=True, kw_only=True, tag="histogram"):
    """Outlines of histograms over the same bins."""

    x: Axis
    y: Axis
    edges: Reals
    series: Annotated[tuple[HeightSeries, ...], Meta(max_length=LONGEST)]

    def __post_init__(self) -> None:
        for one in self.series:
            require(len(one.heights) == len(self.edges) - 1, "heights do not fit their edges")


class Plane(Titled, frozen=True, kw_only=True, tag="plane"):
    """Gradients in a plane, beside the one that they estimate."""

    cloud: NumberedCloud
    goal: Text
    points: Text


class Table(Titled, frozen=True, kw_only=True, tag="table"):
    """A table of texts and numbers."""

    head: Texts
    rows: Annotated[tuple[tuple[Text | Number, ...], ...], Meta(max_length=LONGEST)]

    def __post_init__(self) -> None:
        for row in self.rows:
            require_same_length(head=self.head, row=row)


Chart = Lines | Bars | Points | Heatmap | Histogram | Plane | Table


class Row(Figure, frozen=True, kw_only=True, tag="row"):
    """Figures beside each other."""

    figures: Annotated[tuple[Chart, ...], Meta(min_length=1, max_length=LONGEST)]

    @property
    def form(self) -> tuple[str, ...]:
        """Return the forms of all its figures."""
        return ("Row", *(word for one in self.figures for word in one.form))


class Slides(Figure, frozen=True, kw_only=True, tag="slides"):
    """Figures that a slider changes: one frame for each of its words, all with like figures."""

    name: Text
    label: Text
    start: Count
    words: Annotated[tuple[Text, ...], Meta(min_length=1, max_length=LONGEST)]
    frames: Annotated[
        tuple[Annotated[tuple[Chart | Row, ...], Meta(min_length=1, max_length=LONGEST)], ...],
        Meta(min_length=1, max_length=LONGEST),
    ]

    def __post_init__(self) -> None:
        require_same_length(words=self.words, frames=self.frames)
        require(self.start < len(self.words), "the slider starts beyond its end")
        forms = {tuple(one.form for one in frame) for frame in self.frames}
        require(len(forms) == 1, "frames of a slider have different figures")


AnyFigure = Chart | Row | Slides
Figures = Sequence[AnyFigure]


class Check(Record, frozen=True, kw_only=True):
    """A number, and whether it lies where the claim says."""

    case: dict[Text, Text]
    quantity: Text
    number: Number
    asks: Text
    between: tuple[Real | None, Real | None]
    says: Literal["yes", "no", "open"]


class Counts(Record, frozen=True, kw_only=True):
    """How many checks say what."""

    yes: Count
    no: Count
    open: Count


Word = Literal["holds", "depends", "holds when", "does not hold", "cannot be told", "identity"]


class ClaimPart(Record, frozen=True, kw_only=True):
    """Checks of a claim that are judged apart; range: least, median and largest number."""

    case: dict[Text, Text]
    word: Word
    when: Text
    counts: Counts
    range: tuple[Real, Real, Real] | None


class JudgedClaim(Record, frozen=True, kw_only=True):
    """A claim with its verdict."""

    id: Text
    topic: Text
    kind: Literal["identity", "measurement", "recommendation"] | UnsetType = UNSET
    claim: Text
    measured: Text
    asks: Text
    contradicts: Text | UnsetType = UNSET
    apart: Texts | UnsetType = UNSET
    verdict: Text
    word: Word
    when: Text
    counts: Counts
    parts: Annotated[tuple[ClaimPart, ...], Meta(max_length=LONGEST)] | UnsetType = UNSET
    numbers: dict[Text, Number]
    checks: Annotated[tuple[Check, ...], Meta(max_length=LONGEST)]
    notes: Texts
    figures: Annotated[tuple[AnyFigure, ...], Meta(max_length=LONGEST)]


class Highlight(Record, frozen=True, kw_only=True):
    """What was found, in plain words, with a picture; claims: what it rests on."""

    title: Text
    text: Text
    claims: Texts
    figure: AnyFigure


class Study(Record, frozen=True, kw_only=True):
    """study.json: everything that the page of a study shows."""

    study: Text
    title: Text
    lead: Text
    rule: Text
    effort: Literal["quick", "full"]
    seed: Seed
    claims: Annotated[tuple[JudgedClaim, ...], Meta(max_length=LONGEST)]
    findings: Annotated[tuple[Highlight, ...], Meta(max_length=LONGEST)] | UnsetType = UNSET
    machine: Machine | UnsetType = UNSET
    versions: Names | UnsetType = UNSET
    reproduce: Text
    out: Text
    report: Text

    def __str__(self) -> str:
        counts = Counter(claim.word for claim in self.claims)
        said = ", ".join(f"{count} {word}" for word, count in counts.most_common())
        found = () if self.findings is UNSET else (one.title for one in self.findings)
        lines = [f"{self.title}: {len(self.claims)} statements ({said})", *found]
        return "\n- ".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
