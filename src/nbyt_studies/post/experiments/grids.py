"""The grids: five batches of one frozen policy, every sample of the first against all of them.

FrozenLake 8x8, slippery, batches of 128 samples. Contributions are advantages, as they are, times
scores, so that the exact oracle speaks of the same gradient.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from nbyt.collect.pool import Pool
from nbyt.envs import resolve
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.envs.tabular import TabularEnv
from nbyt.exact import moments
from nbyt.layout import Layout
from nbyt.policy.actor_critic import Stage
from nbyt.results.values import Data
from nbyt.stats.estimate import Estimate, added, mapped, mean, undetermined
from nbyt.training.plan import PPOSettings
from nbyt_studies.comparisons import batch_gram, cosine_matrix, expected_cosine, mean_cosine
from nbyt_studies.experiment import Context, Experiment, Training
from nbyt_studies.measure.batches import batch_advantages, collect_batches, contributions

# Cosines of single steps: with their own batch, with another one, and along an episode.
#
# All from contributions that are written out, [T, n, P]; what is 0 has no direction and no cosine.

_FEWEST = 8
SHOWN = 5


def short(values: Any) -> Any:
    """Return the numbers with four digits, as plain lists; None for nan."""
    if isinstance(values, (np.ndarray, list, tuple)):
        return [short(one) for one in values]
    return None if np.isnan(values) else float(f"{float(values):.4g}")


def cosines(
    first: Float[np.ndarray, "... P"], second: Float[np.ndarray, "... P"]
) -> Float[np.ndarray, "..."]:
    """Return cosines row by row; nan where a row is 0."""
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    return np.sum(first * second, axis=-1) / np.where(lengths > 0, lengths, np.nan)


def grid(batches: Float[np.ndarray, "B s P"]) -> dict[str, Any]:
    """Return batch 0's samples as points (norm, cosine with batch j's mean) for a few batches.

    left_out: samples whose contribution is 0. matrix: cosines between the batches' means.
    """
    samples, means = batches[0], batches[:SHOWN].mean(axis=1)
    norm = np.linalg.norm(samples, axis=1)
    kept = norm > 0
    return {
        "norm": short(norm[kept]),
        "cosine": [short(cosines(samples[kept], one[None])) for one in means],
        "left_out": int(np.sum(~kept)),
        "matrix": short(cosine_matrix(means @ means.T)),
    }


def leanings(batches: Float[np.ndarray, "B s P"], envs: int) -> dict[str, Any]:
    """Return mean cosines of a batch's samples with several means, and their differences.

    own: their own batch's. without_step, without_env: that without the sample, and without all
    of its env's rollout. other: that of another batch. Two batches make one replicate, so that
    replicates share nothing. Sample t N + n of a batch is step t of env n.
    """
    pairs = [_pair(batches[at : at + 2], envs) for at in range(0, len(batches) - 1, 2)]
    known = np.array([one for one in pairs if not np.isnan(one).any()]).reshape(-1, 4)
    own, step, env, other = known.T
    by_mean = {
        "own": own,
        "without_step": step,
        "without_env": env,
        "other": other,
        "own_less_other": own - other,
        "without_step_less_other": step - other,
        "without_env_less_other": env - other,
    }
    return {
        "pairs": len(known),
        **{name: _estimate(values).as_dict() for name, values in by_mean.items()},
    }


def _pair(two: Float[np.ndarray, "2 s P"], envs: int) -> Float[np.ndarray, " 4"]:
    return (_one(two[0], two[1], envs) + _one(two[1], two[0], envs)) / 2


def _one(
    batch: Float[np.ndarray, "s P"], other: Float[np.ndarray, "s P"], envs: int
) -> Float[np.ndarray, " 4"]:
    count = len(batch)
    total, by_env = batch.sum(axis=0), batch.reshape(-1, envs, batch.shape[1]).sum(axis=0)
    rollouts = np.tile(by_env, (count // envs, 1))
    means = (total[None], total - batch, total - rollouts, other.sum(axis=0)[None])
    by_mean = [cosines(batch, one) for one in means]
    return np.array([np.nanmean(one) if np.isfinite(one).any() else np.nan for one in by_mean])


def along_episode(
    steps: Float[np.ndarray, "T n P"], within: Bool[np.ndarray, "T n"], bin: int
) -> dict[str, Any]:
    """Return each step's cosine with its episode's mean, and with the other steps' mean.

    within: the steps of the episode that counts in each chain. The unit is the episode: steps in
    a bin of positions are averaged first.
    """
    own = steps * within[..., None]
    total = own.sum(axis=0)
    lines = {"with": cosines(own, total[None]), "without": cosines(own, total[None] - own)}
    places = range(0, len(steps), bin)
    numbers: dict[str, Any] = {"position": [place + bin / 2 for place in places]}
    for name, values in lines.items():
        numbers[name] = [_by_episode(values[place : place + bin]).as_dict() for place in places]
        numbers[f"mean_{name}"] = _by_episode(values).as_dict()
    numbers["left_out"] = int(np.sum(within) - np.sum(np.isfinite(lines["with"])))
    numbers["steps"] = int(np.sum(within))
    return numbers


def _by_episode(values: Float[np.ndarray, "t n"]) -> Estimate:
    counts = np.sum(np.isfinite(values), axis=0)
    sums = np.nansum(values, axis=0)
    return _estimate(sums[counts > 0] / counts[counts > 0])


def _estimate(values: Sequence[float] | np.ndarray) -> Estimate:
    if len(values) < _FEWEST:
        return undetermined(f"fewer than {_FEWEST} replicates have a direction", len(values))
    return mean(np.asarray(values))


ENV = "tabular:FrozenLake8x8-v1"
FEW = Layout(4, 32, minibatch=32, epochs=4)
MANY = Layout(32, 4, minibatch=32, epochs=4)
LAYOUTS = (FEW, MANY)
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


def run(context: Context) -> Data:
    """Train both layouts, and measure batches of both at each stage."""
    updates = context.pick(QUICK_UPDATES, UPDATES)
    trainings = trainings_of(context, ENV, LAYOUTS, updates, SETTINGS)
    total, done = len(trainings) * len(updates), 0
    measured: dict[str, Any] = {}
    for own, training in trainings.items():
        stages = []
        for update in updates:
            context.progress("five batches at each update", done, total)
            stages.append(_stage(context, training, update, done))
            done += 1
        gains = [one["gain"]["value"] for one in stages if one["gain"]["value"] is not None]
        measured[own] = {
            "returns": _returns(training, updates),
            "gain": mean(np.array(gains)).as_dict(),
            "stages": stages,
        }
    return {
        "env": ENV,
        "layouts": [name(layout) for layout in LAYOUTS],
        "updates": list(updates),
        "batches": context.pick(QUICK_BATCHES, BATCHES),
        "episodes": context.pick(QUICK_EPISODES, EPISODES),
        "settings": SETTINGS.as_dict(),
        "trainings": measured,
        "exact": _exact_cases(context, trainings),
    }


def name(layout: Layout) -> str:
    """Return a layout in short: envs x steps."""
    return f"{layout.envs}x{layout.steps}"


def trainings_of(
    context: Context,
    env: str,
    layouts: Sequence[Layout],
    updates: tuple[int, ...],
    settings: PPOSettings,
) -> dict[str, Training]:
    """Train the same env with each layout, with stages after these updates."""
    return {
        name(layout): context.trained(env, layout, stages=updates, settings=settings)
        for layout in layouts
    }


def batches_of(
    context: Context,
    env: DeviceEnv | HostEnv,
    stage: Stage,
    layouts: Sequence[Layout],
    *,
    batches: int,
    round: int,
) -> list[Pool]:
    """Collect fresh batches of each layout from one stage."""
    sizes = [(layout.envs, layout.steps) for layout in layouts]
    return collect_batches(env, stage, sizes, batches=batches, seed=context.seed, round=round)


def _stage(context: Context, training: Training, update: int, round: int) -> Data:
    """Measure one stage: the grid of its own layout, both layouts' agreement, and episodes."""
    stage = training.at(update)
    batches = _batches(context, stage, round)
    agreement = {name(layout): _agreement(batches[name(layout)], layout) for layout in LAYOUTS}
    own = _by_batch(batches[name(training.layout)], training.layout)
    return {
        "update": update,
        "grid": grid(own),
        "agreement": {key: _plain(one) for key, one in agreement.items()},
        "gain": _less(agreement[name(MANY)]["cosine"], agreement[name(FEW)]["cosine"]).as_dict(),
        "leanings": leanings(own, training.layout.envs),
        "episode": _episodes(context, stage, round),
    }


