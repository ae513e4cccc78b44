"""The records of advice.json, costs.json and untrained.json."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from nbyt.results.measurement import Lambdas, Look, Measurement
from nbyt.results.prior import TrackRecord
from nbyt.results.values import (
    LONGEST,
    Count,
    Estimate,
    Layout,
    Leaf,
    Machine,
    Names,
    NotNegative,
    OfLayout,
    Positive,
    Real,
    Reals,
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
    require_same_length,
)

# A clock ticks in nanoseconds, and nobody waits for an update for years.
Seconds = Annotated[float, Meta(ge=1e-9, le=1e9)]
Timed = tuple[Size, Size, Annotated[tuple[Seconds, ...], Meta(min_length=2, max_length=LONGEST)]]
# What a layout is compared for: the return for the same time, or for the same samples.
Goal = Literal["time", "samples"]
GOALS: tuple[Goal, ...] = ("time", "samples")


class Costs(Record, frozen=True, kw_only=True):
    """costs.json, or times.json of a sweep: seconds of an update at a few layouts, by round."""

    timed: Annotated[tuple[Timed, ...], Meta(min_length=1, max_length=LONGEST)]

    def __post_init__(self) -> None:
        splits = {(envs, steps) for envs, steps, _ in self.timed}
        require(len(splits) == len(self.timed), "a layout was timed twice")
        rounds = {len(seconds) for _, _, seconds in self.timed}
        require(len(rounds) == 1, "layouts were timed in different numbers of rounds")


class TimedLayout(OfLayout, frozen=True, kw_only=True):
    """The time of an update with a layout."""

    seconds: Estimate
    milliseconds: Estimate
    steps_per_second: NotNegative


class Untrained(Record, frozen=True, kw_only=True):
    """untrained.json: the mean return of the policy that each seed of a race begins with."""

    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1, max_length=LONGEST)]
    returns: Reals

    def __post_init__(self) -> None:
        require_same_length(seeds=self.seeds, returns=self.returns)


class Answer(OfLayout, frozen=True, kw_only=True):
    """The layout to use for one goal.

    expected_loss: share of the way from an untrained policy to the best layout that it may lose.
    p_within_5: probability that it loses at most 5 %; null where that is not calibrated.
    """

    expected_loss: Estimate
    p_within_5: Share | None
    rests_on: Literal["race", "prior"]
    sentence: Text
    reasons: Texts


class Answers(Record, frozen=True, kw_only=True):
    """The answer for the same time, where costs are known, and for the same samples."""

    time: Answer | None
    samples: Answer

    def of(self, goal: Goal) -> Answer | None:
        """Return the answer for one goal."""
        return self.time if goal == "time" else self.samples


class LayoutLoss(OfLayout, frozen=True, kw_only=True):
    """What a layout is expected to lose for the goal of the advice.

    trainings: the quarter trainings that it had; 0 where its loss follows from its neighbours' and
    from the reference tasks. within_5: the probability that it loses at most 5 %, where calibrated.
    update_cost: time of an update over that of the advised layout; null if costs are unknown.
    """

    loss: Estimate
    trainings: Count
    within_5: Share | None
    update_cost: Positive | None
    seconds: Estimate | None
    defaults_of: Texts


class Arm(OfLayout, frozen=True, kw_only=True):
    """A layout in the race: the learning curves of its quarter trainings.

    samples, spent: env steps at every point of the curves, and the share of a whole training's
    budget that they cost. returns: by seed. gains: by seed, the score that the curve promises,
    above the untrained policy.
    """

    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1, max_length=LONGEST)]
    samples: Annotated[tuple[Count, ...], Meta(min_length=2, max_length=LONGEST)]
    spent: Annotated[tuple[NotNegative, ...], Meta(min_length=2, max_length=LONGEST)]
    returns: Annotated[tuple[Reals, ...], Meta(min_length=1, max_length=LONGEST)]
    gains: Reals

    def __post_init__(self) -> None:
        require_same_length(seeds=self.seeds, returns=self.returns, gains=self.gains)
        for curve in self.returns:
            require_same_length(samples=self.samples, spent=self.spent, returns=curve)


class GivenRun(Record, frozen=True, kw_only=True):
    """A finished run of the user's own, and how many of its trainings count.

    holds: "a training", "a sweep" or "an advice".
    """

    path: Text
    holds: Text
    trainings: Annotated[int, Meta(ge=1, le=LONGEST)]


class Race(Record, frozen=True, kw_only=True):
    """The trainings that the advice rests on.

    fraction: of a whole training that each makes. untrained: mean return before training. learnt:
    False where no layout learnt anything in its part; then nothing is ranked. unit_seconds: of one
    whole training, by the costs; null for the same samples.
    """

    fraction: Share
    untrained: Real
    learnt: bool
    unit_seconds: Positive | None
    arms: Annotated[tuple[Arm, ...], Meta(min_length=1, max_length=LONGEST)]
    given: Annotated[tuple[GivenRun, ...], Meta(max_length=LONGEST)] | UnsetType = UNSET

    @property
    def runs(self) -> tuple[GivenRun, ...]:
        """Return the runs that were given."""
        return () if self.given is UNSET else self.given

    def __post_init__(self) -> None:
        trainings = sum(len(arm.seeds) for arm in self.arms)
        given = sum(run.trainings for run in self.runs)
        require(given <= trainings, "more trainings are given than there are")


class Cost(Record, frozen=True, kw_only=True):
    """What the advice cost: trainings of the race, all env steps, and seconds."""

    trainings: NotNegative
    samples: Count
    seconds: NotNegative


class PriorFacts(Record, frozen=True, kw_only=True):
    """The reference tasks that the advice rests on."""

    version: Text
    sha256: Text
    tasks: Count


class Current(OfLayout, frozen=True, kw_only=True):
    """The user's own layout beside the advised one.

    speedup: how many times as long it takes to reach what the advised layout reaches, where both
    were in the race.
    """

    loss: Estimate | None
    speedup: Estimate | None
    sentence: Text


class StageAdvice(Measurement, frozen=True, kw_only=True):
    """The measurement of a frozen policy that explains the answer."""

    name: Text
    updates: Count | None
    samples: Count | None
    trained_with: Split | None
    closer: Look | None


class Library(Record, frozen=True, kw_only=True):
    """A library's defaults, and the compared layout nearest to them."""

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


