"""Schemes by which PPO batches are cut: how noisy their mini-batches are."""

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int

from nbyt.layout import Layout
from nbyt.minibatch.schemes import by_env, find
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt.stats.variance import sample_variance
from nbyt.training.losses import Batch
from nbyt_studies import minibatch_tasks
from nbyt_studies.experiment import Context, Experiment
from nbyt_studies.measure.batches import Cut, minibatch_gradients, subsample_cuts
from nbyt_studies.measure.updates import Drift, along_update, followed, optimiser_after
from nbyt_studies.minibatch_tasks import LAYOUT, Moment, batches_of, moments_of, plain
from nbyt_studies.numbers import (
    typical_ratio,
    variance_ratio,
    with_replacement,
    without_replacement,
)

# Mini-batches that hold two whole envs: every scheme can cut them.
UPDATE = Layout(LAYOUT.envs, LAYOUT.steps, 256, LAYOUT.epochs)
SCHEME_ENDS_BATCHES = (6, 16)
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


def run_scheme_ends(context: Context) -> Data:
    """Update the same batches by every scheme, at every stage of two tasks."""
    moments = (one for task in minibatch_tasks.TASKS[:2] for one in moments_of(context, task))
    return {
        "layout": UPDATE.as_dict(),
        "batches": context.pick(*SCHEME_ENDS_BATCHES),
        "looks": list(range(UPDATE.epochs + 1)),
        "cases": [_measured(context, moment) for moment in moments],
    }


def _measured(context: Context, moment: Moment) -> Data:
    count = context.pick(*SCHEME_ENDS_BATCHES)
    first, *batches = batches_of(context, moment, count + 1)
    every = UPDATE.minibatches
    optimiser = optimiser_after(moment, first, _scheme_ends_indices(context, SHUFFLE, 0), every)
    drifts: dict[str, list[Drift]] = {scheme: [] for scheme in SCHEMES}
    for place, batch in enumerate(batches):
        context.progress(f"{moment}: updates by scheme", place, count)
        for scheme, own in drifts.items():
            indices = _scheme_ends_indices(context, scheme, 1 + place)
            own.append(jax.device_get(followed(moment, optimiser, batch, indices, every)[0]))
    return {
        **moment.case,
        "schemes": {name: _shown(own) for name, own in drifts.items()},
        "ends": {name: against(own, drifts[SHUFFLE]) for name, own in drifts.items()},
    }


def _scheme_ends_indices(context: Context, scheme: str, place: int) -> np.ndarray:
    generator = numpy_stream(context.seed, f"schemes.ends.{scheme}", place)
    return find(SHUFFLE if scheme == AGAIN else scheme)(UPDATE, generator)


def _shown(drifts: list[Drift]) -> Data:
    return {name: along_update(drifts, name) for name in _SHOWN}


def against(drifts: list[Drift], shuffled: list[Drift]) -> Data:
    """Compare the end of updates with that of shuffled ones of the same batches.

    ratio: mean |ratio - 1| over the shuffle's. clip_fraction, cosine: less the shuffle's.
    """
    ends = {name: (_ends(drifts, name), _ends(shuffled, name)) for name in _SHOWN}
    over, under = ends["ratio"]
    ends_compared: dict[str, Any] = {"ratio": plain(typical_ratio(over.tolist(), under.tolist()))}
    for name in ("clip_fraction", "cosine"):
        own, usual = ends[name]
        ends_compared[name] = plain(replace(mean(own - usual), approximate=True))
    return ends_compared


def _ends(drifts: list[Drift], name: str) -> np.ndarray:
    return np.array([getattr(drift, name)[-1] for drift in drifts], float)


SIZES = (64, 256)
BATCHES = (12, 32)
EPOCHS = (4, 6)


# A scheme, the size it cuts at, the sizes measured, and whether its epochs differ at all.
CUTS = (
    # Neighbouring mini-batches of these make larger ones of the same kind.
    ("shuffle_and_chop", 64, (64, 256), True),
    ("rsl_rl", 64, (64, 256), True),
    ("random_fetch", 64, (64, 256), True),
    ("time_slabs", 64, (64,), False),
    ("time_slabs", 256, (256,), False),
    ("dopamine", 64, (64,), False),
    ("dopamine", 256, (256,), False),
    ("rl_games", 64, (64,), False),
    ("rl_games", 256, (256,), False),
    ("brax", 64, (64,), False),
    ("brax", 256, (256,), True),
    ("whole_envs", 256, (256,), True),
)


class BatchSums(NamedTuple):
    """k batches: products of their gradients, S² of samples and of whole envs, mini-batches.

    around: the mean |G_mb - G_B|² of each batch, by scheme and size.
    """

    gram: Float[np.ndarray, "k k"]
    spread: Float[np.ndarray, " k"]
    env_spread: Float[np.ndarray, " k"]
    around: dict[tuple[str, int], Float[np.ndarray, " k"]]


