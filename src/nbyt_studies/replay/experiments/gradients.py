"""Gradients of single transitions at frozen weights, and of mini-batches of them.

Everything is about one buffer and the gradient G of all of it: noise is distance from G.
"""

import time
from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int

from nbyt.collect.replay import Replay, read
from nbyt.envs import resolve
from nbyt.minibatch.replay import Filled, Places, draw
from nbyt.policy.q_policy import QPolicy
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt.training.algorithms.dqn import initial_learner
from nbyt.training.dqn import DQNPlan, DQNSettings, QLearner, improve, rates_of
from nbyt.training.losses import Transitions
from nbyt_studies.experiment import Context, Experiment
from nbyt_studies.measure.batches import best_gain, losses_after, td_contributions
from nbyt_studies.numbers import (
    deviations,
    distinct_in_windows,
    expected_distinct,
    lag_correlations,
    mean_cosine,
    mean_distinct,
    of_strata,
    of_windows,
    shortened,
    typical_ratio,
    with_replacement,
    without_replacement,
)
from nbyt_studies.replay.trainings import (
    SEEDS,
    WORDS,
    Moment,
    Task,
    episodes,
    moments_of,
    states,
    tasks,
)

SIZES = tuple(2**power for power in range(11))
LAGS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SAMPLINGS = ("sequential", "uniform", "distinct", "stratified")
# How many mini-batches are drawn, by sampling and size: the formulas are checked at the usual one.
DRAWS = {
    ("uniform", 1): 400,
    **{(sampling, 32): 500 for sampling in SAMPLINGS},
    ("uniform", 256): 40,
    ("sequential", 256): 40,
}
STEP_SIZES = (1, 32, 256)
VARIETY = (32, 256)
# The progress of single steps is measured on every so many-th row, so that so many are left.
THINNED = 1024
STEPS = 12


def run(context: Context) -> Data:
    """Measure every task and moment, seed by seed."""
    cases = []
    for task in tasks(context):
        seeds: dict[str, list[Data]] = {word: [] for word in WORDS}
        for seed in range(context.pick(*SEEDS)):
            for word, moment in moments_of(context, task, seed):
                seeds[word].append(_measured(context, task, moment, seed))
        places = zip(task.moments, seeds.items(), strict=True)
        cases += [
            {"env": task.name, "moment": word, "steps": steps, "seeds": rows}
            for steps, (word, rows) in places
        ]
    sizes = {"sizes": list(SIZES), "lags": list(LAGS), "step_sizes": list(STEP_SIZES)}
    return {**sizes, "cases": cases}


def _measured(context: Context, task: Task, moment: Moment, seed: int) -> Data:
    gradients = _contributions(task, moment)
    generator = numpy_stream(context.seed + seed, "gradients.draw", moment.updates)
    whole = gradients.mean(axis=0, dtype=float)
    apart = deviations(gradients)
    places = {key: _places(*key, len(apart), generator) for key in DRAWS}
    labels = {"states": states(moment.rows), "episodes": episodes(moment.rows)}
    return {
        "rows": len(apart),
        "square": _number(whole @ whole),
        "correlation": _correlations(moment, gradients, apart, generator),
        "exact": _exact(apart),
        "drawn": _drawn(apart, whole, places),
        "progress": _progress(task, moment, gradients, generator),
        "variety": {word: _variety(own, places) for word, own in labels.items()},
    }


def _contributions(task: Task, moment: Moment) -> Float[np.ndarray, "n P"]:
    assert moment.rows.valid.all(), "device envs have no filler rows"
    rates = rates_of(task.settings)
    networks = (moment.policy, moment.weights, moment.target)
    return np.asarray(td_contributions(*networks, moment.rows, rates, double=task.settings.double))


def _places(sampling: Any, size: int, rows: int, generator: np.random.Generator) -> Places:
    return draw(sampling, Filled(rows, rows), size, DRAWS[sampling, size], generator)