class Advice(Record, frozen=True, kw_only=True):
    """advice.json: everything that the page of an advice shows.

    costs_from: "measured", "parallel:16" and the like, the name of a file, or null.
    safe_range: layouts that lose at most 5 % with a probability of at least .9.
    """

    env: Text
    batch: Size
    objective: Goal
    effort: Text
    total: Total
    gamma: Share
    lam: Share = field(name="lambda")
    lambdas: Lambdas
    max_envs: Size
    seed: Seed
    advice: Answers
    safe_range: Splits
    layouts: Annotated[tuple[LayoutLoss, ...], Meta(min_length=1, max_length=LONGEST)]
    race: Race | None
    prior: PriorFacts
    track_record: TrackRecord | None
    costs_from: Text | None
    costs: Costs | None
    current: Current | None
    stages: Annotated[tuple[StageAdvice, ...], Meta(max_length=LONGEST)]
    libraries: Annotated[tuple[Library, ...], Meta(max_length=LONGEST)]
    settings: Annotated[tuple[Pasted, ...], Meta(max_length=LONGEST)]
    current_settings: CurrentSettings | UnsetType | None = UNSET
    schedule: Schedule
    warnings: Texts | UnsetType = UNSET
    cost: Cost
    machine: Machine
    versions: Names | UnsetType = UNSET
    reproduce: Text | UnsetType = UNSET
    out: Text
    report: Text

    @property
    def answer(self) -> Answer:
        """Return the answer for the goal of the advice."""
        answer = self.advice.of(self.objective)
        assert answer is not None, "the goal of an advice has an answer"
        return answer

    def layout(self, steps: int) -> LayoutLoss | None:
        """Return the row of the layout with this T, if it was compared."""
        return next((one for one in self.layouts if one.steps == steps), None)

    def __post_init__(self) -> None:
        require(self.advice.of(self.objective) is not None, "the goal has no answer")
        splits = {(one.envs, one.steps) for one in self.layouts}
        require(len(splits) == len(self.layouts), "a layout comes twice")
        answer = self.answer
        require((answer.envs, answer.steps) in splits, "the advised layout is not compared")
        require(set(self.safe_range) <= splits, "a safe layout is not compared")
        names = [stage.name for stage in self.stages]
        require(len(set(names)) == len(names), "two stages have the same name")
