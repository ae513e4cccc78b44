"""Sizes of the mini-batch in whole trainings, at equal gradient steps and at equal compute."""

from dataclasses import replace
from typing import Any

from nbyt.results.values import Data
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import shortened
from nbyt.studies.replay.trainings import CARTPOLE, EVERY, LAYOUT, outcome, random_return, trained
from nbyt.studies.study import Experiment
from nbyt.train.replay_layout import ReplayLayout

SIZES = ((8, 32, 256, 1024), (1, 8, 32, 64, 128, 256, 1024))
SEEDS = (3, 8)
# A buffer that one mini-batch of distinct rows covers: a gradient step on all of it every 256
# steps differentiates as many transitions as mini-batches of 32 every 4 steps.
BUFFER = 2048
WHOLE = ReplayLayout(steps=256, minibatch=BUFFER, buffer=BUFFER, warm_up=BUFFER)
PART = ReplayLayout(steps=4, minibatch=32, buffer=BUFFER, warm_up=BUFFER)
# Fewer and less noisy steps may be longer, and more steps between two copies to the target network
# may suit them: the whole buffer is given learning rates and intervals between copies to choose.
WAYS = tuple((rate, every) for every in (400, 1024) for rate in (2e-3, 8e-3))


def run(bench: Bench) -> Data:
    """Every size, and the whole buffer against a part of it."""
    seeds = range(bench.pick(*SEEDS))
    return {
        "every": EVERY,
        "random_returns": shortened(random_return(bench, CARTPOLE, seed) for seed in seeds),
        "rows": _rows(bench),
        "whole": [_whole(bench, *way) for way in WAYS],
        "part": _seeds(bench, PART),
    }


def _equal_steps(size: int) -> ReplayLayout:
    """One gradient step every 4 steps, whatever its size."""
    return replace(LAYOUT, minibatch=size)


def _equal_compute(size: int) -> ReplayLayout:
    """As many transitions differentiated for each step as the common setting does."""
    share = LAYOUT.minibatch * LAYOUT.gradient_steps // LAYOUT.fresh
    steps, gradient_steps = max(1, size // share), max(1, share // size)
    return replace(LAYOUT, steps=steps, minibatch=size, gradient_steps=gradient_steps)


LAYOUTS = {"gradient steps": _equal_steps, "compute": _equal_compute}


def _rows(bench: Bench) -> list[Data]:
    """Every size at either budget; what both have in common is trained once."""
    done: dict[ReplayLayout, list[Data]] = {}
    rows = []
    for budget, layout_of in LAYOUTS.items():
        for size in bench.pick(*SIZES):
            layout = layout_of(size)
            done[layout] = done.get(layout) or _seeds(bench, layout)
            rows.append({"equal": budget, **layout.as_dict(), "seeds": done[layout]})
    return rows


def _whole(bench: Bench, rate: float, every: int) -> Data:
    changes = {"sampling": "distinct", "learning_rate": rate, "target_every": every}
    seeds = _seeds(bench, WHOLE, **changes)
    return {"learning_rate": rate, "target_every": every, "seeds": seeds}


def _seeds(bench: Bench, layout: ReplayLayout, **changes: Any) -> list[Data]:
    return [
        outcome(trained(bench, seed, layout=layout, **changes))
        for seed in range(bench.pick(*SEEDS))
    ]


EXPERIMENTS = (Experiment("training-sizes", "trainings by the size of the mini-batch", run),)
