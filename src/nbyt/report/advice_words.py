"""Sentences about an advice that the terminal and the page share."""

from collections.abc import Sequence

from nbyt.report.numbers import listed, percent
from nbyt.results.advice import Advice, Cost, Goal, LayoutLoss, Race
from nbyt.results.prior import TrackRecord
from nbyt.results.values import Estimate, OfLayout
from nbyt.stats.estimate import printable, rounded

SAME: dict[Goal, str] = {"time": "for the same time", "samples": "for the same samples"}
CLOSE = 0.05
"""A layout is as good as the best if it loses at most this share."""

_PARTS = {0.25: "quarter trainings", 0.5: "half trainings", 1.0: "whole trainings"}
_BEGINNINGS = {0.25: "quarters", 0.5: "halves"}
_TRACKED = {
    "samples": "for the same samples",
    "measured": "at measured costs",
    "parallel": "on parallel hardware",
}
_HALF = 0.5


def hundredths(number: Estimate) -> str:
    """Format a share as steps of a hundred, such as 67 [60, 72]; about 67 where approximate."""
    shown = number.value and printable(number.value, number.low, number.high)
    ends = [shown, number.low, number.high]
    value, low, high = ("?" if x is None else rounded(100 * x, 0) for x in ends)
    return f"{'about ' if number.approximate is True else ''}{value} [{low}, {high}]"


def chance_words(share: float) -> str:
    """Format a probability, such as .89; never as 0 or 1, which no race can show."""
    if share < 0.005 or share > 0.995:
        return "< .01" if share < _HALF else "> .99"
    return f"{share:.2f}".removeprefix("0")


def count_words(count: int) -> str:
    """Format samples in two digits, such as 0.82M."""
    if count < 10_000:
        return f"{count:,}"
    unit, word = (1e6, "M") if count >= 100_000 else (1e3, "k")
    return f"{float(f'{count / unit:.2g}'):,g}{word}"


def time_words(seconds: float) -> str:
    """Format a duration in two or three digits, such as 41 s or 2.5 min."""
    for unit, word in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.{1 if seconds < 10 * unit else 0}f} {word}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def cost_words(cost: Cost) -> str:
    """Say what the advice cost, such as 4.0 trainings, 0.82M env steps, 41 s."""
    trainings = [f"{rounded(cost.trainings, 1)} trainings"] if cost.trainings else []
    samples = [f"{count_words(cost.samples)} env steps"] if cost.samples else []
    return ", ".join([*trainings, *samples, time_words(cost.seconds)])


def raced_words(race: Race) -> str:
    """Count the trainings of a race, such as 16 quarter trainings; those that were given too."""
    return _counted(race, sum(len(arm.seeds) for arm in race.arms))


def _counted(race: Race, count: int) -> str:
    several = part_words(race)
    return f"{count} {several if count > 1 else several.removesuffix('s')}"


def given_words(race: Race) -> str | None:
    """Say which trainings were given, such as the first quarters of 32 trainings in a sweep."""
    named = [
        f"{run.trainings} training{'s' * (run.trainings > 1)} ({run.path}, {run.holds})"
        for run in race.runs
    ]
    return (
        f"the first {_BEGINNINGS.get(race.fraction, 'parts')} of {listed(named)}" if named else None
    )


def part_words(race: Race) -> str:
    """Name the trainings of a race by how long they are."""
    return _PARTS.get(race.fraction, f"{100 * race.fraction:.3g} % trainings")


def rests_words(record: Advice) -> str:
    """Say what the answer rests on, and what that cost."""
    tasks = f"{record.prior.tasks} reference tasks"
    if record.race is None:
        return f"Rests on {tasks}; no layout was trained on this one ({cost_words(record.cost)})."
    race, given = record.race, given_words(record.race)
    own = sum(len(arm.seeds) for arm in race.arms) - sum(run.trainings for run in race.runs)
    raced = f"{_counted(race, own)} ({cost_words(record.cost)})" if own else ""
    if given:
        raced = f"{raced}, on {given}" if raced else f"{given} ({cost_words(record.cost)})"
    if not record.race.learnt:
        return f"Nothing was learnt in {raced}, so the answer is hardly more than a guess."
    return f"Rests on {raced}{',' * (given is not None)} and on {tasks}."