def _batches(context: Context, stage: Stage, round: int) -> dict[str, Float[np.ndarray, "T n P"]]:
    batches = context.pick(QUICK_BATCHES, BATCHES)
    pools = batches_of(context, resolve(ENV), stage, LAYOUTS, batches=batches, round=round)
    return {
        name(layout): contributions(stage, pool, _advantages(pool, layout.envs))
        for layout, pool in zip(LAYOUTS, pools, strict=True)
    }


def _advantages(pool: Pool, envs: int) -> Float[np.ndarray, "T n"]:
    return batch_advantages(pool, gamma=SETTINGS.gamma, lam=SETTINGS.lam, envs=envs)


def _by_batch(steps: Float[np.ndarray, "T n P"], layout: Layout) -> Float[np.ndarray, "B s P"]:
    """Return the steps of each batch, sample t N + n being step t of env n."""
    apart = steps.reshape(layout.steps, -1, layout.envs, steps.shape[-1])
    return apart.swapaxes(0, 1).reshape(-1, layout.batch, steps.shape[-1])


def _agreement(steps: Float[np.ndarray, "T n P"], layout: Layout) -> dict[str, Any]:
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
    for one in (first, second):
        if one.value is None:
            return undetermined(one.reason, one.replicates)
    return added(first, mapped(second, lambda value: -value), 0.0)


