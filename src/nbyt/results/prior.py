"""The reference tasks that nbyt ships: learning curves of every T, and what rules lost on them."""

from nbyt.results.values import Count, Real, Record, Text


class ReferenceTask(Record, frozen=True, kw_only=True):
    """A task of the proving ground at one batch size.

    samples: at every point of a curve, 0 at the first. mean, sd: of the gain over the untrained
    policy, over seeds, at every point of each T; short T have more points than long ones.
    """

    env: str
    batch: int
    total: int
    seeds: int
    steps: tuple[int, ...]
    samples: tuple[int, ...]
    mean: tuple[tuple[float, ...], ...]
    sd: tuple[tuple[float, ...], ...]


class Loss(Record, frozen=True, kw_only=True):
    """A mean loss, or gain, over tasks with its 95 % interval."""

    value: Real
    low: Real
    high: Real


class TrackRecord(Record, frozen=True, kw_only=True):
    """What the race lost, beside its rivals at the same cost.

    costs: "samples", "measured" or "parallel". sealed: True if the tasks were sealed while the race
    was built, False if they are the reference tasks, each left out in turn. search: the name of the
    best search.
    """

    costs: Text
    trainings: Count
    tasks: Count
    sealed: bool
    race: Loss
    constant: Loss
    search: Text
    search_loss: Loss


class StaggerGain(Record, frozen=True, kw_only=True):
    """What staggered starts win with a T, in shares of the best gain, over the reference tasks."""

    costs: Text
    steps: Count
    tasks: Count
    won: Loss


class Prior(Record, frozen=True, kw_only=True):
    """All reference tasks, the track record of the race, and what staggered starts win."""

    version: str
    tasks: tuple[ReferenceTask, ...]
    record: tuple[TrackRecord, ...] = ()
    stagger: tuple[StaggerGain, ...] = ()
