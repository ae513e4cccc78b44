"""Claims that random mini-batches help in situations not met before."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from jaxtyping import Float

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import student
from nbyt_studies.numbers import mean_of
from nbyt_studies.study import Claim, Results
from nbyt_studies.verdict import Check, judge

RANDOM = "uniform"

Levels = Float[np.ndarray, "seeds moments"]
Statistic = Callable[[list[Levels]], float]
_LEAST = 3


def levels(data: Data, sampling: str, condition: str) -> Levels:
    """Return what runs reach under a condition at the moments of their last half."""
    seeds = next(row for row in data["rows"] if row["sampling"] == sampling)["seeds"]
    found = [_of(seed, data, condition) for seed in seeds]
    return np.array(found, float)[:, -(len(data["steps"]) // 2) :]


def along(data: Data, sampling: str, condition: str) -> list[Estimate]:
    """Return the mean over seeds at every moment."""
    seeds = next(row for row in data["rows"] if row["sampling"] == sampling)["seeds"]
    columns = zip(*(_of(seed, data, condition) for seed in seeds), strict=True)
    return [mean_of(column) for column in columns]


def others(data: Data) -> list[str]:
    """Return the samplings that the random one is compared with."""
    return [row["sampling"] for row in data["rows"] if row["sampling"] != RANDOM]


def level(data: Data, sampling: str, condition: str) -> Estimate:
    """Return the mean over seeds of what runs reach."""
    return mean_of(levels(data, sampling, condition).mean(1))


def gained(data: Data, other: str, condition: str) -> Estimate:
    """Estimate how much more random sampling reaches than another, seed by seed."""
    first, second = (levels(data, one, condition).mean(1) for one in (RANDOM, other))
    return mean_of(first - second)


def dropped(data: Data, sampling: str, condition: str) -> Estimate:
    """Estimate the loss from home (as trained) to abroad (an unseen condition)."""
    home, abroad = _both(data, sampling, condition)
    return mean_of(home.mean(1) - abroad.mean(1))


def retained(data: Data, sampling: str, condition: str) -> Estimate:
    """Return the level abroad over that at home, both means over seeds."""
    return over_seeds(_share, _both(data, sampling, condition))


def retained_more(data: Data, other: str, condition: str) -> Estimate:
    """Return the share that random sampling retains less the share that another does."""
    both = [*_both(data, RANDOM, condition), *_both(data, other, condition)]
    return over_seeds(lambda some: _share(some[:2]) - _share(some[2:]), both)


def gained_at_equal_home(data: Data, other: str, condition: str) -> Estimate:
    """Estimate what random sampling gains abroad over runs of another as good at home.

    The difference abroad less slope times that at home; the slope of abroad on home is common to
    both samplings, fitted to all moments around each one's mean.
    """
    both = [*_both(data, RANDOM, condition), *_both(data, other, condition)]
    return over_seeds(_beyond, both)


def over_seeds(statistic: Statistic, some: list[Levels]) -> Estimate:
    """Estimate a statistic of arrays with a row for each seed; jackknife over seeds."""
    count = len(some[0])
    if count < _LEAST:
        return undetermined(f"{count} seeds are too few", count)
    without = [
        statistic([np.delete(levels, seed, axis=0) for levels in some]) for seed in range(count)
    ]
    found = np.array([statistic(some), *without])
    if not np.isfinite(found).all():
        return undetermined("the levels at home are 0, or all alike", count)
    return Estimate(float(found[0]), *student(found, count), count, approximate=True)


def _of(seed: Data, data: Data, condition: str) -> list[float]:
    return seed["home"] if condition == data["home"] else seed["abroad"][condition]


def _both(data: Data, sampling: str, condition: str) -> list[Levels]:
    return [levels(data, sampling, one) for one in (data["home"], condition)]


def _share(both: list[Levels]) -> float:
    home, abroad = (levels.mean() for levels in both)
    return float(abroad / home) if home else np.nan


def _beyond(some: list[Levels]) -> float:
    home, abroad = np.stack(some[::2]), np.stack(some[1::2])
    centred = [levels - levels.mean(axis=(1, 2), keepdims=True) for levels in (home, abroad)]
    spread = float((centred[0] ** 2).sum())
    slope = float((centred[0] * centred[1]).sum()) / spread if spread else np.nan
    gains = [float(levels[0].mean() - levels[1].mean()) for levels in (home, abroad)]
    return gains[1] - slope * gains[0]


_LEVEL = {"unseen-carts": "return", "unseen-few-lakes": "success", "unseen-many-lakes": "success"}
NEEDS = tuple(_LEVEL)


def abroad_figures(results: Results) -> list[Data]:
    """Draw levels by condition, along the run, and as a table."""
    return [
        *_arranged([_levels(name, results[name]) for name in NEEDS]),
        figures.row(*_curves(results)),
        *(_level_table(results[name]) for name in NEEDS),
    ]


def retained_figures(results: Results) -> list[Data]:
    """Draw the retained share by condition, abroad against home, and the drops as a table."""
    return [
        *_arranged([_shares(results[name]) for name in NEEDS]),
        figures.row(*(_against_home(name, results[name]) for name in NEEDS)),
        *(_drop_table(results[name]) for name in NEEDS),
    ]


def _arranged(some: list[Data]) -> list[Data]:
    return [some[0], figures.row(*some[1:])]


def _samplings(data: Data) -> list[str]:
    return [row["sampling"] for row in data["rows"]]


def _levels(name: str, data: Data) -> Data:
    conditions = [data["home"], *data["conditions"]]
    some = []
    for sampling in _samplings(data):
        means = [level(data, sampling, one).as_dict() for one in conditions]
        some.append(figures.series(sampling, range(len(means)), means))
    return figures.bars(f"{data['env']}: at home and abroad", conditions, _LEVEL[name], some)


def _curves(results: Results) -> list[Data]:
    found = []
    for name in NEEDS:
        data = results[name]
        for condition in (data["home"], data["conditions"][0]):
            some = []
            for sampling in _samplings(data):
                means = [one.as_dict() for one in along(data, sampling, condition)]
                some.append(figures.series(sampling, data["steps"], means))
            title = f"{data['env']}, {condition}"
            found.append(figures.lines(title, "steps of training", _LEVEL[name], some))
    return found


def _level_table(data: Data) -> Data:
    head = ["condition", *_samplings(data), *(f"uniform less {other}" for other in others(data))]
    rows = [
        [
            condition,
            *(level(data, one, condition).as_dict() for one in _samplings(data)),
            *(gained(data, other, condition).as_dict() for other in others(data)),
        ]
        for condition in (data["home"], *data["conditions"])
    ]
    return figures.table(f"{data['env']}: levels and paired differences", head, rows)


def _shares(data: Data) -> Data:
    some = []
    for sampling in _samplings(data):
        shares = [retained(data, sampling, one).as_dict() for one in data["conditions"]]
        some.append(figures.series(sampling, range(len(shares)), shares))
    title = f"{data['env']}: what is retained abroad"
    return figures.bars(title, data["conditions"], "level abroad over level at home", some)


def _against_home(name: str, data: Data) -> Data:
    condition = data["conditions"][0]
    some = []
    for sampling in _samplings(data):
        home, abroad = (
            levels(data, sampling, one).ravel().tolist() for one in (data["home"], condition)
        )
        some.append({"name": sampling, "x": home, "y": abroad})
    title = f"{data['env']}: {condition} against {data['home']}"
    level = _LEVEL[name]
    return figures.points(title, f"{level}, {data['home']}", f"{level}, {condition}", some)


def _drop_table(data: Data) -> Data:
    head = [
        "unseen",
        *(f"drop, {one}" for one in _samplings(data)),
        *(f"retained, {one}" for one in _samplings(data)),
    ]
    rows = [
        [
            condition,
            *(dropped(data, one, condition).as_dict() for one in _samplings(data)),
            *(retained(data, one, condition).as_dict() for one in _samplings(data)),
        ]
        for condition in data["conditions"]
    ]
    return figures.table(f"{data['env']}: from home to abroad", head, rows)


_TOPIC = "Generalisation"
_MEASURED = (
    "DQN, 1 env x 4 steps and then one mini-batch of 64 from all that was met: uniform, sequential "
    "(64 neighbours from a random place) or newest (the last 64). CartPole-v1, 10 seeds of 40,000 "
    "steps (quick: 3 of 20,000), then greedy from wide starts (those with a state met in training "
    "near them left out), and with another pole, gravity or force. Lakes of 4 x 4 cells with 4 "
    "holes, the map in view, 8 seeds of 40,000 steps on 200 maps or of 24,000 on 2,000 (quick: 3 "
    "of 20,000 or 10,000), then greedy on 500 other maps from every start, by following it "
    "exactly: success is the share of starts that reach the goal. The mean of three moments in the "
    "last half of a run; samplings are compared seed by seed. "
)


def _cases(results: Results) -> Iterator[tuple[Data, str, str, dict[str, str]]]:
    for name in NEEDS:
        data = results[name]
        for condition in data["conditions"]:
            for other in others(data):
                case = {"env": data["env"], "unseen": condition, "compared with": other}
                yield data, condition, other, case


def _level_checks(results: Results) -> list[Check]:
    return [
        Check(
            case,
            f"{_unit(data)} there, uniform less {other}",
            gained(data, other, condition).as_dict(),
            low=0,
        )
        for data, condition, other, case in _cases(results)
    ]


def _drop_checks(results: Results) -> list[Check]:
    found = []
    for data, condition, other, case in _cases(results):
        share = retained_more(data, other, condition)
        words = f"share of the {_unit(data)} at home that is retained, uniform less {other}"
        found.append(Check({**case, "measure": "retained share"}, words, share.as_dict(), low=0))
        beyond = gained_at_equal_home(data, other, condition)
        words = f"{_unit(data)} there at equal {_unit(data)} at home, uniform less {other}"
        found.append(Check({**case, "measure": "at equal home"}, words, beyond.as_dict(), low=0))
    return found


def _unit(data: Data) -> str:
    return "return" if "never_visited" in data else "success"


def _level_notes(results: Results) -> list[str]:
    return [
        _by_other(_level_checks(results)),
        *_at_home(results),
        _never_visited(results),
        _added(results, _level_checks(results)),
        _ONE_SET,
    ]


def _drop_notes(results: Results) -> list[str]:
    return [
        _by_other(_drop_checks(results)),
        *_at_home(results),
        "A policy that is better at home is mostly better abroad too, and has more to lose: the "
        "drop itself, in the table, favours runs that learnt little. Hence the share, and the "
        "difference at equal home.",
        "The share favours runs that learnt little as well: what any policy gets is retained in "
        "full. At equal home a straight line common to both samplings stands for how abroad goes "
        "with home; where runs of one sampling are nowhere as good as those of the other, it "
        "reaches beyond what was measured. The points show where that is so.",
        "A change can make CartPole easier than it was; then more than all is retained.",
        "The return at home is itself measured with 64 episodes or so, which makes the line a "
        "little too flat.",
        _added(results, _drop_checks(results)),
        _ONE_SET,
    ]


_ONE_SET = (
    "All runs share one set of maps and one list of changes to CartPole: intervals are over seeds "
    "of training, not over maps or changes."
)


def _added(results: Results, checks: list[Check]) -> str:
    added = results["unseen-many-lakes"]["env"]
    before = judge([check for check in checks if check.case["env"] != added])
    return (
        "Lakes with 2,000 maps were added when runs with 200 had shown that uniform sampling does "
        "best at home and not on other maps: what can be known by heart may be the reason. Without "
        f"them the verdict would be: {before}."
    )


def _by_other(checks: list[Check]) -> str:
    found = []
    for other in dict.fromkeys(check.case["compared with"] for check in checks):
        said = Counter(check.says for check in checks if check.case["compared with"] == other)
        found.append(f"with {other}, {said['yes']} yes, {said['no']} no, {said['open']} open")
    return f"Compared {'; '.join(found)}."


def _never_visited(results: Results) -> str:
    shares = results["unseen-carts"]["never_visited"]
    return (
        f"Of CartPole's wide starts {sum(shares) / len(shares):.0%} (by seed {min(shares):.0%} to "
        f"{max(shares):.0%}) had no state near them, within 5 % of the width of the starts in all "
        "four numbers, in any of the seed's three runs; only those count. Some of them "
        "may be beyond saving by any policy."
    )


def _at_home(results: Results) -> list[str]:
    found = []
    for name in NEEDS:
        data = results[name]
        words = [f"less {other} {gained(data, other, data['home'])}" for other in others(data)]
        found.append(f"{data['env']}, {_unit(data)} at home: uniform {', '.join(words)}.")
    return found


_claim = partial(Claim, topic=_TOPIC, needs=NEEDS, measured=_MEASURED)

CLAIMS = (
    _claim(
        id="unseen-level",
        says="An agent that learns from randomly drawn mini-batches does better in situations "
        "that it has not met.",
        asks="Return or success in the unseen, uniform less the other sampling, is above 0.",
        checks=_level_checks,
        figures=abroad_figures,
        notes=_level_notes,
    ),
    _claim(
        id="unseen-drop",
        says="It does so beyond being better where it was trained: it loses less on the way "
        "into the unseen.",
        asks="Two numbers are above 0: the share of its level at home that uniform sampling "
        "retains, less the other's share; and the difference abroad at equal level at home.",
        checks=_drop_checks,
        figures=retained_figures,
        notes=_drop_notes,
    ),
)
