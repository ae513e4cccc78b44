"""Gradients of single transitions at frozen weights, and of mini-batches of them.

Everything is about one buffer and the gradient G of all of it: noise is distance from G.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from nbyt.measure.td_gradients import td_contributions
from nbyt.measure.td_progress import best_gain, losses_after
from nbyt.minibatch.replay import Filled, Places, draw
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats.distinct import distinct_in_windows, expected_distinct, mean_distinct
from nbyt.stats.in_order import deviations, lag_correlations, mean_cosine, of_strata, of_windows
from nbyt.stats.sampling import with_replacement, without_replacement
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import shortened
from nbyt.studies.replay.buffer_tasks import SEEDS, WORDS, Task, moments_of, tasks
from nbyt.studies.replay.labels import episodes, states
from nbyt.studies.replay.learning import Moment
from nbyt.studies.study import Experiment
from nbyt.train.dqn import rates_of

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


def run(bench: Bench) -> Data:
    """Every task and moment, seed by seed."""
    cases = []
    for task in tasks(bench):
        seeds: dict[str, list[Data]] = {word: [] for word in WORDS}
        for seed in range(bench.pick(*SEEDS)):
            for word, moment in moments_of(bench, task, seed):
                seeds[word].append(_measured(bench, task, moment, seed))
        places = zip(task.moments, seeds.items(), strict=True)
        cases += [
            {"env": task.name, "moment": word, "steps": steps, "seeds": rows}
            for steps, (word, rows) in places
        ]
    sizes = {"sizes": list(SIZES), "lags": list(LAGS), "step_sizes": list(STEP_SIZES)}
    return {**sizes, "cases": cases}


def _measured(bench: Bench, task: Task, moment: Moment, seed: int) -> Data:
    """One buffer."""
    gradients = _contributions(task, moment)
    generator = numpy_stream(bench.seed + seed, "gradients.draw", moment.updates)
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
    """Along the buffer, of observations and of gradients; cosines of neighbours, of any two."""
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
    """E|G_mb - G|² for each size, by sampling: formulas, or every mini-batch that there is."""
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
    """Of mini-batches that were drawn: the mean |G_mb - G|², and the mean cosine with G.

    By sampling, then by size.
    """
    found: dict[str, dict[str, Data]] = {sampling: {} for sampling in SAMPLINGS}
    for (sampling, size), own in places.items():
        off = np.stack([apart[one].mean(axis=0) for one in own])
        squares = np.einsum("ij,ij->i", off, off)
        found[sampling][str(size)] = {
            "square": _number(squares.mean(dtype=float)),
            "cosine": _number(mean_cosine(off + whole, np.broadcast_to(whole, off.shape))),
        }
    return found


def _progress(
    task: Task, moment: Moment, gradients: Float[np.ndarray, "n P"], generator: np.random.Generator
) -> Data:
    """The fall of a thinned buffer's loss by one step at its best size, over that of its own G.

    noise_scale: that of the thinned buffer, mean |g - G|² / |G|².
    """
    every = slice(None, None, len(gradients) // THINNED)
    rows = type(moment.rows)(*(x[every] for x in moment.rows))
    own = gradients[every]
    whole = own.mean(axis=0)
    steps = [own[draw].mean(axis=1) for draw in _thinned_draws(len(own), generator)]
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


def _thinned_draws(rows: int, generator: np.random.Generator) -> list[Int[np.ndarray, "steps m"]]:
    return [generator.integers(rows, size=(STEPS, size)) for size in STEP_SIZES]


def _variety(labels: Int[np.ndarray, " n"], places: dict[tuple[str, int], Places]) -> list[Data]:
    """Different labels in a mini-batch, by size: drawn, and as expected where that is known."""
    found = []
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
        found.append(
            {
                "minibatch": size,
                "all": len(np.unique(labels)),
                "drawn": drawn,
                "expected": {key: _number(value) for key, value in expected.items()},
            }
        )
    return found


def _number(value: float) -> float | None:
    return shortened([value])[0]


EXPERIMENTS = (Experiment("gradients", "gradients of transitions", run),)