def _correlations(
    moment: Moment,
    gradients: Float[np.ndarray, "n P"],
    apart: Float[np.ndarray, "n P"],
    generator: np.random.Generator,
) -> Data:
    """Return correlations along the buffer, and cosines of neighbours and of any two."""
    seen = np.asarray(moment.rows.observation, np.float32)
    if seen.ndim == 1:  # a table's state is a name, not a quantity
        seen = np.eye(int(seen.max()) + 1, dtype=np.float32)[seen.astype(int)]
    seen = deviations(seen.reshape(len(seen), -1))
    scale = seen.std(axis=0)
    standard = seen[:, scale > 0] / scale[scale > 0]
    first, second = (generator.permutation(len(apart)) for _ in range(2))
    return {
        "observation": shortened(lag_correlations(standard, LAGS)),
        "gradient": shortened(lag_correlations(apart, LAGS)),
        "cosines": shortened(
            [
                mean_cosine(gradients[:-1], gradients[1:]),
                mean_cosine(gradients[first], gradients[second]),
            ]
        ),
    }


def _exact(apart: Float[np.ndarray, "n P"]) -> dict[str, list[float | None]]:
    """Return E|G_mb - G|² by sampling and size, from formulas or over all mini-batches."""
    rows = len(apart)
    single = of_windows(apart, [1])[0]
    spread = single * rows / (rows - 1)
    return {
        "sequential": shortened(of_windows(apart, SIZES)),
        "uniform": shortened(float(with_replacement(spread, rows, size)) for size in SIZES),
        "distinct": shortened(float(without_replacement(spread, rows, size)) for size in SIZES),
        "stratified": shortened(of_strata(apart, SIZES)),
    }


def _drawn(
    apart: Float[np.ndarray, "n P"],
    whole: Float[np.ndarray, " P"],
    places: dict[tuple[str, int], Places],
) -> dict[str, dict[str, Data]]:
    """Return the mean |G_mb - G|² and the mean cosine with G of drawn mini-batches.

    By sampling, then by size.
    """
    by_sampling: dict[str, dict[str, Data]] = {sampling: {} for sampling in SAMPLINGS}
    for (sampling, size), own in places.items():
        off = np.stack([apart[one].mean(axis=0) for one in own])
        squares = np.einsum("ij,ij->i", off, off)
        by_sampling[sampling][str(size)] = {
            "square": _number(squares.mean(dtype=float)),
            "cosine": _number(mean_cosine(off + whole, np.broadcast_to(whole, off.shape))),
        }
    return by_sampling


