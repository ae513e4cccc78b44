"""Schemes by which PPO batches are cut: how noisy their mini-batches are."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int

from nbyt.layout import Layout
from nbyt.measure.subsampling import Subsampled, minibatch_gradients, subsample
from nbyt.minibatch.named import find
from nbyt.minibatch.rules import by_env
from nbyt.objective.ppo import Batch
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt.stats.sampling import spread, variance_ratio, with_replacement, without_replacement
from nbyt.studies import minibatch_tasks
from nbyt.studies.bench import Bench
from nbyt.studies.minibatch_tasks import LAYOUT, Moment, batches_of, moments_of, plain
from nbyt.studies.replay.experiments import scheme_ends
from nbyt.studies.study import Experiment

SIZES = (64, 256)
BATCHES = (12, 32)
EPOCHS = (4, 6)


class Cut(NamedTuple):
    """A scheme, the size it cuts at, the sizes looked at, and whether epochs differ at all."""

    scheme: str
    size: int
    sizes: tuple[int, ...]
    drawn: bool


CUTS = (
    # Neighbouring mini-batches of these make larger ones of the same kind.
    Cut("shuffle_and_chop", 64, (64, 256), True),
    Cut("rsl_rl", 64, (64, 256), True),
    Cut("random_fetch", 64, (64, 256), True),
    Cut("time_slabs", 64, (64,), False),
    Cut("time_slabs", 256, (256,), False),
    Cut("dopamine", 64, (64,), False),
    Cut("dopamine", 256, (256,), False),
    Cut("rl_games", 64, (64,), False),
    Cut("rl_games", 256, (256,), False),
    Cut("brax", 64, (64,), False),
    Cut("brax", 256, (256,), True),
    Cut("whole_envs", 256, (256,), True),
)


class Gathered(NamedTuple):
    """k batches: products of their gradients, S² of samples and of whole envs, mini-batches.

    around: the mean |G_mb - G_B|² of each batch, by scheme and size.
    """

    gram: Float[np.ndarray, "k k"]
    spread: Float[np.ndarray, " k"]
    env_spread: Float[np.ndarray, " k"]
    around: dict[tuple[str, int], Float[np.ndarray, " k"]]


def run(bench: Bench) -> Data:
    """Every stage of two tasks, actor and critic apart."""
    cases = []
    for task in minibatch_tasks.TASKS[:2]:
        for moment in moments_of(bench, task):
            batches = batches_of(bench, moment, bench.pick(*BATCHES))
            advantage = np.stack([batch.advantage for batch in batches])
            usual = (advantage - advantage.mean()) / advantage.std()
            for part, weight in (("actor", usual), ("critic", advantage)):
                found = _gathered(bench, moment, part, batches, weight)
                cases.append({**moment.case, "gradient": part, "rows": summary(found)})
    return {"layout": LAYOUT.as_dict(), "batches": bench.pick(*BATCHES), "cases": cases}


def summary(found: Gathered) -> list[Data]:
    """Each scheme and size beside a shuffle, and beside its formula if it has one.

    ratio: Var(G_mb), over batches as well, over that of shuffled mini-batches. against_formula:
    |G_mb - G_B|² alone, over what is expected of it.
    """
    rows = []
    for (scheme, size), square in found.around.items():
        shuffled = np.asarray(without_replacement(found.spread, LAYOUT.batch, size))
        row = {
            "scheme": scheme,
            "minibatch": size,
            "ratio": plain(variance_ratio(found.gram, square, shuffled)),
        }
        expected = expected_square(found, scheme, size)
        if expected is not None:
            row["against_formula"] = plain(mean(square / expected))
        rows.append(row)
    return rows


def expected_square(found: Gathered, scheme: str, size: int) -> Float[np.ndarray, " k"] | None:
    """E|G_mb - G_B|² of each batch by formula; None where all mini-batches were counted anyway.

    Whole envs are drawn as samples are: the same formula, with their own S².
    """
    if scheme in ("shuffle_and_chop", "rsl_rl"):
        return np.asarray(without_replacement(found.spread, LAYOUT.batch, size))
    if scheme == "random_fetch":
        return np.asarray(with_replacement(found.spread, LAYOUT.batch, size))
    if scheme in ("brax", "whole_envs") and size > LAYOUT.steps:
        envs = size // LAYOUT.steps
        return np.asarray(without_replacement(found.env_spread, LAYOUT.envs, envs))
    return None


def _gathered(
    bench: Bench, moment: Moment, part: str, batches: list[Batch], weight: np.ndarray
) -> Gathered:
    whole, env_spread = [], []
    around: dict[tuple[str, int], list[float]] = {}
    for place, batch in enumerate(batches):
        bench.progress(f"{moment}: {part}'s schemes", place, len(batches))
        found, rows = _subsampled(bench, moment, part, batch, weight[place], place)
        for key, square in rows.items():
            around.setdefault(key, []).append(square)
        whole.append(found)
        env_spread.append(_env_spread(moment, part, batch, weight[place], found.gradient))
    gradients = np.array([one.gradient for one in whole], float)
    squares = np.array([one.mean_square for one in whole], float)
    gram = gradients @ gradients.T
    own = np.asarray(spread(squares, np.diagonal(gram), LAYOUT.batch))
    return Gathered(
        gram, own, np.array(env_spread), {key: np.array(rows) for key, rows in around.items()}
    )


def _subsampled(
    bench: Bench, moment: Moment, part: str, batch: Batch, weight: np.ndarray, place: int
) -> tuple[Subsampled, dict[tuple[str, int], float]]:
    """One batch, and its mean |G_mb - G_B|² by scheme and size."""
    cuts = [(cut, _indices(bench, cut, place)) for cut in CUTS]
    pieces = np.concatenate([indices for _, indices in cuts])
    joined = tuple(size // SIZES[0] for size in SIZES)
    stage = moment.stage
    found: Subsampled = jax.device_get(
        subsample(stage.policy, stage.params, part, batch, weight, pieces, joined=joined)
    )
    rows, first = {}, 0
    for cut, indices in cuts:
        epochs = slice(first, first + len(indices))
        for size in cut.sizes:
            squares = found.scatter[SIZES.index(size)].square[epochs]
            rows[cut.scheme, size] = float(np.mean(squares, dtype=float))
        first += len(indices)
    return found, rows


def _indices(bench: Bench, cut: Cut, place: int) -> Int[np.ndarray, "epochs pieces piece"]:
    """Updates of one epoch each, because some schemes cut all epochs of an update alike."""
    layout = Layout(LAYOUT.envs, LAYOUT.steps, cut.size, 1)
    generator = numpy_stream(bench.seed, f"schemes.{cut.scheme}.{cut.size}", place)
    count = bench.pick(*EPOCHS) if cut.drawn else 1
    epochs = [find(cut.scheme)(layout, generator) for _ in range(count)]
    return np.stack(epochs).reshape(count, -1, SIZES[0])


def _env_spread(moment: Moment, part: str, batch: Batch, weight: np.ndarray, whole: Any) -> float:
    """S² of the envs' own gradients around the batch's."""
    stage, envs = moment.stage, LAYOUT.envs
    rows = by_env(envs, LAYOUT.steps).reshape(envs, -1)
    own = minibatch_gradients(stage.policy, stage.params, part, batch, weight, rows)
    apart = np.asarray(own, float) - np.asarray(whole, float)
    return float((apart**2).sum() / (envs - 1))


EXPERIMENTS = (
    Experiment("schemes", "mini-batches by named schemes", run),
    *scheme_ends.EXPERIMENTS,
)