def _episodes(context: Context, stage: Stage, round: int) -> Data:
    """Collect whole episodes from the start, and compare each step with its episode's mean."""
    env = resolve(ENV)
    assert env.time_limit is not None, "whole episodes fit into a pool"
    (pool,) = collect_batches(
        env,
        stage,
        [(1, env.time_limit)],
        batches=context.pick(QUICK_EPISODES, EPISODES),
        seed=context.seed,
        round=round,
        synchronised=True,
    )
    steps = contributions(stage, pool, _advantages(pool, 1))
    return along_episode(steps, _first_episode(pool), BIN)


def _first_episode(pool: Pool) -> Bool[np.ndarray, "T n"]:
    ended = pool.terminated | pool.truncated
    return np.asarray(np.cumsum(ended, axis=0) - ended == 0)


def _returns(training: Training, updates: tuple[int, ...]) -> list[float | None]:
    returns, before = [], 0
    for update in updates:
        seen = [row["mean_return"] for row in training.rows[before:update]]
        known = [value for value in seen if value is not None]
        returns.append(short(np.mean(known)) if known else None)
        before = update
    return returns


def _exact_cases(context: Context, trainings: dict[str, Training]) -> list[Data]:
    cases = [
        (own, update, layout)
        for own in context.pick([name(FEW)], list(trainings))
        for update in context.pick(QUICK_EXACT, EXACT)
        for layout in LAYOUTS
    ]
    rows = []
    for place, (own, update, layout) in enumerate(cases):
        context.progress("the exact oracle", place, len(cases))
        rows.append({"trained": own, **_exact(trainings[own].at(update), layout)})
    return rows


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