def _progress(
    task: Task, moment: Moment, gradients: Float[np.ndarray, "n P"], generator: np.random.Generator
) -> Data:
    """Return a thinned buffer's loss decrease by one step at its best size, over that of its G.

    noise_scale: that of the thinned buffer, mean |g - G|² / |G|².
    """
    every = slice(None, None, len(gradients) // THINNED)
    rows = type(moment.rows)(*(x[every] for x in moment.rows))
    own = gradients[every]
    whole = own.mean(axis=0)
    draws = [generator.integers(len(own), size=(STEPS, size)) for size in STEP_SIZES]
    steps = [own[places].mean(axis=1) for places in draws]
    losses = np.asarray(
        losses_after(
            moment.policy,
            moment.weights,
            moment.target,
            rows,
            rates_of(task.settings),
            np.concatenate([np.stack([whole, 0 * whole]), *steps]),
            double=task.settings.double,
        ),
        float,
    )
    before = losses[1, 0]
    gains = [best_gain(part, before) for part in losses[2:].reshape(len(STEP_SIZES), STEPS, -1)]
    full = best_gain(losses[:1], before)
    shares = [gain / full if full > 0 else float("nan") for gain in gains]
    noise = of_windows(deviations(own), [1])[0] / float(whole @ whole)
    return {"noise_scale": _number(noise), "shares": shortened(shares)}


def _variety(labels: Int[np.ndarray, " n"], places: dict[tuple[str, int], Places]) -> list[Data]:
    """Return counts of different labels in a mini-batch by size, drawn and expected."""
    rows = []
    for size in VARIETY:
        drawn = {
            sampling: _number(mean_distinct(labels, own))
            for (sampling, drawn_size), own in places.items()
            if drawn_size == size
        }
        expected = {
            "sequential": distinct_in_windows(labels, size),
            "uniform": expected_distinct(labels, size, replace=True),
            "distinct": expected_distinct(labels, size, replace=False),
        }
        rows.append(
            {
                "minibatch": size,
                "all": len(np.unique(labels)),
                "drawn": drawn,
                "expected": {key: _number(value) for key, value in expected.items()},
            }
        )
    return rows


def _number(value: float) -> float | None:
    return shortened([value])[0]


ROUNDS = (8, 20)
USUAL = 32
# Transitions that one call processes, so that a call's own cost is small beside its steps'.
_PROCESSED = 2048
_MOST_STEPS = 64


def run_step_seconds(context: Context) -> Data:
    """Time a step by size, for each task's network."""
    return {"cases": [_timed(context, task) for task in tasks(context)]}


def _timed(context: Context, task: Task) -> Data:
    sizes = (*SIZES, task.layout.buffer)
    programs = _programs(context, task, sizes)
    rounds = context.pick(*ROUNDS)
    times: dict[int, list[float]] = {size: [] for size in sizes}
    for turn in range(rounds + 1):
        context.progress(f"timing {task.name}", turn, rounds + 1)
        # All sizes in turn, so that a busy machine slows all of them.
        for size, program in programs.items():
            began = time.perf_counter()
            jax.block_until_ready(program())
            times[size].append((time.perf_counter() - began) / _steps(size))
    # The first round compiles and does not count.
    seconds = {size: values[1:] for size, values in times.items()}
    ratios = {size: typical_ratio(own, seconds[USUAL]) for size, own in seconds.items()}
    return {
        "env": task.name,
        "network": task.settings.network,
        "sizes": list(sizes),
        "seconds": [mean(np.array(seconds[size])).as_dict() for size in sizes],
        "ratios": [{**ratios[size].as_dict(), "approximate": True} for size in sizes],
    }


def _programs(context: Context, task: Task, sizes: tuple[int, ...]) -> dict[int, Any]:
    env, settings = resolve(task.env), task.settings
    total = task.moments[-1]
    plan = DQNPlan(env.id, task.layout, total, context.seed, settings, ())
    policy, learner = initial_learner(plan, env)
    generator = numpy_stream(context.seed, "step-seconds", 0)
    replay = Replay(jax.device_put(_rows(env.observation_space, task.layout.buffer, generator)))
    programs = {}
    for size in sizes:
        places = generator.integers(task.layout.buffer, size=(_steps(size), size), dtype=np.int32)
        programs[size] = partial(_improved, policy, settings.form, learner, replay, places)
    return programs


@partial(jax.jit, static_argnames=("policy", "settings"))
def _improved(
    policy: QPolicy, settings: DQNSettings, learner: QLearner, replay: Replay, places: jax.Array
) -> QLearner:
    rates = rates_of(DQNSettings())
    return improve(policy, settings, learner, read(replay, places), rates)[0]


def _steps(size: int) -> int:
    return max(1, min(_MOST_STEPS, _PROCESSED // size))


def _rows(space: Any, count: int, generator: np.random.Generator) -> Transitions:
    """Return transitions of the right shape; the time of a step does not depend on their values."""

    def seen() -> np.ndarray:
        if not space.shape:
            return generator.integers(space.n, size=count, dtype=np.int32)
        return generator.normal(size=(count, *space.shape)).astype(np.float32)

    action, reward = np.zeros(count, np.int32), generator.normal(size=count).astype(np.float32)
    columns: Any = (seen(), action, reward, np.zeros(count, bool), seen(), np.ones(count, bool))
    return Transitions(*columns)


EXPERIMENTS = (
    Experiment("gradients", "gradients of transitions", run),
    Experiment("step-seconds", "seconds of a gradient step", run_step_seconds, alone=True),
)
