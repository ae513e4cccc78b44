"""A sweep: sweep.json, its cells, failures and times."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from nbyt.results.advice import Library
from nbyt.results.training import Settings
from nbyt.results.values import (
    LONGEST,
    ByKind,
    Count,
    Estimate,
    Kind,
    Names,
    OfLayout,
    Real,
    Reals,
    Record,
    Seed,
    Size,
    Splits,
    Text,
    Texts,
    Total,
    require,
    require_same_length,
)

Totals = Annotated[tuple[Total, ...], Meta(min_length=1, max_length=LONGEST)]
Seeds = Annotated[tuple[Seed, ...], Meta(max_length=LONGEST)]
Estimates = Annotated[tuple[Estimate, ...], Meta(max_length=LONGEST)]
Wins = Annotated[tuple[tuple[Estimate | None, ...], ...], Meta(max_length=LONGEST)]

KINDS: tuple[Kind, ...] = ("per_sample", "per_second")


class CellCurve(Record, frozen=True, kw_only=True):
    """cell-*.json: what one training reached at the points of its curve.

    training: the mean return of its own episodes that ended since the point before, if any did.
    """

    samples: Totals
    returns: Reals
    unfinished: Count
    training: tuple[Real | None, ...] = ()

    def __post_init__(self) -> None:
        require_same_length(samples=self.samples, returns=self.returns)


class Failure(Record, frozen=True, kw_only=True):
    """failed-*.json: why a training failed."""

    code: Text
    message: Text
    where: Text
    fix: Text


class FailedCell(Failure, frozen=True, kw_only=True):
    """A training that failed, and why."""

    envs: Size
    steps: Size
    seed: Seed


class FinishedSeeds(Record, frozen=True, kw_only=True):
    """The seeds of a layout that finished, and how many did not."""

    finished: Seeds
    failed: Count
    missing: Count


class Standing(Record, frozen=True, kw_only=True):
    """What a layout reached, compared with the best."""

    scores: Reals
    curve: Estimates
    over_training: Estimate
    final: Estimate
    behind: Estimate | None
    tied_with_best: bool | None
    best_wins: Estimate | None


class SweptLayout(OfLayout, frozen=True, kw_only=True):
    """A layout of a sweep."""

    seeds: FinishedSeeds
    seconds: Estimate
    defaults_of: Texts
    per_sample: Standing
    per_second: Standing | None

    @property
    def name(self) -> str:
        """Return the layout's name, such as 64x32."""
        return f"{self.envs}x{self.steps}"

    def standing(self, kind: Kind) -> Standing:
        """Return what it reached, per sample or per second; the latter must have been timed."""
        standing = self.per_sample if kind == "per_sample" else self.per_second
        if standing is None:
            raise ValueError("the seconds of an update were not measured")
        return standing


class SeedsNeeded(Record, frozen=True, kw_only=True):
    """How many seeds of each layout would separate them, or allow to compare them at all."""

    seeds: Count | None
    sentence: Text


class Verdict(OfLayout, frozen=True, kw_only=True):
    """The layout with the highest return, and what ties with it.

    to_settle: where nothing is decided, because all layouts tie or have too few seeds.
    """

    over_training: Estimate
    ties: Splits
    no_measurable_difference: bool
    sentence: Text
    to_settle: SeedsNeeded | None

    def __post_init__(self) -> None:
        alike, open_ = self.no_measurable_difference, self.is_open
        require(open_ or not alike, "layouts that all tie have no to_settle")
        require(alike or not (open_ and self.ties), "to_settle is for layouts that all tie")

    @property
    def is_open(self) -> bool:
        """Return True if no layout can be named the best."""
        return self.to_settle is not None


class AdviceComparison(OfLayout, frozen=True, kw_only=True):
    """The layout that would have been advised, compared with what the trainings reached.

    foretold: what each layout was expected to lose; null where nothing was said of it.
    """

    sentence: Text
    is_best: bool
    regret: Estimate | None
    regret_share: Estimate | None
    best_wins: Estimate | None
    correlation: Estimate
    foretold: Annotated[tuple[Estimate | None, ...], Meta(max_length=LONGEST)]


class FastestLayout(OfLayout, frozen=True, kw_only=True):
    """The seconds that the fastest layout takes for all updates."""

    seconds: Estimate


class CellCounts(Record, frozen=True, kw_only=True):
    """How many trainings are done, failed, and there in all."""

    done: Count
    failed: Count
    total: Count


class Sweep(Record, frozen=True, kw_only=True):
    """sweep.json: everything that the page of a sweep shows."""

    env: Text
    batch: Size
    minibatch: Size
    epochs: Size
    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1, max_length=LONGEST)]
    total: Total
    points: Totals
    samples: Totals
    settings: Settings
    start: Real | None
    budget: FastestLayout | None
    layouts: Annotated[tuple[SweptLayout, ...], Meta(min_length=1, max_length=LONGEST)]
    answer: ByKind[Verdict]
    defaults: Annotated[tuple[Library, ...], Meta(max_length=LONGEST)]
    wins: ByKind[Wins]
    advice: ByKind[AdviceComparison] | None
    failures: Annotated[tuple[FailedCell, ...], Meta(max_length=LONGEST)]
    left_out: Texts | UnsetType = UNSET
    cells: CellCounts
    versions: Names
    reproduce: Text
    out: Text
    table: Text
    report: Text

    def __post_init__(self) -> None:
        require_same_length(points=self.points, samples=self.samples)
        splits = {(one.envs, one.steps) for one in self.layouts}
        require(len(splits) == len(self.layouts), "a layout comes twice")
        for one in self.layouts:
            for standing in (one.per_sample, one.per_second):
                if standing is not None:
                    require_same_length(curve=standing.curve, points=self.points)
                    require_same_length(scores=standing.scores, seeds=one.seeds.finished)
        for compared in (self.advice.per_sample, self.advice.per_second) if self.advice else ():
            if compared is not None:
                require_same_length(foretold=compared.foretold, layouts=self.layouts)
        _require_wins(self.wins.per_sample, [one.per_sample for one in self.layouts])
        _require_wins(self.wins.per_second, [one.per_second for one in self.layouts])
        self._require_timed()

    def _require_timed(self) -> None:
        """Raise a ValueError where some part says that seconds are known and another does not."""
        if self.answer.per_second is not None:
            require(self.wins.per_second, "an answer per second without its layouts")
        if self.wins.per_second is not None:
            known = self.budget is not None and self.budget.seconds.value is not None
            require(known, "layouts per second without their seconds")


def _require_wins(wins: Wins | None, standings: Sequence[Standing | None]) -> None:
    """Raise a ValueError for a table of pairs that is not of these layouts."""
    if wins is None:
        require(standings.count(None) == len(standings), "layouts without a table of pairs")
        return
    require_same_length(wins=wins, layouts=standings)
    for first, row in zip(standings, wins, strict=True):
        require_same_length(wins=row, layouts=standings)
        for second, cell in zip(standings, row, strict=True):
            require(first is not None and second is not None, "a layout lacks a table's numbers")
            require((cell is None) == (first is second), "a pair of layouts has no number")
            if cell is not None and _is_known(first) and _is_known(second):
                require(cell.value is not None, "a pair of layouts has no number")


def _is_known(standing: Standing | None) -> bool:
    return standing is not None and len(standing.scores) > 0
