"""The grids: five batches of one frozen policy, every sample of the first against all of them.

FrozenLake 8x8, slippery, batches of 128 samples. Contributions are advantages, as they are, times
scores, so that the exact oracle speaks of the same gradient.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from nbyt.collect.pool import Pool
from nbyt.envs import resolve
from nbyt.envs.tabular import TabularEnv
from nbyt.exact import moments
from nbyt.layout import Layout
from nbyt.measure.batches import batch_advantages, collect_batches, contributions
from nbyt.policy.stage import Stage
from nbyt.results.values import Data
from nbyt.stats.combine import added, mapped
from nbyt.stats.cosines import batch_gram, expected_cosine, mean_cosine
from nbyt.stats.estimate import Estimate, mean, undetermined
from nbyt.studies.bench import Bench, Training
from nbyt.studies.post.experiments.grid_numbers import along_episode, grid, leanings, short
from nbyt.studies.study import Experiment
from nbyt.train.settings import PPOSettings

ENV = "tabular:FrozenLake8x8-v1"
FEW = Layout(4, 32, minibatch=32, epochs=4)
MANY = Layout(32, 4, minibatch=32, epochs=4)
# The default step size, 3e-4, hardly moves a table in 1,500 updates, and 3e-2 spoils the policy
# before it has met the goal: with 3e-3 both layouts come from hardly ever to mostly reaching it.
SETTINGS = PPOSettings(network="table", learning_rate=3e-3)

UPDATES = tuple(range(100, 1501, 100))
QUICK_UPDATES = (100, 300, 500)
# The oracle needs seconds for each, because of the time limit: 12,800 states.
EXACT = (500, 1000, 1500)
QUICK_EXACT = (500,)
BATCHES, QUICK_BATCHES = 64, 16
EPISODES, QUICK_EPISODES = 128, 32
BIN = 10


def run(bench: Bench) -> Data:
    """Both trainings, and at each of their stages the batches of both layouts."""
    updates = bench.pick(QUICK_UPDATES, UPDATES)
    trainings = {
        name(layout): bench.trained(ENV, layout, stages=updates, settings=SETTINGS)
        for layout in (FEW, MANY)
    }
    total, done = len(trainings) * len(updates), 0
    found: dict[str, Any] = {}
    for own, training in trainings.items():
        stages = []
        for update in updates:
            bench.progress("five batches at each update", done, total)
            stages.append(_stage(bench, training, update, done))
            done += 1
        gains = [one["gain"]["value"] for one in stages if one["gain"]["value"] is not None]
        found[own] = {
            "returns": _returns(training, updates),
            "gain": mean(np.array(gains)).as_dict(),
            "stages": stages,
        }
    return {
        "env": ENV,
        "layouts": [name(FEW), name(MANY)],
        "updates": list(updates),
        "batches": bench.pick(QUICK_BATCHES, BATCHES),
        "episodes": bench.pick(QUICK_EPISODES, EPISODES),
        "settings": SETTINGS.as_dict(),
        "trainings": found,
        "exact": _exact_cases(bench, trainings),
    }


def name(layout: Layout) -> str:
    """A layout in short: envs x steps."""
    return f"{layout.envs}x{layout.steps}"


def _stage(bench: Bench, training: Training, update: int, round: int) -> Data:
    """One stage: the grid of its own layout, both layouts' agreement, and episodes."""
    stage = training.at(update)
    made = _batches(bench, stage, round)
    agreement = {name(layout): _agreement(made[name(layout)], layout) for layout in (FEW, MANY)}
    own = _by_batch(made[name(training.layout)], training.layout)
    return {
        "update": update,
        "grid": grid(own),
        "agreement": {key: _plain(one) for key, one in agreement.items()},
        "gain": _less(agreement[name(MANY)]["cosine"], agreement[name(FEW)]["cosine"]).as_dict(),
        "leanings": leanings(own, training.layout.envs),
        "episode": _episodes(bench, stage, round),
    }


def _batches(bench: Bench, stage: Stage, round: int) -> dict[str, Float[np.ndarray, "T n P"]]:
    """The contributions of every step of each layout's batches."""
    layouts = (FEW, MANY)
    pools = collect_batches(
        resolve(ENV),
        stage,
        [(layout.envs, layout.steps) for layout in layouts],
        batches=bench.pick(QUICK_BATCHES, BATCHES),
        seed=bench.seed,
        round=round,
    )
    return {
        name(layout): contributions(stage, pool, _advantages(pool, layout.envs))
        for layout, pool in zip(layouts, pools, strict=True)
    }


