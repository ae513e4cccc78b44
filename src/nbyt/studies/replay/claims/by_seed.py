"""Runs of two conditions, seed by seed, and learning curves over seeds."""

from collections.abc import Mapping, Sequence

from nbyt.report.study import figures
from nbyt.results.values import Data
from nbyt.studies.numbers import mean_of
from nbyt.studies.verdict import Number

Seeds = Sequence[Data]
TOPIC = "Whole trainings"


def each(seeds: Seeds, name: str) -> list[float]:
    """The number of that name, of every seed."""
    return [seed[name] for seed in seeds]


def less(first: Seeds, second: Seeds, name: str) -> Number:
    """The first condition's number less the second's: the mean over seeds."""
    pairs = zip(each(first, name), each(second, name), strict=True)
    return mean_of([a - b for a, b in pairs]).as_dict()


def average(seeds: Seeds, name: str) -> Number:
    """The mean over seeds."""
    return mean_of(each(seeds, name)).as_dict()


def listed(seeds: Seeds, name: str, digits: int = 0) -> str:
    """Every seed's number, the smallest first."""
    return ", ".join(f"{value:.{digits}f}" for value in sorted(each(seeds, name)))


def curves(
    title: str,
    y_title: str,
    conditions: Mapping[str, Seeds],
    name: str,
    every: int,
    marks: Sequence[tuple[float, str]] = (),
) -> Data:
    """A line for each condition: means over seeds of a list of numbers along the run."""
    some = []
    for words, seeds in conditions.items():
        columns = list(zip(*(seed[name] for seed in seeds), strict=True))
        places = [every * (place + 1) for place in range(len(columns))]
        some.append(figures.series(words, places, [mean_of(one).as_dict() for one in columns]))
    return figures.lines(title, "environment steps", y_title, some, marks=marks)
