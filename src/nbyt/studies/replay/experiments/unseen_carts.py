"""CartPole by sampling: returns as trained, from starts never visited, and with other dynamics."""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from nbyt.minibatch.replay import Sampling
from nbyt.results.values import Data
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import shortened
from nbyt.studies.replay import carts
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

SEEDS = (3, 10)
TOTAL = (20_000, 40_000)
# Times 64 episodes, shared by the conditions.
EVALUATIONS = (4, 6)
# Rare copies to the target network: with more, Q-values run away in some seeds of every sampling.
SETTINGS = DQNSettings(learning_rate=5e-4, double=True, target_every=4000, network="64x64")


def run(bench: Bench) -> Data:
    """Every sampling at every seed."""
    total = bench.pick(*TOTAL)
    seeds, shares = [], []
    for seed in range(bench.pick(*SEEDS)):
        found, share = _seed(bench, seed)
        seeds.append(found)
        shares.append(share)
    return {
        "env": "CartPole-v1",
        "home": carts.HOME,
        "conditions": list(carts.CONDITIONS[1:]),
        "steps": [update * layout_of(total).fresh for update in moments_of(total)],
        "never_visited": shares,
        "rows": by_sampling(seeds),
    }


def _seed(bench: Bench, seed: int) -> tuple[dict[Sampling, Data], float]:
    """What each sampling's run shows, and the share of wide starts that no run has visited."""
    runs = {one: _moments(bench, one, seed) for one in SAMPLINGS}
    met = [rows for moments in runs.values() for rows in _met(moments[-1])]
    begun = carts.begun(bench.pick(*EVALUATIONS))
    # The same episodes for all samplings: starts that one of them has visited count for none.
    new = ~carts.visited(begun.state, np.concatenate(met))
    wide = begun.condition == carts.CONDITIONS.index(carts.STARTS)
    found = {one: _shown(bench, moments, new) for one, moments in runs.items()}
    return found, float(new[wide].mean())


def _moments(bench: Bench, sampling: Sampling, seed: int) -> tuple[Moment, ...]:
    total = bench.pick(*TOTAL)
    own = bench.named(sampling)
    return follow(
        own,
        carts.home(),
        layout_of(total),
        total,
        replace(SETTINGS, sampling=sampling),
        seed=seed,
        moments=moments_of(total),
    ).moments


def _met(moment: Moment) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(moment.rows.observation), np.asarray(moment.rows.next_observation)


def _shown(bench: Bench, moments: tuple[Moment, ...], new: Bool[np.ndarray, " episodes"]) -> Data:
    """Mean returns by condition at every moment."""
    count = bench.pick(*EVALUATIONS)
    rows = [carts.returns(one.policy, params_of(one), count) for one in moments]
    means = {}
    for number, words in enumerate(carts.CONDITIONS):
        own = carts.begun(count).condition == number
        if words == carts.STARTS:
            own &= new
        means[words] = shortened(returns[own].mean() for returns in rows)
    return {"home": means.pop(carts.HOME), "abroad": means}


EXPERIMENTS = (Experiment("unseen-carts", "CartPole changed after training", run),)
