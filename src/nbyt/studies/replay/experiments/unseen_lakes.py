"""Frozen lakes by sampling: success on the maps of training, and on maps never met."""

from dataclasses import replace
from functools import lru_cache

from nbyt.minibatch.replay import Sampling
from nbyt.results.values import Data
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
from nbyt.studies.study import Experiment
from nbyt.train.dqn_settings import DQNSettings

SEEDS = (3, 8)
FEW, MANY = 200, 2000
TOTAL_FEW, TOTAL_MANY = (20_000, 40_000), (10_000, 24_000)
HELD_OUT = 500  # and as many at most of those trained on are looked at
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


def few(bench: Bench) -> Data:
    """Trained on so few maps that a network can know them by heart."""
    return run(bench, FEW, bench.pick(*TOTAL_FEW))


def many(bench: Bench) -> Data:
    """Trained on so many that it cannot: a map is met a few times only."""
    return run(bench, MANY, bench.pick(*TOTAL_MANY))


def run(bench: Bench, trained: int, total: int) -> Data:
    """Every sampling at every seed."""
    env, count = _env(trained), bench.pick(*SEEDS)
    seeds = [
        {one: _shown(bench, env, total, one, seed) for one in SAMPLINGS} for seed in range(count)
    ]
    return {
        "env": f"Lakes, {trained:,} maps",
        "home": "maps of training",
        "conditions": [UNSEEN],
        "steps": [update * layout_of(total).fresh for update in moments_of(total)],
        "rows": by_sampling(seeds),
    }


@lru_cache(maxsize=2)
def _env(trained: int) -> lakes.Lakes:
    last = HELD_OUT + trained
    return lakes.Lakes(f"{trained} maps", lakes.part(lakes.drawn(last), HELD_OUT, last))


def _shown(bench: Bench, env: lakes.Lakes, total: int, sampling: Sampling, seed: int) -> Data:
    """A run's success on both sets of maps at every moment."""
    moments = follow(
        bench.named(sampling),
        env,
        layout_of(total),
        total,
        replace(SETTINGS, sampling=sampling),
        seed=seed,
        moments=moments_of(total),
    ).moments
    return {
        "home": _successes(lakes.part(env.maps, 0, HELD_OUT), moments),
        "abroad": {UNSEEN: _successes(lakes.drawn(HELD_OUT), moments)},
    }


def _successes(maps: lakes.Maps, moments: tuple[Moment, ...]) -> list[float | None]:
    return shortened(lakes.success(maps, one.policy, params_of(one)) for one in moments)


EXPERIMENTS = (
    Experiment("unseen-few-lakes", "maps held out, few trained on", few),
    Experiment("unseen-many-lakes", "maps held out, many trained on", many),
)
