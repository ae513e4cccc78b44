"""Claims that random mini-batches help in situations not met before."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from jaxtyping import Float

from nbyt.report import figures
from nbyt.results.study import Bars, Figures, Lines, Points, Table
from nbyt.results.values import Data
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import student
from nbyt_studies.charts import column_means, common_lines, grouped_bars
from nbyt_studies.numbers import mean_of
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check, Number, judge

RANDOM = "uniform"

Levels = Float[np.ndarray, "seeds moments"]
Statistic = Callable[[list[Levels]], float]
_LEAST = 3


def levels(data: Data, sampling: str, condition: str) -> Levels:
    """Return what runs reach under a condition at the moments of their last half."""
    return np.array(_by_seed(data, sampling, condition), float)[:, -(len(data["steps"]) // 2) :]


def along(data: Data, sampling: str, condition: str) -> list[Number]:
    """Return the mean over seeds at every moment."""
    return column_means(_by_seed(data, sampling, condition))


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
    """Estimate the loss from the condition of training to an unseen one."""
    trained, unseen = _both(data, sampling, condition)
    return mean_of(trained.mean(1) - unseen.mean(1))


def retained(data: Data, sampling: str, condition: str) -> Estimate:
    """Estimate the unseen level over the trained one, both means over seeds."""
    return over_seeds(_share, _both(data, sampling, condition))


def retained_more(data: Data, other: str, condition: str) -> Estimate:
    """Return the share that random sampling retains less the share that another does."""
    both = [*_both(data, RANDOM, condition), *_both(data, other, condition)]
    return over_seeds(lambda some: _share(some[:2]) - _share(some[2:]), both)


def gained_at_equal_level(data: Data, other: str, condition: str) -> Estimate:
    """Estimate what random sampling gains in the unseen over runs of another that trained as well.

    The difference in the unseen less slope times that in training; the slope is common to both
    samplings, fitted to all moments around each one's mean.
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
    values = np.array([statistic(some), *without])
    if not np.isfinite(values).all():
        return undetermined("the levels at home are 0, or all alike", count)
    return Estimate(float(values[0]), *student(values, count), count, approximate=True)


def _by_seed(data: Data, sampling: str, condition: str) -> list[list[float]]:
    seeds = next(row for row in data["rows"] if row["sampling"] == sampling)["seeds"]
    if condition == data["home"]:
        return [seed["home"] for seed in seeds]
    return [seed["abroad"][condition] for seed in seeds]


def _both(data: Data, sampling: str, condition: str) -> list[Levels]:
    return [levels(data, sampling, one) for one in (data["home"], condition)]


def _share(both: list[Levels]) -> float:
    trained, unseen = (levels.mean() for levels in both)
    return float(unseen / trained) if trained else np.nan


def _beyond(some: list[Levels]) -> float:
    trained, unseen = np.stack(some[::2]), np.stack(some[1::2])
    centred = [levels - levels.mean(axis=(1, 2), keepdims=True) for levels in (trained, unseen)]
    spread = float((centred[0] ** 2).sum())
    slope = float((centred[0] * centred[1]).sum()) / spread if spread else np.nan
    gains = [float(levels[0].mean() - levels[1].mean()) for levels in (trained, unseen)]
    return gains[1] - slope * gains[0]


_LEVEL = {"unseen-carts": "return", "unseen-few-lakes": "success", "unseen-many-lakes": "success"}
NEEDS = tuple(_LEVEL)


def level_figures(results: Results) -> Figures:
    """Draw levels by condition, along the run, and as a table."""
    return [
        *_arranged([_levels(name, results[name]) for name in NEEDS]),
        figures.row(*_curves(results)),
        *(_level_table(results[name]) for name in NEEDS),
    ]


def retained_figures(results: Results) -> Figures:
    """Draw the retained share by condition, unseen against trained, and the drops as a table."""
    return [
        *_arranged([_shares(results[name]) for name in NEEDS]),
        figures.row(*(_against_home(name, results[name]) for name in NEEDS)),
        *(_drop_table(results[name]) for name in NEEDS),
    ]


