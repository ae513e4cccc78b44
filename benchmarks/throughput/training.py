"""PPO training: which contenders meet at which layouts, and what is to be reached."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import groupby

from benchmarks.throughput.runners import EPOCHS, MINIBATCH, RUNNERS
from benchmarks.timing.lines import Line, compare
from benchmarks.timing.rounds import geometric_mean, interleave
from benchmarks.timing.worker import Worker
from nbyt.layout import Layout

SMALL = tuple(Layout(n, t, MINIBATCH, EPOCHS) for n, t in ((8, 256), (64, 32), (512, 4)))
LARGE = Layout(4096, 16, MINIBATCH, EPOCHS)


@dataclass(frozen=True)
class Pair:
    """Two contenders, and the ratios to reach: at each layout, in the mean, at the large batch."""

    ours: str
    peer: str
    each: float | None = None
    mean: float | None = None
    large: float | None = None


DEVICE = (Pair("nbyt", "rejax", 1.2, 1.25, 1.5), Pair("nbyt, joint clip", "rejax"))
HOST = (Pair("nbyt host", "SB3", 3.0, 3.0), Pair("nbyt host", "sbx", 1.5, 1.5))


def device(*, rounds: int, seconds: float) -> list[Line]:
    """Device envs at the three layouts, their mean, and the large batch."""
    lines = [line for layout in SMALL for line in _at(layout, DEVICE, rounds, seconds)]
    lines += _means(lines, DEVICE)
    return lines + list(_at(LARGE, DEVICE, rounds, seconds))


def host(*, rounds: int, seconds: float) -> list[Line]:
    """Gymnasium's envs at the three layouts, and their mean."""
    lines = [line for layout in SMALL for line in _at(layout, HOST, rounds, seconds)]
    return lines + _means(lines, HOST)


def _at(layout: Layout, pairs: tuple[Pair, ...], rounds: int, seconds: float) -> Iterator[Line]:
    names = dict.fromkeys(name for pair in pairs for name in (pair.ours, pair.peer))
    where = f"{layout.envs}x{layout.steps}"
    with ExitStack() as stack:
        workers = {name: stack.enter_context(closing(_worker(name, layout))) for name in names}
        speeds = interleave(workers, rounds=rounds, seconds=seconds)
    for pair in pairs:
        target = pair.large if layout == LARGE else pair.each
        yield compare(where, speeds, pair.ours, pair.peer, target)


def _worker(name: str, layout: Layout) -> Worker:
    return Worker(f"{name} at {layout.envs}x{layout.steps}", layout.batch, RUNNERS[name], layout)


def _means(lines: list[Line], pairs: tuple[Pair, ...]) -> list[Line]:
    """The geometric mean over the layouts, for each pair."""
    ordered = sorted(lines, key=lambda line: (line.ours, line.peer))
    groups = {names: list(group) for names, group in groupby(ordered, lambda x: (x.ours, x.peer))}
    return [
        Line(
            "mean",
            pair.ours,
            pair.peer,
            geometric_mean([line.rounds for line in groups[pair.ours, pair.peer]]),
            None,
            None,
            pair.mean,
        )
        for pair in pairs
    ]
