"""CartPole and lakes by sampling: returns as trained (`home`) and in the unseen (`abroad`)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from nbyt.envs.protocol import DeviceEnv
from nbyt.minibatch.replay import Sampling
from nbyt.policy.actor_critic import Params
from nbyt.policy.q_policy import greedy
from nbyt.results.values import Data
from nbyt.training.dqn import DQNSettings, ReplayLayout
from nbyt_studies.experiment import Context, Experiment
from nbyt_studies.numbers import shortened
from nbyt_studies.replay import envs
from nbyt_studies.replay.trainings import Moment, follow

SAMPLINGS: tuple[Sampling, ...] = ("uniform", "sequential", "newest")
MOMENTS = 6


def layout_of(total: int) -> ReplayLayout:
    """Return the sizes of a run; its buffer keeps every transition."""
    return ReplayLayout(envs=1, steps=4, minibatch=64, buffer=total)


def moments_of(total: int) -> tuple[int, ...]:
    """Return the updates after which a run is measured: evenly, up to its last."""
    updates = layout_of(total).updates(total)
    return tuple(round(updates * (place + 1) / MOMENTS) for place in range(MOMENTS))


def params_of(moment: Moment) -> Params:
    """Return the moment's greedy policy."""
    return greedy(jax.tree.map(jnp.asarray, moment.weights))


def by_sampling(seeds: list[dict[Sampling, Data]]) -> list[Data]:
    """Group the seeds' data by sampling."""
    return [{"sampling": one, "seeds": [seed[one] for seed in seeds]} for one in SAMPLINGS]


UNSEEN_LAKES_SEEDS = (3, 8)
FEW, MANY = 200, 2000
TOTAL_FEW, TOTAL_MANY = (20_000, 40_000), (10_000, 24_000)
HELD_OUT = 500  # and at most as many of those trained on are measured
UNSEEN = "maps never met"
UNSEEN_LAKES_SETTINGS = DQNSettings(
    gamma=0.9,
    learning_rate=1e-3,
    double=True,
    target_every=500,
    exploration=0.5,
    epsilon_end=0.1,
    network="128x128",
)


def few(context: Context) -> Data:
    """Train on so few maps that a network can memorise them."""
    return run_unseen_lakes(context, FEW, context.pick(*TOTAL_FEW))


def many(context: Context) -> Data:
    """Train on so many maps that it cannot: each is met a few times only."""
    return run_unseen_lakes(context, MANY, context.pick(*TOTAL_MANY))


def run_unseen_lakes(context: Context, trained: int, total: int) -> Data:
    """Train every sampling at every seed."""
    env = _env(trained)
    seeds = [
        {
            sampling: _on_lakes(env, moments)
            for sampling, moments in _runs(context, env, UNSEEN_LAKES_SETTINGS, total, seed)
        }
        for seed in range(context.pick(*UNSEEN_LAKES_SEEDS))
    ]
    return {
        "env": f"Lakes, {trained:,} maps",
        "home": "maps of training",
        "conditions": [UNSEEN],
        "steps": [update * layout_of(total).fresh for update in moments_of(total)],
        "rows": by_sampling(seeds),
    }


@lru_cache(maxsize=2)
def _env(trained: int) -> envs.Lakes:
    last = HELD_OUT + trained
    return envs.Lakes(f"{trained} maps", envs.part(envs.drawn(last), HELD_OUT, last))


def _runs(
    context: Context, env: DeviceEnv, settings: DQNSettings, total: int, seed: int
) -> Iterator[tuple[Sampling, tuple[Moment, ...]]]:
    """Train with one sampling after the other, and yield each run at its moments."""
    for sampling in SAMPLINGS:
        own, named = replace(settings, sampling=sampling), context.named(sampling)
        updates = moments_of(total)
        run = follow(named, env, layout_of(total), total, own, seed=seed, moments=updates)
        yield sampling, run.moments


def _on_lakes(env: envs.Lakes, moments: tuple[Moment, ...]) -> Data:
    return {
        "home": _successes(envs.part(env.maps, 0, HELD_OUT), moments),
        "abroad": {UNSEEN: _successes(envs.drawn(HELD_OUT), moments)},
    }


def _successes(maps: envs.Maps, moments: tuple[Moment, ...]) -> list[float | None]:
    return shortened(envs.success(maps, one.policy, params_of(one)) for one in moments)


SEEDS = (3, 10)
TOTAL = (20_000, 40_000)
# Times 64 episodes, shared by the conditions.
EVALUATIONS = (4, 6)
# Rare copies to the target network: with more, Q-values run away in some seeds of every sampling.
SETTINGS = DQNSettings(learning_rate=5e-4, double=True, target_every=4000, network="64x64")


def run(context: Context) -> Data:
    """Train every sampling at every seed."""
    total = context.pick(*TOTAL)
    seeds, shares = [], []
    for seed in range(context.pick(*SEEDS)):
        by_sampling_data, share = _seed(context, seed)
        seeds.append(by_sampling_data)
        shares.append(share)
    return {
        "env": "CartPole-v1",
        "home": envs.HOME,
        "conditions": list(envs.CONDITIONS[1:]),
        "steps": [update * layout_of(total).fresh for update in moments_of(total)],
        "never_visited": shares,
        "rows": by_sampling(seeds),
    }


def _seed(context: Context, seed: int) -> tuple[dict[Sampling, Data], float]:
    """Return each sampling's data, and the share of wide starts that no run has visited."""
    runs = dict(_runs(context, envs.home(), SETTINGS, context.pick(*TOTAL), seed))
    met = [rows for moments in runs.values() for rows in _met(moments[-1])]
    begun = envs.begun(context.pick(*EVALUATIONS))
    # The same episodes for all samplings: starts that one of them has visited count for none.
    new = ~envs.visited(begun.state, np.concatenate(met))
    wide = begun.condition == envs.CONDITIONS.index(envs.STARTS)
    by_sampling_data = {one: _shown(context, moments, new) for one, moments in runs.items()}
    return by_sampling_data, float(new[wide].mean())


def _met(moment: Moment) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(moment.rows.observation), np.asarray(moment.rows.next_observation)


def _shown(
    context: Context, moments: tuple[Moment, ...], new: Bool[np.ndarray, " episodes"]
) -> Data:
    count = context.pick(*EVALUATIONS)
    rows = [envs.returns(one.policy, params_of(one), count) for one in moments]
    means = {}
    for number, words in enumerate(envs.CONDITIONS):
        own = envs.begun(count).condition == number
        if words == envs.STARTS:
            own &= new
        means[words] = shortened(returns[own].mean() for returns in rows)
    return {"home": means.pop(envs.HOME), "abroad": means}


EXPERIMENTS = (
    Experiment("unseen-few-lakes", "maps held out, few trained on", few),
    Experiment("unseen-many-lakes", "maps held out, many trained on", many),
    Experiment("unseen-carts", "CartPole changed after training", run),
)
