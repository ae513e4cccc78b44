"""Whole updates of PPO by named schemes: how far each leads from the policy that it began with."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from nbyt.layout import Layout
from nbyt.measure.drift import Drift
from nbyt.minibatch.named import find
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt.studies import minibatch_tasks
from nbyt.studies.along_update import along_update, followed
from nbyt.studies.bench import Bench
from nbyt.studies.minibatch_tasks import LAYOUT, Moment, batches_of, moments_of, plain
from nbyt.studies.numbers import typical_ratio
from nbyt.studies.study import Experiment
from nbyt.train.ppo import fresh_optimiser

# Mini-batches that hold two whole envs: every scheme can cut them.
UPDATE = Layout(LAYOUT.envs, LAYOUT.steps, 256, LAYOUT.epochs)
BATCHES = (6, 16)
SHUFFLE = "shuffle_and_chop"
AGAIN = "another shuffle"
SCHEMES = (
    SHUFFLE,
    AGAIN,
    "rsl_rl",
    "random_fetch",
    "time_slabs",
    "whole_envs",
    "brax",
    "dopamine",
    "rl_games",
)
_SHOWN = ("ratio", "clip_fraction", "cosine")


def run(bench: Bench) -> Data:
    """Updates of the same batches by every scheme, at every stage of two tasks."""
    moments = (one for task in minibatch_tasks.TASKS[:2] for one in moments_of(bench, task))
    return {
        "layout": UPDATE.as_dict(),
        "batches": bench.pick(*BATCHES),
        "looks": list(range(UPDATE.epochs + 1)),
        "cases": [_measured(bench, moment) for moment in moments],
    }


def _measured(bench: Bench, moment: Moment) -> Data:
    count = bench.pick(*BATCHES)
    # A stage keeps its weights only: one batch more brings the optimiser to where training has it.
    first, *batches = batches_of(bench, moment, count + 1)
    fresh = fresh_optimiser(moment.task.settings, moment.stage.params, "actor")
    every = UPDATE.minibatches
    _, optimiser = followed(moment, fresh, first, _indices(bench, SHUFFLE, 0), every)
    drifts: dict[str, list[Drift]] = {scheme: [] for scheme in SCHEMES}
    for place, batch in enumerate(batches):
        bench.progress(f"{moment}: updates by scheme", place, count)
        for scheme, own in drifts.items():
            indices = _indices(bench, scheme, 1 + place)
            own.append(jax.device_get(followed(moment, optimiser, batch, indices, every)[0]))
    return {
        **moment.case,
        "schemes": {name: _shown(own) for name, own in drifts.items()},
        "ends": {name: against(own, drifts[SHUFFLE]) for name, own in drifts.items()},
    }


def _indices(bench: Bench, scheme: str, place: int) -> np.ndarray:
    """Batch number `place` cut by a scheme."""
    generator = numpy_stream(bench.seed, f"schemes.ends.{scheme}", place)
    return find(SHUFFLE if scheme == AGAIN else scheme)(UPDATE, generator)


def _shown(drifts: list[Drift]) -> Data:
    return {name: along_update(drifts, name) for name in _SHOWN}


def against(drifts: list[Drift], shuffled: list[Drift]) -> Data:
    """The end of updates beside that of shuffled ones of the same batches.

    ratio: mean |ratio - 1| over the shuffle's. clip_fraction, cosine: less the shuffle's.
    """
    ends = {name: (_ends(drifts, name), _ends(shuffled, name)) for name in _SHOWN}
    over, under = ends["ratio"]
    found: dict[str, Any] = {"ratio": plain(typical_ratio(over.tolist(), under.tolist()))}
    for name in ("clip_fraction", "cosine"):
        own, usual = ends[name]
        found[name] = plain(replace(mean(own - usual), approximate=True))
    return found


def _ends(drifts: list[Drift], name: str) -> np.ndarray:
    return np.array([getattr(drift, name)[-1] for drift in drifts], float)


EXPERIMENTS = (Experiment("scheme-ends", "updates by named schemes", run),)
