"""Numbers over seeds that claims on replay share: of frozen buffers, and of whole trainings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nbyt.report import figures
from nbyt.report.figures import lines, row, slides
from nbyt.results.study import Chart, Lines, NumberSeries, Slides
from nbyt.results.values import Data
from nbyt.stats.estimate import undetermined
from nbyt_studies.charts import column_means
from nbyt_studies.numbers import mean_of, typical_ratio
from nbyt_studies.study import Results
from nbyt_studies.verdict import Number

Seeds = Sequence[Data]


def each(seeds: Seeds, name: str) -> list[float]:
    """Return the number of that name, of every seed."""
    return [seed[name] for seed in seeds]


def less(first: Seeds, second: Seeds, name: str) -> Number:
    """Return the first condition's number less the second's: the mean over seeds."""
    pairs = zip(each(first, name), each(second, name), strict=True)
    return mean_of([a - b for a, b in pairs]).as_dict()


def average(seeds: Seeds, name: str) -> Number:
    """Return the mean over seeds."""
    return mean_of(each(seeds, name)).as_dict()


def listed(seeds: Seeds, name: str, digits: int = 0) -> str:
    """Return every seed's number, the smallest first."""
    return ", ".join(f"{value:.{digits}f}" for value in sorted(each(seeds, name)))


def chance_mark(returns: Sequence[float]) -> list[tuple[float, str]]:
    """Return a mark at the mean return of random actions, if it is known."""
    chance = mean_of(returns).value
    return [] if chance is None else [(chance, "random actions")]


def curves(
    title: str,
    y_title: str,
    conditions: Mapping[str, Seeds],
    name: str,
    every: int,
    marks: Sequence[tuple[float, str]] = (),
) -> Lines:
    """Draw a line for each condition: means over seeds along the run."""
    some = []
    for words, seeds in conditions.items():
        numbers = column_means(seed[name] for seed in seeds)
        places = [every * (place + 1) for place in range(len(numbers))]
        some.append(figures.series(words, places, numbers))
    return figures.lines(title, "environment steps", y_title, some, marks=marks)


USUAL = (32, 256, "32 to 256")
"""The sizes that the note calls common, as a span of a figure."""


def cases(results: Results) -> list[Data]:
    """Return every env and moment."""
    return results["gradients"]["cases"]


def where(case: Data, **more: str) -> dict[str, str]:
    """Return where a number was measured."""
    return {"env": case["env"], "moment": case["moment"], **more}


def of_seeds(case: Data, number: Callable[[Data], Any]) -> list[Any]:
    """Return a number of every seed's buffer."""
    return [number(seed) for seed in case["seeds"]]


def at(*path: Any) -> Callable[[Data], Any]:
    """Return the number of a seed's buffer that this path leads to."""

    def read(seed: Data) -> Any:
        place: Any = seed
        for word in path:
            place = place[word]
        return place

    return read


def mean(values: Sequence[float | None]) -> Number:
    """Return the mean over seeds; undetermined where one of them is."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return undetermined("it is undetermined for one of the seeds", len(known)).as_dict()
    return mean_of(known).as_dict()


def ratio(over: Sequence[float | None], under: Sequence[float | None]) -> Number:
    """Return the typical ratio over seeds, paired; undetermined where one of them is."""
    pairs = list(zip(over, under, strict=True))
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len(known) < len(pairs):
        return undetermined("it is undetermined for one of the seeds", len(known)).as_dict()
    return typical_ratio([a for a, _ in known], [b for _, b in known]).as_dict()


def variance(sampling: str, size: int, sizes: Sequence[int]) -> Callable[[Data], float | None]:
    """Return E|G_mb - G|² of one sampling and size, exact for the buffer."""
    return at("exact", sampling, sizes.index(size))


def noise_scale(seed: Data) -> float | None:
    """Return mean |g - G|² / |G|²: the size of a mini-batch whose noise is as long as G."""
    single, square = seed["exact"]["uniform"][0], seed["square"]
    return single / square if single and square else None


def share(place: int) -> Callable[[Data], float | None]:
    """Return the share of the whole buffer's progress in a uniform mini-batch: |G|²/(|G|² + Var).

    place: that of the mini-batch's size among all sizes.
    """

    def of_seed(seed: Data) -> float | None:
        noise, square = seed["exact"]["uniform"][place], seed["square"]
        return square / (square + noise) if square else None

    return of_seed


def over_moments(
    results: Results, name: str, chart: Callable[[list[Data], str], Sequence[Chart]]
) -> Slides:
    """Draw a slider over early, middle and late; a frame holds the charts of one moment."""
    words = list(dict.fromkeys(case["moment"] for case in cases(results)))
    frames = []
    for word in words:
        own = [case for case in cases(results) if case["moment"] == word]
        frames.append([row(*chart(own, word))])
    return slides(name, "moment of training", words, frames)


def by_size(title: str, y_title: str, some: Sequence[NumberSeries], **more: Any) -> Lines:
    """Draw lines along the size of the mini-batch, the common sizes marked."""
    places = sorted({x for one in some for x in one.x})
    ticks = [(x, f"{x:,}") for x in places if x in (1, 4, 16, 32, 64, 256) or x >= 1024]
    more = {"log_x": True, "ticks": ticks, "spans": [USUAL], **more}
    return lines(title, "mini-batch size (transitions)", y_title, some, **more)
