"""Frozen lakes by sampling: success on the maps of training, and on maps never met."""

from dataclasses import replace
from functools import lru_cache

from nbyt.minibatch.replay import Sampling
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import shortened
from nbyt.studies.replay import lakes
from nbyt.studies.replay.experiments.unseen_runs import (
    SAMPLINGS,
    by_sampling,
    layout_of,
    moments_of,
    params_of,
)
from nbyt.studies.replay.learning import Moment, follow
from nbyt.studies.study import Data, Experiment
from nbyt.train.dqn_settings import DQNSettings

SEEDS = (3, 8)
TOTAL = (20_000, 40_000)
TRAINED, HELD_OUT = 200, 500
UNSEEN = "maps never met"
SETTINGS = DQNSettings(
    gamma=0.9,
    learning_rate=1e-3,
    double=True,
    target_every=500,
    exploration=0.5,
    epsilon_end=0.1,
    network="128x128",
)


def run(bench: Bench) -> Data:
    """Every sampling at every seed."""
    total = bench.pick(*TOTAL)
    seeds = [
        {one: _shown(bench, one, seed) for one in SAMPLINGS} for seed in range(bench.pick(*SEEDS))
    ]
    return {
        "env": "frozen lakes",
        "home": "maps of training",
        "conditions": [UNSEEN],
        "steps": [update * layout_of(total).fresh for update in moments_of(total)],
        "maps": {"trained": TRAINED, "held_out": HELD_OUT},
        "rows": by_sampling(seeds),
    }


@lru_cache(maxsize=1)
def _trained() -> lakes.Lakes:
    return lakes.Lakes(f"{TRAINED} maps", lakes.part(lakes.drawn(TRAINED), 0, TRAINED))


def _held_out() -> lakes.Maps:
    last = TRAINED + HELD_OUT
    return lakes.part(lakes.drawn(last), TRAINED, last)


def _shown(bench: Bench, sampling: Sampling, seed: int) -> Data:
    """A run's success on both sets of maps at every moment."""
    total = bench.pick(*TOTAL)
    moments = follow(
        bench.named(sampling),
        _trained(),
        layout_of(total),
        total,
        replace(SETTINGS, sampling=sampling),
        seed=seed,
        moments=moments_of(total),
    ).moments
    return {
        "home": _successes(_trained().maps, moments),
        "abroad": {UNSEEN: _successes(_held_out(), moments)},
    }


def _successes(maps: lakes.Maps, moments: tuple[Moment, ...]) -> list[float | None]:
    return shortened(lakes.success(maps, one.policy, params_of(one)) for one in moments)


EXPERIMENTS = (Experiment("unseen-lakes", "maps held out of training", run),)