def track_words(record: Advice) -> str | None:
    """Say what this way to choose has lost on other tasks, beside its rivals."""
    track = record.track_record
    if track is None:
        return None
    where = f"{tracked_tasks(track)}, {_TRACKED.get(track.costs, track.costs)}"
    constant, race = percent(track.constant), percent(track.race)
    cost = f"{track.trainings} training{'s' * (track.trainings != 1)}"
    if record.answer.rests_on == "prior":
        return f"{where}: a constant T lost {constant}; a race of {cost} {race}."
    search = f"{track.search} at this cost {percent(track.search_loss)}"
    return f"{where}: this rule lost {race} at {cost}; a constant T {constant}; {search}."


def tracked_tasks(track: TrackRecord) -> str:
    """Say which tasks a rule was judged on."""
    tasks = "task" if track.tasks == 1 else "tasks"
    if track.sealed:
        return f"On {track.tasks} {tasks} it had not seen"
    return f"On {track.tasks} reference {tasks}, each left out in turn"


def others_words(record: Advice) -> str | None:
    """Say what the neighbours of the advised T lose, which T are safe, and which hardly learn."""
    rows = sorted(record.layouts, key=lambda one: one.steps)
    hopeless = _hopeless(rows)
    place = next(k for k, one in enumerate(rows) if _same(one, record.answer))
    beside = [rows[k] for k in (place - 1, place + 1) if 0 <= k < len(rows)]
    said = [
        f"T = {one.steps} loses {percent(one.loss)}"
        for one in beside
        if not is_safe(record, one) and one not in hopeless and one.loss.value is not None
    ]
    safe = [one for one in rows if is_safe(record, one) and not _same(one, record.answer)]
    if safe:
        said.append(f"{'safe too:' if said else 'Safe too:'} {_safe_words(safe)}")
    if hopeless:
        several = "T = " if len(hopeless) == 1 else "T <= "
        said.append(f"{several}{hopeless[-1].steps} loses more than half")
    if not said:
        return None
    where = "On the reference tasks " if record.answer.rests_on == "prior" else ""
    return f"{where}{'; '.join(said)}."


def _safe_words(safe: Sequence[LayoutLoss]) -> str:
    """Name safe layouts with the time of an update over the advised one's."""
    named = f"T = {listed([str(one.steps) for one in safe])}"
    costs = [one.update_cost for one in safe if one.update_cost is not None]
    if len(costs) < len(safe):
        return named
    return f"{named} (an update takes {listed([f'{cost:.2g}' for cost in costs])} x as long)"


def _hopeless(rows: Sequence[LayoutLoss]) -> list[LayoutLoss]:
    """Return the shortest layouts as long as each clearly loses more than half."""
    found: list[LayoutLoss] = []
    for one in rows:
        if (one.loss.low or 0.0) <= _HALF:
            break
        found.append(one)
    return found


def is_safe(record: Advice, layout: OfLayout) -> bool:
    """Return True for a layout of the safe range."""
    return (layout.envs, layout.steps) in record.safe_range


def marks(record: Advice, layout: OfLayout) -> list[str]:
    """Say whether a layout is the advised one, the user's, or safe."""
    own = record.current is not None and _same(layout, record.current)
    roles = {
        "advised": _same(layout, record.answer),
        "yours": own,
        "safe": is_safe(record, layout),
    }
    return [word for word, holds in roles.items() if holds]


def claimed_steps(record: Advice) -> tuple[int, int]:
    """Return the shortest and the longest T that something is claimed of."""
    steps = [one.steps for one in record.layouts]
    return min(steps), max(steps)


def _same(one: OfLayout, other: OfLayout) -> bool:
    return (one.envs, one.steps) == (other.envs, other.steps)
