"""The data of frozen buffers as claims look at it: by env and moment, numbers over seeds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nbyt.report import figures
from nbyt.report.figures import lines, row, series, slides
from nbyt.results.values import Data
from nbyt.stats.estimate import undetermined
from nbyt_studies.numbers import mean_of, typical_ratio
from nbyt_studies.study import Results
from nbyt_studies.verdict import Number

Seeds = Sequence[Data]
TOPIC = "Whole trainings"


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
) -> Data:
    """Draw a line for each condition: means over seeds along the run."""
    some = []
    for words, seeds in conditions.items():
        columns = list(zip(*(seed[name] for seed in seeds), strict=True))
        places = [every * (place + 1) for place in range(len(columns))]
        some.append(figures.series(words, places, [mean_of(one).as_dict() for one in columns]))
    return figures.lines(title, "environment steps", y_title, some, marks=marks)


MEASURED = (
    "DQN on CartPole-v1 and Acrobot-v1 (64x64), CliffWalking-v1 (table) and MinAtar Breakout (32; "
    "quick: the first two), 6 seeds (quick: 4), frozen early, in the middle and late: every "
    "transition's gradient in buffers of 4,096 to 10,240. "
)
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

    def found(seed: Data) -> Any:
        place: Any = seed
        for word in path:
            place = place[word]
        return place

    return found


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

    def found(seed: Data) -> float | None:
        noise, square = seed["exact"]["uniform"][place], seed["square"]
        return square / (square + noise) if square else None

    return found


def over_moments(
    results: Results, name: str, chart: Callable[[list[Data], str], list[Data]]
) -> Data:
    """Draw a slider over early, middle and late; a frame holds the charts of one moment."""
    words = list(dict.fromkeys(case["moment"] for case in cases(results)))
    frames = []
    for word in words:
        own = [case for case in cases(results) if case["moment"] == word]
        frames.append([row(*chart(own, word))])
    return slides(name, "moment of training", words, frames)


def by_size(title: str, y_title: str, some: Sequence[Data], **more: Any) -> Data:
    """Draw lines along the size of the mini-batch, the common sizes marked."""
    places = sorted({x for one in some for x in one["x"]})
    ticks = [(x, f"{x:,}") for x in places if x in (1, 4, 16, 32, 64, 256) or x >= 1024]
    more = {"log_x": True, "ticks": ticks, "spans": [USUAL], **more}
    return lines(title, "mini-batch size (transitions)", y_title, some, **more)


def along(name: str, x: Sequence[float], numbers: Sequence[Number], *, line: bool = True) -> Data:
    """Return a series without undetermined numbers."""
    pairs = [(a, n) for a, n in zip(x, numbers, strict=True) if n.get("value") is not None]
    return series(name, [a for a, _ in pairs], [n for _, n in pairs], line=line)
