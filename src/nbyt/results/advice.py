"""The records of advice.json, costs.json and returns-*.json."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from nbyt.results.measurement import Lambdas, Look, Measurement
from nbyt.results.values import (
    LONGEST,
    ByKind,
    Count,
    Estimate,
    Layout,
    Leaf,
    Machine,
    Names,
    OfLayout,
    Positive,
    Real,
    Record,
    Seed,
    Share,
    Size,
    Split,
    Splits,
    Text,
    Texts,
    Total,
    require,
)

# A clock ticks in nanoseconds, and nobody waits for an update for years.
Seconds = Annotated[float, Meta(ge=1e-9, le=1e9)]
Timed = tuple[Size, Size, Annotated[tuple[Seconds, ...], Meta(min_length=2, max_length=LONGEST)]]


class Costs(Record, frozen=True, kw_only=True):
    """costs.json, or times.json of a sweep: seconds of an update at a few layouts, by round."""

    timed: Annotated[tuple[Timed, ...], Meta(min_length=1, max_length=LONGEST)]

    def __post_init__(self) -> None:
        splits = {(envs, steps) for envs, steps, _ in self.timed}
        require(len(splits) == len(self.timed), "a layout was timed twice")
        rounds = {len(seconds) for _, _, seconds in self.timed}
        require(len(rounds) == 1, "layouts were timed in different numbers of rounds")


class Returns(Record, frozen=True, kw_only=True):
    """returns-*.json: the mean return of every stage of a training; null where none is finite."""

    returns: Annotated[tuple[Real | None, ...], Meta(min_length=1, max_length=LONGEST)]


class StageAdvice(Measurement, frozen=True, kw_only=True):
    """A stage's measurement, and how much it counts."""

    name: Text
    updates: Count | None
    samples: Count | None
    trained_with: Split | None
    weight: Share
    clear: bool
    closer: Look | None


class Placed(OfLayout, frozen=True, kw_only=True):
    """A layout's place in an answer."""

    relative: Estimate
    alignment: Estimate
    win_share: Share
    regret: Estimate
    tied_with_best: bool
    harmful_at: Texts


class RankedLayout(Placed, frozen=True, kw_only=True):
    """A layout's place, and the libraries whose defaults are nearest to it."""

    defaults_of: Texts


class CurrentLayout(Placed, frozen=True, kw_only=True):
    """The user's own layout in an answer."""

    sentence: Text
    place: Size


class ToSettle(Record, frozen=True, kw_only=True):
    """How many more samples would separate the best from the worst."""

    sentence: Text
    samples: Count | None


class Answer(OfLayout, frozen=True, kw_only=True):
    """The best layout, what ties with it, and all others."""

    alignment: Estimate
    relative: Estimate
    win_share: Share
    actor_alone: Split | UnsetType | None = UNSET
    ties: Splits
    no_measurable_difference: bool
    sentence: Text
    to_settle: ToSettle | None
    reasons: Texts
    remedies: Texts
    left_out: Texts
    ranking: Annotated[tuple[RankedLayout, ...], Meta(min_length=1, max_length=LONGEST)]

    @property
    def layouts(self) -> set[tuple[int, int]]:
        """Return the layouts that were ranked."""
        return {(one.envs, one.steps) for one in self.ranking}

    def __post_init__(self) -> None:
        require(len(self.layouts) == len(self.ranking), "a layout is ranked twice")
        require((self.envs, self.steps) in self.layouts, "the best layout is not ranked")
        require(set(self.ties) <= self.layouts, "a tied layout is not ranked")


class Answers(ByKind[Answer], frozen=True, kw_only=True):
    """The answer for the same samples, and for the same seconds where those were measured."""

    per_sample: Answer


class Current(ByKind[CurrentLayout], frozen=True, kw_only=True):
    """The user's own layout, per sample and per second."""

    per_sample: CurrentLayout


class Agreement(Record, frozen=True, kw_only=True):
    """Whether stages of different trainings say the same."""

    agree: bool
    best: dict[Text, Split]
    sentence: Text


class Library(Record, frozen=True, kw_only=True):
    """A library's defaults, and the measured layout nearest to them."""

    id: Text
    library: Text
    envs: Size | None
    steps: Size
    placed_at: Split
    exact: bool


class Pasted(Record, frozen=True, kw_only=True):
    """The advised layout in a library's words."""

    id: Text
    library: Text
    paste: Text
    exact: bool
    lost: Texts
    unsaid: Texts | UnsetType = UNSET
    changes: dict[Text, Leaf] | UnsetType = UNSET


class CurrentSettings(Record, frozen=True, kw_only=True):
    """The user's own settings: what was taken over, and what was not."""

    id: Text
    library: Text
    given: dict[Text, Leaf]
    carried: dict[Text, Leaf]
    not_carried: Texts


class Schedule(Layout, frozen=True, kw_only=True):
    """Gradient steps of an update with the advised layout."""

    gradient_steps: Count
    learning_rate: Positive
    current: Layout | None
    sentence: Text


class Trained(Layout, frozen=True, kw_only=True):
    """A training that stages were taken from."""

    total: Total


class BudgetRow(Record, frozen=True, kw_only=True):
    """The best layout of one batch, and what it gets out of a budget."""

    batch: Size
    envs: Size
    steps: Size
    relative: Estimate
    regret: Estimate
    win_share: Share
    updates: Count
    minibatch: Size
    minibatches: Size
    gradient_steps: Count


class Budget(BudgetRow, frozen=True, kw_only=True):
    """The batch to use for a budget, and all that were compared."""

    given: Text
    kind: Literal["seconds", "samples"]
    rows: Annotated[tuple[BudgetRow, ...], Meta(min_length=1, max_length=LONGEST)]
    sentence: Text


class Advice(Record, frozen=True, kw_only=True):
    """advice.json: everything that the page of an advice shows."""

    env: Text
    batch: Size
    objective: Literal["actor", "critic", "total"]
    decided_by: Literal["actor", "critic", "total", "both"] | UnsetType = UNSET
    effort: Text
    per: Literal["sample", "second", "both"]
    gamma: Share
    lam: Share = field(name="lambda")
    lambdas: Lambdas
    advantages: Literal["normalised", "raw"]
    max_envs: Size
    seed: Seed
    weigh: Literal["learning", "samples"]
    stages: Annotated[tuple[StageAdvice, ...], Meta(min_length=1, max_length=LONGEST)]
    costs: Costs | None
    advice: Answers
    current: Current | None
    agreement: Agreement | None
    libraries: Annotated[tuple[Library, ...], Meta(max_length=LONGEST)]
    settings: Annotated[tuple[Pasted, ...], Meta(max_length=LONGEST)]
    current_settings: CurrentSettings | UnsetType | None = UNSET
    schedule: Schedule
    training: Annotated[tuple[Trained, ...], Meta(max_length=LONGEST)]
    warnings: Texts | UnsetType = UNSET
    budget: Budget | UnsetType | None = UNSET
    machine: Machine
    versions: Names | UnsetType = UNSET
    reproduce: Text | UnsetType = UNSET
    out: Text
    report: Text

    def __post_init__(self) -> None:
        ranked = self.advice.per_sample.layouts
        for answer in (self.advice.per_sample, self.advice.per_second):
            require(answer is None or answer.layouts == ranked, "answers rank different layouts")
        names = [stage.name for stage in self.stages]
        require(len(set(names)) == len(names), "two stages have the same name")
        for stage in self.stages:
            measured = {(one.envs, one.steps) for one in stage.layouts}
            require(measured == ranked, "a stage has other layouts than those that are ranked")