def _advantages(pool: Pool, envs: int) -> Float[np.ndarray, "T n"]:
    return batch_advantages(pool, gamma=SETTINGS.gamma, lam=SETTINGS.lam, envs=envs)


def _by_batch(steps: Float[np.ndarray, "T n P"], layout: Layout) -> Float[np.ndarray, "B s P"]:
    """The steps of each batch, sample t N + n being step t of env n."""
    apart = steps.reshape(layout.steps, -1, layout.envs, steps.shape[-1])
    return apart.swapaxes(0, 1).reshape(-1, layout.batch, steps.shape[-1])


def _agreement(steps: Float[np.ndarray, "T n P"], layout: Layout) -> dict[str, Any]:
    """How batches of the layout agree: mean cosine, and the ratio that it stands for."""
    rollouts = steps.mean(axis=0)
    gram = rollouts @ rollouts.T
    batches = batch_gram(gram, layout.envs)
    samples = len(gram)
    square = float(gram.sum() - np.trace(gram)) / (samples * (samples - 1))
    return {
        "cosine": mean_cosine(batches),
        "expected": expected_cosine(batches),
        "zero": int(np.sum(np.diagonal(batches) <= 0)),
        "mean_square": square,
        "variance": (float(np.trace(gram)) / samples - square) / layout.envs,
    }


def _plain(agreement: dict[str, Any]) -> Data:
    return {
        key: value.as_dict() if isinstance(value, Estimate) else value
        for key, value in agreement.items()
    }


def _less(first: Estimate, second: Estimate) -> Estimate:
    """The difference of two independent estimates."""
    for one in (first, second):
        if one.value is None:
            return undetermined(one.reason, one.replicates)
    return added(first, mapped(second, lambda value: -value), 0.0)


def _episodes(bench: Bench, stage: Stage, round: int) -> Data:
    """Whole episodes from the start, each step against the mean of its episode."""
    env = resolve(ENV)
    assert env.time_limit is not None, "whole episodes fit into a pool"
    (pool,) = collect_batches(
        env,
        stage,
        [(1, env.time_limit)],
        batches=bench.pick(QUICK_EPISODES, EPISODES),
        seed=bench.seed,
        round=round,
        synchronised=True,
    )
    steps = contributions(stage, pool, _advantages(pool, 1))
    return along_episode(steps, _first_episode(pool), BIN)


def _first_episode(pool: Pool) -> Bool[np.ndarray, "T n"]:
    ended = pool.terminated | pool.truncated
    return np.asarray(np.cumsum(ended, axis=0) - ended == 0)


def _returns(training: Training, updates: tuple[int, ...]) -> list[float | None]:
    """Mean return of the episodes that ended in the updates since the stage before."""
    found, before = [], 0
    for update in updates:
        seen = [row["mean_return"] for row in training.rows[before:update]]
        known = [value for value in seen if value is not None]
        found.append(short(np.mean(known)) if known else None)
        before = update
    return found


def _exact_cases(bench: Bench, trainings: dict[str, Training]) -> list[Data]:
    """Exact mean and variance of both layouts at a few stages."""
    cases = [
        (own, update, layout)
        for own in bench.pick([name(FEW)], list(trainings))
        for update in bench.pick(QUICK_EXACT, EXACT)
        for layout in (FEW, MANY)
    ]
    found = []
    for place, (own, update, layout) in enumerate(cases):
        bench.progress("the exact oracle", place, len(cases))
        found.append({"trained": own, **_exact(trainings[own].at(update), layout)})
    return found


def _exact(stage: Stage, layout: Layout) -> Data:
    env = resolve(ENV)
    assert isinstance(env, TabularEnv), "the oracle reads tables"
    actor = moments(env, stage, steps=layout.steps, gamma=SETTINGS.gamma, lam=SETTINGS.lam).actor
    return {
        "update": stage.facts["updates"],
        "layout": name(layout),
        "expected": actor.noise_factor(layout.envs),
        "mean_square": float(actor.mean @ actor.mean),
        "variance": actor.variance / layout.envs,
        "covariance_share": actor.covariance / actor.variance,
    }


EXPERIMENTS = (Experiment("grids", "batch against batch on FrozenLake", run),)
