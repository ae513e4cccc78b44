"""Parts of figures that several claims share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nbyt.report import figures
from nbyt.results.study import Bars, Heatmap, Lines, NumberSeries
from nbyt.results.values import Data
from nbyt_studies.numbers import mean_of
from nbyt_studies.verdict import Number


def known_series(
    name: str, x: Sequence[float], numbers: Sequence[Number], *, line: bool = True
) -> NumberSeries:
    """Return a series of those numbers that have a value."""
    known = [(at, n) for at, n in zip(x, numbers, strict=True) if n.get("value") is not None]
    return figures.series(name, [at for at, _ in known], [n for _, n in known], line=line)


def column_means(rows: Iterable[Sequence[float]]) -> list[Number]:
    """Return the mean of every column, a row being a run or a seed."""
    return [mean_of(column).as_dict() for column in zip(*rows, strict=True)]


def cosine_matrix(title: str, matrix: Sequence[Sequence[float | None]]) -> Heatmap:
    """Draw cosines between the means of batches, each written into its cell."""
    names = [str(number) for number in range(len(matrix))]
    return figures.heatmap(
        title, matrix, "cosine", rows=names, columns=names, low=-1.0, high=1.0, written=True
    )


def grouped_bars(
    title: str, categories: Sequence[str], y_title: str, numbers: Mapping[str, Sequence[Number]]
) -> Bars:
    """Draw a bar for each category and each name, whose numbers are those of the categories."""
    some = [figures.series(name, range(len(own)), own) for name, own in numbers.items()]
    return figures.bars(title, categories, y_title, some)


def common_lines(
    title: str,
    axes: tuple[str, str],
    x: Sequence[float],
    numbers: Mapping[str, Sequence[Number]],
    **options: Any,
) -> Lines:
    """Draw a line for each name; all of them have the same x."""
    some = [figures.series(name, x, own) for name, own in numbers.items()]
    return figures.lines(title, *axes, some, **options)


def layout_ticks(layouts: Sequence[Data]) -> list[tuple[float, str]]:
    """Return a tick at every layout's T, which names the layout."""
    return [(one["steps"], f"{one['envs']}x{one['steps']}") for one in layouts]
