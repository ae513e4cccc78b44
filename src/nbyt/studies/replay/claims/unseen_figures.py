"""Figures of home and abroad: levels, what is retained, and how one goes with the other."""

from nbyt.report.study import figures
from nbyt.results.values import Data
from nbyt.studies.replay.claims import unseen_numbers as numbers
from nbyt.studies.study import Results

_LEVEL = {
    "unseen-carts": "return",
    "unseen-few-lakes": "success",
    "unseen-many-lakes": "success",
}
NEEDS = tuple(_LEVEL)


def abroad_figures(results: Results) -> list[Data]:
    """Levels by condition, on the way, and as a table."""
    return [
        *_arranged([_levels(name, results[name]) for name in NEEDS]),
        figures.row(*_curves(results)),
        *(_level_table(results[name]) for name in NEEDS),
    ]


def retained_figures(results: Results) -> list[Data]:
    """The retained share by condition, abroad against home, and the drops as a table."""
    return [
        *_arranged([_shares(results[name]) for name in NEEDS]),
        figures.row(*(_against_home(name, results[name]) for name in NEEDS)),
        *(_drop_table(results[name]) for name in NEEDS),
    ]


def _arranged(some: list[Data]) -> list[Data]:
    """The first over the whole width, because it has many conditions; the others in a row."""
    return [some[0], figures.row(*some[1:])]


def _samplings(data: Data) -> list[str]:
    return [row["sampling"] for row in data["rows"]]


def _levels(name: str, data: Data) -> Data:
    conditions = [data["home"], *data["conditions"]]
    some = []
    for sampling in _samplings(data):
        means = [numbers.level(data, sampling, one).as_dict() for one in conditions]
        some.append(figures.series(sampling, range(len(means)), means))
    return figures.bars(f"{data['env']}: at home and abroad", conditions, _LEVEL[name], some)


def _curves(results: Results) -> list[Data]:
    """At home and under the first condition, along the run."""
    found = []
    for name in NEEDS:
        data = results[name]
        for condition in (data["home"], data["conditions"][0]):
            some = []
            for sampling in _samplings(data):
                means = [one.as_dict() for one in numbers.along(data, sampling, condition)]
                some.append(figures.series(sampling, data["steps"], means))
            title = f"{data['env']}, {condition}"
            found.append(figures.lines(title, "steps of training", _LEVEL[name], some))
    return found


def _level_table(data: Data) -> Data:
    head = [
        "condition",
        *_samplings(data),
        *(f"uniform less {other}" for other in numbers.others(data)),
    ]
    rows = [
        [
            condition,
            *(numbers.level(data, one, condition).as_dict() for one in _samplings(data)),
            *(numbers.gained(data, other, condition).as_dict() for other in numbers.others(data)),
        ]
        for condition in (data["home"], *data["conditions"])
    ]
    return figures.table(f"{data['env']}: levels and paired differences", head, rows)


def _shares(data: Data) -> Data:
    some = []
    for sampling in _samplings(data):
        shares = [numbers.retained(data, sampling, one).as_dict() for one in data["conditions"]]
        some.append(figures.series(sampling, range(len(shares)), shares))
    title = f"{data['env']}: what is retained abroad"
    return figures.bars(title, data["conditions"], "level abroad over level at home", some)


def _against_home(name: str, data: Data) -> Data:
    """Every run at its late moments, a point each, under the first condition."""
    condition = data["conditions"][0]
    some = []
    for sampling in _samplings(data):
        home, abroad = (
            numbers.levels(data, sampling, one).ravel().tolist()
            for one in (data["home"], condition)
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
            *(numbers.dropped(data, one, condition).as_dict() for one in _samplings(data)),
            *(numbers.retained(data, one, condition).as_dict() for one in _samplings(data)),
        ]
        for condition in data["conditions"]
    ]
    return figures.table(f"{data['env']}: from home to abroad", head, rows)
