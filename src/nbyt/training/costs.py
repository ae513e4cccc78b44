"""Seconds of an update as a function of N and T, timed at a few layouts.

An update takes c + a T + b N T seconds: T rounds of stepping all envs have a fixed part each, a;
b is what a sample costs to collect and to learn from. With one batch size c and b N T are one.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import jax
import numpy as np
from jaxtyping import Float
from scipy import optimize, special

from nbyt.collect import Progress
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout, nearest_divisors
from nbyt.results.advice import Costs as KeptCosts
from nbyt.results.advice import TimedLayout
from nbyt.stats.estimate import LEVEL, Estimate, mapped
from nbyt.training.algorithms.ppo import PPOAlgorithm
from nbyt.training.plan import PPOPlan, PPOSettings

SPLITS = 4
ROUNDS = 5
# A turn lasts about so long, so that the clock's own grain and the machine's hiccups are small.
_TURN_SECONDS = 0.2
# Samples times epochs of an update that is tried once.
_MOST_TRIED = 2**20
# Samples of a training that is stopped when it has been timed.
_ENDLESS = 10**15

Split = tuple[int, int]


@dataclass(frozen=True)
class Costs:
    """Seconds of an update at the timed (envs, steps), by round; others are predicted by a fit."""

    timed: dict[Split, list[float]]

    def seconds(self, layouts: Sequence[Split]) -> tuple[Estimate, ...]:
        """Estimate the seconds of one update of each layout, with Student's t over the rounds.

        How badly the fit misses the timed ones is part of the interval.
        """
        predicted, misfit = self._fitted(layouts)
        return tuple(_estimate(row, misfit) for row in predicted)

    def redrawn(
        self, layouts: Sequence[Split], draws: int, generator: np.random.Generator
    ) -> Float[np.ndarray, "rows layouts"]:
        """Return the seconds of each layout, then `draws` rows of the same with random errors.

        What slows a whole round slows all layouts alike, and so does not change their order.
        """
        predicted, misfit = self._fitted(layouts)
        rounds = predicted.shape[1]
        apart = (predicted - predicted.mean(1, keepdims=True)) / math.sqrt(rounds * (rounds - 1))
        common = generator.normal(size=(draws, rounds)) @ apart.T
        own = misfit * generator.normal(size=(draws, len(layouts)))
        tails = np.sqrt((rounds - 1) / generator.chisquare(rounds - 1, size=(draws, 1)))
        errors = np.vstack([np.zeros(len(layouts)), (common + own) * tails])
        return np.exp(predicted.mean(1) + errors)

    def _fitted(
        self, layouts: Sequence[Split]
    ) -> tuple[Float[np.ndarray, "layouts rounds"], float]:
        """Return the logarithms of the seconds in every round, and the root mean square misfit."""
        known = list(self.timed)
        rounds = np.array([self.timed[split] for split in known]).T
        design = _design(known, known)
        found = np.array([_fit(design, row) for row in rounds])
        misfit = np.log(design @ found.T).mean(1) - np.log(rounds.T).mean(1)
        return np.log(_design(layouts, known) @ found.T), float(np.sqrt(np.mean(misfit**2)))

    @property
    def batches(self) -> set[int]:
        """Return the batch sizes that were timed."""
        return {envs * steps for envs, steps in self.timed}

    def measured(self, split: Split) -> TimedLayout:
        """Return the time of an update of a layout that was timed, without the fit."""
        seconds = _estimate(np.log(np.array(self.timed[split])), 0.0)
        return TimedLayout(
            envs=split[0],
            steps=split[1],
            seconds=seconds.record,
            milliseconds=mapped(seconds, lambda x: 1000 * x).record,
            steps_per_second=split[0] * split[1] / float(seconds.value or 1.0),
        )

    @property
    def record(self) -> KeptCosts:
        """Return what costs.json keeps, which `costs_from` reads."""
        return KeptCosts(
            timed=tuple((*split, tuple(rounds)) for split, rounds in self.timed.items())
        )


def costs_from(kept: KeptCosts) -> Costs:
    """Return the costs that a folder keeps."""
    return Costs({(envs, steps): list(rounds) for envs, steps, rounds in kept.timed})


def measure_costs(
    env: DeviceEnv | HostEnv,
    settings: PPOSettings,
    layouts: Sequence[Layout],
    *,
    trained: int | None = None,
    vector: str = "sync",
    progress: Progress = lambda what, done, total: None,
) -> Costs:
    """Time updates of nbyt's own PPO at a few of the layouts.

    trained: a T that is among them; its programs are compiled anyway.
    """
    chosen = spread_out(layouts, trained)
    return time_layouts(
        chosen, lambda layout: TimedPPO(env, settings, layout, vector), progress=progress
    )


class Trainer(Protocol):
    """A running training with one layout."""

    layout: Layout

    def seconds(self) -> float:
        """Return the seconds of one update, averaged over a turn."""

    def close(self) -> None:
        """Close the envs."""


def time_layouts(
    layouts: Sequence[Layout],
    start: Callable[[Layout], Trainer],
    *,
    rounds: int = ROUNDS,
    progress: Progress = lambda what, done, total: None,
) -> Costs:
    """Time trainings of these layouts in interleaved rounds."""
    turns = len(layouts) + rounds
    trainers: list[Trainer] = []
    try:
        for layout in layouts:
            trainers.append(start(layout))
            progress("costs", len(trainers), turns)
        timed: dict[Split, list[float]] = {(one.envs, one.steps): [] for one in layouts}
        for number in range(rounds):
            for trainer in trainers:
                timed[trainer.layout.envs, trainer.layout.steps].append(trainer.seconds())
            progress("costs", len(trainers) + number + 1, turns)
    finally:
        for trainer in trainers:
            trainer.close()
    return Costs(timed)


def _design(layouts: Sequence[Split], timed: Sequence[Split]) -> Float[np.ndarray, "layouts terms"]:
    """Return the terms of the cost; that of the batch only where different batches were timed."""
    envs, steps = np.array(layouts, float).T
    terms = [np.ones_like(steps), steps]
    if len({n * t for n, t in timed}) > 1:
        terms.append(envs * steps)
    return np.stack(terms, axis=1)


def _fit(
    design: Float[np.ndarray, "splits terms"], seconds: Float[np.ndarray, " splits"]
) -> Float[np.ndarray, " terms"]:
    """Fit the terms' coefficients, none below 0, with equal relative errors."""
    found, _ = optimize.nnls(design / seconds[:, None], np.ones(len(seconds)))
    return np.maximum(found, 1e-12)