def _arranged(some: list[Bars]) -> Figures:
    return [some[0], figures.row(*some[1:])]


def _samplings(data: Data) -> list[str]:
    return [row["sampling"] for row in data["rows"]]


def _levels(name: str, data: Data) -> Bars:
    conditions = [data["home"], *data["conditions"]]
    means = {
        sampling: [level(data, sampling, one).as_dict() for one in conditions]
        for sampling in _samplings(data)
    }
    return grouped_bars(f"{data['env']}: at home and abroad", conditions, _LEVEL[name], means)


def _curves(results: Results) -> list[Lines]:
    charts = []
    for name in NEEDS:
        data = results[name]
        for condition in (data["home"], data["conditions"][0]):
            means = {one: along(data, one, condition) for one in _samplings(data)}
            title, axes = f"{data['env']}, {condition}", ("steps of training", _LEVEL[name])
            charts.append(common_lines(title, axes, data["steps"], means))
    return charts


def _level_table(data: Data) -> Table:
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


def _shares(data: Data) -> Bars:
    shares = {
        sampling: [retained(data, sampling, one).as_dict() for one in data["conditions"]]
        for sampling in _samplings(data)
    }
    title = f"{data['env']}: what is retained abroad"
    return grouped_bars(title, data["conditions"], "level abroad over level at home", shares)


def _against_home(name: str, data: Data) -> Points:
    condition = data["conditions"][0]
    some = []
    for sampling in _samplings(data):
        trained, unseen = (one.ravel().tolist() for one in _both(data, sampling, condition))
        some.append({"name": sampling, "x": trained, "y": unseen})
    title = f"{data['env']}: {condition} against {data['home']}"
    level = _LEVEL[name]
    return figures.points(title, f"{level}, {data['home']}", f"{level}, {condition}", some)


def _drop_table(data: Data) -> Table:
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
    checks = []
    for data, condition, other, case in _cases(results):
        share = retained_more(data, other, condition)
        words = f"share of the {_unit(data)} at home that is retained, uniform less {other}"
        checks.append(Check({**case, "measure": "retained share"}, words, share.as_dict(), low=0))
        beyond = gained_at_equal_level(data, other, condition)
        words = f"{_unit(data)} there at equal {_unit(data)} at home, uniform less {other}"
        checks.append(Check({**case, "measure": "at equal home"}, words, beyond.as_dict(), low=0))
    return checks


def _unit(data: Data) -> str:
    return "return" if "never_visited" in data else "success"


def _values(checks: Callable[[Results], list[Check]], results: Results) -> Data:
    decided, shares = checks(results), results["unseen-carts"]["never_visited"]
    added = results["unseen-many-lakes"]["env"]
    return {
        "compared": _by_other(decided),
        "at_home": _at_home(results),
        "new": {"mean": sum(shares) / len(shares), "least": min(shares), "most": max(shares)},
        "before": judge([check for check in decided if check.case["env"] != added]),
    }


def _by_other(checks: list[Check]) -> str:
    counts = []
    for other in dict.fromkeys(check.case["compared with"] for check in checks):
        said = Counter(check.says for check in checks if check.case["compared with"] == other)
        counts.append(f"with {other}, {said['yes']} yes, {said['no']} no, {said['open']} open")
    return "; ".join(counts)


def _at_home(results: Results) -> list[str]:
    notes = []
    for name in NEEDS:
        data = results[name]
        words = [f"less {other} {gained(data, other, data['home'])}" for other in others(data)]
        notes.append(f"{data['env']}, {_unit(data)} at home: uniform {', '.join(words)}.")
    return notes


EVIDENCE = {
    "unseen-level": Evidence(_level_checks, level_figures, partial(_values, _level_checks)),
    "unseen-drop": Evidence(_drop_checks, retained_figures, partial(_values, _drop_checks)),
}
