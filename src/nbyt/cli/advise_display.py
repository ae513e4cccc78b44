"""The display of a race: its layouts with their curves, the time left, and the answer so far."""

import time

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.text import Text

from nbyt.advice.race import Evidence
from nbyt.report.advice_words import chance_words, time_words
from nbyt.report.numbers import WIDTH, percent, short
from nbyt.stats.race import Judged

_BARS = "▁▂▃▄▅▆▇█"
# So much of a race says how long the rest takes.
_TELLING = 0.05


class RaceDisplay:
    """Follows a race: drawn anew on a terminal, elsewhere a line after each round."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lines: list[str] = []
        self._known: int | None = None
        self._judged: Judged | None = None
        self._began: tuple[float, float] | None = None

    def __rich__(self) -> RenderableType:
        return Group(*(Text(line, no_wrap=True, overflow="crop") for line in self._lines))

    def watch(self, evidence: Evidence) -> None:
        """Take in what is known by now."""
        if self._began is None:
            self._began = time.monotonic(), evidence.done
        count = len(evidence.curves)
        if count != self._known:
            self._known = count
            self._judged = evidence.judged() if evidence.judgeable else None
            if not self._console.is_terminal and len(evidence.own) in _round_ends(evidence):
                self._console.print(self._so_far(evidence))
        if self._console.is_terminal:
            self._lines = self._drawn(evidence)

    def _so_far(self, evidence: Evidence) -> str:
        """Return the answer that the race would give now, in a line."""
        after = f"after {len(evidence.own)} quarter trainings"
        return f"{after}: {self._answer(evidence)}"

    def _answer(self, evidence: Evidence) -> str:
        judged, race = self._judged, evidence.race
        if judged is None:
            return "nothing to compare yet"
        if not judged.learnt:
            return "nothing learnt so far"
        lost = judged.losses[judged.places.index(judged.best)]
        loss = percent(lost.record)
        sure = "" if judged.within is None else f", P(within 5 %) = {chance_words(judged.within)}"
        return f"{_name(evidence, race.known.steps[judged.best])}, expected loss {loss}{sure}"

    def _drawn(self, evidence: Evidence) -> list[str]:
        whole = len(evidence.race.seeds) * len(evidence.race.schedule.arms)
        lines = [f"race: {len(evidence.own)} of {whole} quarter trainings"]
        lines += _rows(evidence, self._judged)
        if not evidence.over:
            lines[0] += self._left(evidence.done)
            lines.append(f"now: {self._answer(evidence)}")
            lines += ["Ctrl-C stops here with this answer"] * evidence.judgeable
        return [line[: WIDTH - 1] for line in lines]

    def _left(self, done: float) -> str:
        assert self._began is not None, "set by the first look"
        began, before = self._began
        if done - before < _TELLING:
            return ""
        seconds = (time.monotonic() - began) * (1 - done) / (done - before)
        return f", about {time_words(seconds)} left"


def _rows(evidence: Evidence, judged: Judged | None) -> list[str]:
    """Return a line for each layout: its mean curve, trainings, and last mean return."""
    curves = {steps: evidence.moments(steps) for steps in evidence.tried}
    means = {steps: rows.mean(0) for steps, rows in curves.items() if len(rows)}
    low, high = (f([f(one) for one in means.values()], default=0.0) for f in (min, max))
    best = None if judged is None or not judged.learnt else evidence.race.known.steps[judged.best]
    names = {steps: _name(evidence, steps) for steps in evidence.tried}
    width = max(map(len, names.values()))
    lines = []
    for steps, name in names.items():
        known = means.get(steps)
        curve = "" if known is None else sparkline(known, float(low), float(high))
        last = "" if known is None else short(float(known[-1]))
        state = " training" if steps in evidence.running else ""
        star = "*" if steps == best else " "
        count = f"{len(curves[steps])} trained"
        lines.append(f"  {name:>{width}}{star} {curve:11}  {last:>8}  {count:>10}{state}")
    return lines


def sparkline(values: np.ndarray, low: float, high: float) -> str:
    """Draw numbers as a row of small bars, on a scale from low to high."""
    span = (high - low) or 1.0
    places = np.clip((np.asarray(values) - low) / span, 0, 1) * (len(_BARS) - 1)
    return "".join(_BARS[place] for place in places.round().astype(int))


def _name(evidence: Evidence, steps: int) -> str:
    return f"{evidence.race.request.batch // steps}x{steps}"


def _round_ends(evidence: Evidence) -> list[int]:
    """Return how many trainings of the race there are at the end of each round."""
    counts = [len(numbers) * len(evidence.race.schedule.arms) for numbers in evidence.race.rounds]
    return [int(count) for count in np.cumsum(counts)]