def _estimate(logarithms: Float[np.ndarray, " rounds"], misfit: float) -> Estimate:
    count = len(logarithms)
    error = float(logarithms.std(ddof=1)) / math.sqrt(count)
    half = float(special.stdtrit(count - 1, (1 + LEVEL) / 2)) * math.hypot(error, misfit)
    centre = float(logarithms.mean())
    low, high = math.exp(centre - half), math.exp(centre + half)
    # Nobody has counted how often this holds the truth: a machine's hiccups follow no law.
    return Estimate(math.exp(centre), low, high, count, approximate=True)


def spread_out(layouts: Sequence[Layout], trained: int | None) -> list[Layout]:
    """Choose a few layouts from the first to the last, the one that is trained among them."""
    places = np.linspace(0, len(layouts) - 1, SPLITS).round().astype(int)
    own = [place for place, layout in enumerate(layouts) if layout.steps == trained]
    if own and len(layouts) > SPLITS and own[0] not in places:
        inner = min(range(1, SPLITS - 1), key=lambda k: abs(int(places[k]) - own[0]))
        places[inner] = own[0]
    return [layouts[place] for place in np.unique(places)]


def update_seconds(
    env: DeviceEnv | HostEnv, settings: PPOSettings, layout: Layout, *, vector: str = "sync"
) -> float:
    """Time one update after one that compiles; a huge one is extrapolated from a part."""
    tried = _tried(layout)
    trainer = TimedPPO(env, settings, tried, vector)
    trainer.close()
    parts = layout.batch * layout.epochs / (tried.batch * tried.epochs)
    return trainer.first * parts


def _tried(layout: Layout) -> Layout:
    """Return the layout, or as much of it as takes a few seconds."""
    steps = min(layout.steps, _MOST_TRIED)
    envs = min(layout.envs, max(1, _MOST_TRIED // steps))
    epochs = min(layout.epochs, max(1, _MOST_TRIED // (envs * steps)))
    minibatch = nearest_divisors(envs * steps, min(layout.minibatch, envs * steps))[0]
    return Layout(envs, steps, minibatch, epochs)


def updates_of_a_turn(seconds: float) -> int:
    """Return how many updates make a turn, given the seconds of one."""
    return max(1, round(_TURN_SECONDS / max(seconds, 1e-3)))


class TimedPPO:
    """PPO with one layout, warmed up; its policy is discarded."""

    def __init__(
        self, env: DeviceEnv | HostEnv, settings: PPOSettings, layout: Layout, vector: str
    ) -> None:
        self.layout = layout
        self._training = PPOAlgorithm(
            PPOPlan(env.id, layout, _ENDLESS, 0, settings, (), vector), env
        )
        self._updates = self._training.updates(1)
        self._go(1)
        self.first = self._go(1)
        self._turn = updates_of_a_turn(self.first)

    def seconds(self) -> float:
        """Return the seconds of one update, averaged over a turn."""
        return self._go(self._turn) / self._turn

    def close(self) -> None:
        """Close the envs."""
        self._training.close()

    def _go(self, count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            next(self._updates)
        jax.block_until_ready(self._training.params)
        return time.perf_counter() - began