def run(context: Context) -> Data:
    """Measure every stage of two tasks, actor and critic separately."""
    cases = []
    for task in minibatch_tasks.TASKS[:2]:
        for moment in moments_of(context, task):
            batches = batches_of(context, moment, context.pick(*BATCHES))
            advantage = np.stack([batch.advantage for batch in batches])
            usual = (advantage - advantage.mean()) / advantage.std()
            for part, weight in (("actor", usual), ("critic", advantage)):
                sums = _batch_sums(context, moment, part, batches, weight)
                cases.append({**moment.case, "gradient": part, "rows": summary(sums)})
    return {"layout": LAYOUT.as_dict(), "batches": context.pick(*BATCHES), "cases": cases}


def summary(sums: BatchSums) -> list[Data]:
    """Compare each scheme and size with a shuffle, and with its formula if it has one.

    ratio: Var(G_mb), over batches as well, over that of shuffled mini-batches. against_formula:
    |G_mb - G_B|² alone, over what is expected of it.
    """
    rows = []
    for (scheme, size), square in sums.around.items():
        shuffled = np.asarray(without_replacement(sums.spread, LAYOUT.batch, size))
        row = {
            "scheme": scheme,
            "minibatch": size,
            "ratio": plain(variance_ratio(sums.gram, square, shuffled)),
        }
        expected = expected_square(sums, scheme, size)
        if expected is not None:
            row["against_formula"] = plain(mean(square / expected))
        rows.append(row)
    return rows


def expected_square(sums: BatchSums, scheme: str, size: int) -> Float[np.ndarray, " k"] | None:
    """Return E|G_mb - G_B|² of each batch by formula; None where all mini-batches were counted.

    Whole envs are drawn as samples are: the same formula, with their own S².
    """
    if scheme in ("shuffle_and_chop", "rsl_rl"):
        return np.asarray(without_replacement(sums.spread, LAYOUT.batch, size))
    if scheme == "random_fetch":
        return np.asarray(with_replacement(sums.spread, LAYOUT.batch, size))
    if scheme in ("brax", "whole_envs") and size > LAYOUT.steps:
        envs = size // LAYOUT.steps
        return np.asarray(without_replacement(sums.env_spread, LAYOUT.envs, envs))
    return None


def _batch_sums(
    context: Context, moment: Moment, part: str, batches: list[Batch], weight: np.ndarray
) -> BatchSums:
    sums, env_spread = [], []
    around: dict[tuple[str, int], list[float]] = {}
    for place, batch in enumerate(batches):
        context.progress(f"{moment}: {part}'s schemes", place, len(batches))
        cuts = [
            Cut(scheme, sizes, _indices(context, scheme, size, drawn, place))
            for scheme, size, sizes, drawn in CUTS
        ]
        whole, rows = subsample_cuts(moment.stage, part, batch, weight[place], cuts, SIZES)
        for key, scatter in rows.items():
            around.setdefault(key, []).append(float(np.mean(scatter.square, dtype=float)))
        sums.append(whole)
        env_spread.append(_env_spread(moment, part, batch, weight[place], whole.gradient))
    gradients = np.array([whole.gradient for whole in sums], float)
    squares = np.array([whole.mean_square for whole in sums], float)
    gram = gradients @ gradients.T
    spread = np.asarray(sample_variance(squares, np.diagonal(gram), LAYOUT.batch))
    by_cut = {key: np.array(rows) for key, rows in around.items()}
    return BatchSums(gram, spread, np.array(env_spread), by_cut)


def _indices(
    context: Context, scheme: str, size: int, drawn: bool, place: int
) -> Int[np.ndarray, "epochs pieces piece"]:
    """Cut updates of one epoch each, because some schemes cut all epochs of an update alike."""
    layout = Layout(LAYOUT.envs, LAYOUT.steps, size, 1)
    generator = numpy_stream(context.seed, f"schemes.{scheme}.{size}", place)
    count = context.pick(*EPOCHS) if drawn else 1
    epochs = [find(scheme)(layout, generator) for _ in range(count)]
    return np.stack(epochs).reshape(count, -1, SIZES[0])


def _env_spread(moment: Moment, part: str, batch: Batch, weight: np.ndarray, whole: Any) -> float:
    stage, envs = moment.stage, LAYOUT.envs
    rows = by_env(envs, LAYOUT.steps).reshape(envs, -1)
    own = minibatch_gradients(stage.policy, stage.params, part, batch, weight, rows)
    apart = np.asarray(own, float) - np.asarray(whole, float)
    return float((apart**2).sum() / (envs - 1))


EXPERIMENTS = (
    Experiment("scheme-ends", "updates by named schemes", run_scheme_ends),
    Experiment("schemes", "mini-batches by named schemes", run),
)
