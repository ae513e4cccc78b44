"""Sizes of the mini-batch in whole trainings, at equal gradient steps and at equal compute."""

from dataclasses import replace
from typing import Any

import numpy as np

from nbyt.results.values import Data
from nbyt.train.dqn import ReplayLayout
from nbyt_studies.experiment import Context, Experiment
from nbyt_studies.numbers import shortened
from nbyt_studies.replay.trainings import CARTPOLE, EVERY, LAYOUT, outcome, random_return, trained

# Learning rates to choose from, a factor of 2 to 3 apart around what each is used with.
RATES = {
    "sgd": (3e-3, 1e-2, 3e-2, 1e-1),
    "rmsprop": (5e-4, 1e-3, 2e-3, 4e-3),
    "adam": (5e-4, 1e-3, 2e-3, 4e-3),
}

CHOOSING = (1, 3)
# Seeds that choose the rates are none of those that compare.
_APART = 100


def run_optimisers(context: Context) -> Data:
    """Each optimiser: how its rates did, and runs on fresh seeds with the best of them."""
    seeds = range(context.pick(*SEEDS))
    return {
        "every": EVERY,
        "random_returns": shortened(random_return(context, CARTPOLE, seed) for seed in seeds),
        "choosing": context.pick(*CHOOSING),
        "rows": [_row(context, name) for name in RATES],
    }


def _row(context: Context, name: str) -> Data:
    apart = range(_APART, _APART + context.pick(*CHOOSING))
    tried = [_mean(_outcomes(context, name, rate, apart)) for rate in RATES[name]]
    best = RATES[name][int(np.argmax(tried))]
    return {
        "optimiser": name,
        "rates": list(RATES[name]),
        "tried": shortened(tried),
        "learning_rate": best,
        "seeds": _outcomes(context, name, best, range(context.pick(*SEEDS))),
    }


def _outcomes(context: Context, name: str, rate: float, seeds: range) -> list[Data]:
    return [outcome(trained(context, seed, optimizer=name, learning_rate=rate)) for seed in seeds]


def _mean(outcomes: list[Data]) -> float:
    """What a rate is chosen by: the mean return on the way, less a matter of luck than the last."""
    return float(np.mean([one["on_the_way"] for one in outcomes]))


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


def run(context: Context) -> Data:
    """Every size, and the whole buffer against a part of it."""
    seeds = range(context.pick(*SEEDS))
    return {
        "every": EVERY,
        "random_returns": shortened(random_return(context, CARTPOLE, seed) for seed in seeds),
        "rows": _rows(context),
        "whole": [_whole(context, *way) for way in WAYS],
        "part": _seeds(context, PART),
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


def _rows(context: Context) -> list[Data]:
    """Every size at either budget; what both have in common is trained once."""
    done: dict[ReplayLayout, list[Data]] = {}
    rows = []
    for budget, layout_of in LAYOUTS.items():
        for size in context.pick(*SIZES):
            layout = layout_of(size)
            done[layout] = done.get(layout) or _seeds(context, layout)
            rows.append({"equal": budget, **layout.as_dict(), "seeds": done[layout]})
    return rows


def _whole(context: Context, rate: float, every: int) -> Data:
    changes = {"sampling": "distinct", "learning_rate": rate, "target_every": every}
    seeds = _seeds(context, WHOLE, **changes)
    return {"learning_rate": rate, "target_every": every, "seeds": seeds}


def _seeds(context: Context, layout: ReplayLayout, **changes: Any) -> list[Data]:
    return [
        outcome(trained(context, seed, layout=layout, **changes))
        for seed in range(context.pick(*SEEDS))
    ]


EXPERIMENTS = (
    Experiment("optimisers", "trainings by the optimiser", run_optimisers),
    Experiment("training-sizes", "trainings by the size of the mini-batch", run),
)
