"""Mini-batches of real batches, and two mistakes: the whole batch, and random fetching."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.minibatch.schemes import (
    Scheme,
    consecutive,
    random_fetch,
    random_subsets,
    time_slabs,
    whole_batch,
    whole_envs,
)
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt.stats.variance import sample_variance
from nbyt.training.losses import Batch
from nbyt_studies.experiment import Context, Experiment, Training
from nbyt_studies.measure.batches import Cut, minibatch_gradients, subsample_cuts
from nbyt_studies.minibatch_tasks import (
    LAYOUT,
    TASKS,
    Moment,
    Task,
    batches_of,
    moments,
    plain,
    train,
)
from nbyt_studies.numbers import (
    never_fetched,
    variance_ratio,
    with_replacement,
    without_replacement,
)

SEEDS = (3, 6)
UPDATES = (20, 100)
# Learning is compared where it is quick to see; the table's runs are the longest.
LEARNED = TASKS[1:]

# Fewer and less noisy steps may be longer.
WHOLE_RATES = (1, 5, 20)
_WHOLE = Layout(LAYOUT.envs, LAYOUT.steps, LAYOUT.batch, LAYOUT.epochs)


def learning(context: Context) -> Data:
    """Train with mini-batches and with the whole batch, at equal epochs and equal seeds."""
    return {
        "minibatch": LAYOUT.minibatch,
        "gradient_steps": {
            "mini-batches": len(shuffle_and_chop(LAYOUT, numpy_stream(0, "count"))),
            "whole batch": len(whole_batch(LAYOUT, numpy_stream(0, "count"))),
        },
        "epochs": LAYOUT.epochs,
        "batch": LAYOUT.batch,
        "cases": [_compared(context, task) for task in context.pick(LEARNED[:1], LEARNED)],
    }


def _compared(context: Context, task: Task) -> Data:
    ways = {"mini-batches": (task, LAYOUT)}
    for factor in WHOLE_RATES:
        rate = replace(task.settings, learning_rate=factor * task.settings.learning_rate)
        ways[_whole_word(factor)] = (replace(task, settings=rate), _WHOLE)
    curves: dict[str, list[np.ndarray]] = {word: [] for word in ways}
    for seed in range(context.pick(*SEEDS)):
        for word, (own, layout) in ways.items():
            curves[word].append(_curve(train(context, own, layout, seed)))
    areas = {word: np.array([curve.mean() for curve in own]) for word, own in curves.items()}
    return {
        "env": task.name,
        "seeds": context.pick(*SEEDS),
        "curves": {
            word: [plain(mean(x)) for x in np.transpose(own)] for word, own in curves.items()
        },
        "areas": {word: plain(mean(area)) for word, area in areas.items()},
        "leads": {
            word: plain(mean(areas["mini-batches"] - own))
            for word, own in areas.items()
            if word != "mini-batches"
        },
    }


def _whole_word(factor: int) -> str:
    return "whole batch" if factor == 1 else f"whole batch, {factor} times the learning rate"


def _curve(training: Training) -> Any:
    """Return the mean return of every update's episodes; where none ended, the last known one.

    Before the first episode ends, that of the first one counts.
    """
    known = [row["mean_return"] for row in training.rows]
    first = next(value for value in known if value is not None)
    curve = []
    for value in known:
        first = first if value is None else value
        curve.append(first)
    return np.array(curve)


def coverage(context: Context) -> Data:
    """Count the share of samples that no mini-batch has held, after each epoch of an update."""
    schemes: dict[str, Scheme] = {
        "shuffle and chop": shuffle_and_chop,
        "fetched one by one": random_fetch,
        "fetched as subsets": random_subsets,
    }
    epochs = range(1, LAYOUT.epochs + 1)
    return {
        "layout": LAYOUT.as_dict(),
        "updates": context.pick(*UPDATES),
        "epochs": list(epochs),
        "schemes": {word: _unused(context, word, one) for word, one in schemes.items()},
        "formula": {
            "fetched one by one": [_expected(count, replace=True) for count in epochs],
            "fetched as subsets": [_expected(count, replace=False) for count in epochs],
        },
    }


def _unused(context: Context, word: str, scheme: Scheme) -> list[Data]:
    count = context.pick(*UPDATES)
    shares = np.empty((count, LAYOUT.epochs))
    for update in range(count):
        context.progress(f"mini-batches {word}", update, count)
        generator = numpy_stream(context.seed, f"coverage.{word}", update)
        epochs = scheme(LAYOUT, generator).reshape(LAYOUT.epochs, -1)
        met = np.zeros(LAYOUT.batch, bool)
        for place, indices in enumerate(epochs):
            met[indices] = True
            shares[update, place] = 1 - met.mean()
    return [plain(mean(column)) for column in shares.T]


def _expected(epochs: int, *, replace: bool) -> float:
    fetches = epochs * LAYOUT.minibatches
    return never_fetched(LAYOUT.batch, LAYOUT.minibatch, fetches, replace=replace)


class Around(NamedTuple):
    """One scheme's mini-batches around G_B, a number for each of k batches."""

    square: Float[np.ndarray, " k"]
    centre: Float[np.ndarray, " k"]
    along: Float[np.ndarray, " k"]


class Batches(NamedTuple):
    """k independent batches: products of their gradients, mean |g_i|² of each, its mini-batches.

    around: by scheme, then by mini-batch size.
    """

    gram: Float[np.ndarray, "k k"]
    mean_square: Float[np.ndarray, " k"]
    around: dict[str, dict[int, Around]]

    @property
    def lengths(self) -> Float[np.ndarray, " k"]:
        """|G_B| of each batch."""
        return np.sqrt(np.diagonal(self.gram))

    def spread(self, samples: int) -> Float[np.ndarray, " k"]:
        """Return S² of each batch."""
        return np.asarray(sample_variance(self.mean_square, self.lengths**2, samples))


def summary(sums: Batches, samples: int) -> Data:
    """Return all that the claims need of one gradient at one stage."""
    return {
        "shuffled": _sizes(sums, "shuffled", samples),
        "fetched": _sizes(sums, "fetched", samples),
        "in_order": _in_order(sums, samples),
    }


def _sizes(sums: Batches, scheme: str, samples: int) -> list[Data]:
    """Return variance and mean by mini-batch size, with what sampling theory says of them.

    total: Var(G_mb) / Var(G_B). against_formula: the added variance over that of the formula.
    apart: |mean of an epoch - G_B| / |G_B|. along: the mean of G_mb along G_B, over |G_B|.
    """
    formula = without_replacement if scheme == "shuffled" else with_replacement
    none = np.zeros(len(sums.gram))
    rows = []
    for size, around in sorted(sums.around[scheme].items()):
        expected = np.asarray(formula(sums.spread(samples), samples, size))
        row = {
            "minibatch": size,
            "total": plain(variance_ratio(sums.gram, around.square, none)),
            "formula": plain(variance_ratio(sums.gram, expected, none)),
            "apart": plain(mean(np.sqrt(around.centre) / sums.lengths)),
            "along": plain(mean(around.along)),
        }
        if np.all(expected > 0):
            row["against_formula"] = plain(mean(around.square / expected))
        else:  # the whole batch: what it adds is rounding
            row["added"] = plain(mean(around.square / sums.spread(samples) * samples))
        rows.append(row)
    return rows


def _in_order(sums: Batches, samples: int) -> list[Data]:
    """Return Var(G_mb) of unshuffled mini-batches over that of shuffled ones."""
    rows = []
    for scheme in ("consecutive", "time_slabs", "whole_envs"):
        for size, around in sorted(sums.around.get(scheme, {}).items()):
            shuffled = np.asarray(without_replacement(sums.spread(samples), samples, size))
            ratio = plain(variance_ratio(sums.gram, around.square, shuffled))
            rows.append({"scheme": scheme, "minibatch": size, "ratio": ratio})
    return rows


SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048)
EPOCHS = (8, 24)
PICTURED = (64, 512)
POINTS = 80
# Mini-batches that decide where the picture's plane lies: enough to find the widest direction.
_DECIDING = 160

# Other schemes: the size that each cuts at, the sizes measured, and the epochs (one is enough where
# all epochs have the same mini-batches in another order).
_OTHERS: tuple[tuple[str, Scheme, int, tuple[int, ...], int], ...] = (
    ("fetched", random_fetch, 16, (64, 256, 1024), 8),
    ("consecutive", consecutive, 64, (64,), 1),
    ("time_slabs", time_slabs, 64, (64,), 1),
    ("time_slabs", time_slabs, 256, (256,), 1),
    ("whole_envs", whole_envs, 256, (256,), 4),
)


def run(context: Context) -> Data:
    """Measure every stage, actor and critic separately."""
    return {
        "layout": LAYOUT.as_dict(),
        "cases": [case for moment in moments(context) for case in _measured(context, moment)],
    }


def _measured(context: Context, moment: Moment) -> list[Data]:
    batches = batches_of(context, moment)
    advantage = np.stack([batch.advantage for batch in batches])
    weights = {"actor": (advantage - advantage.mean()) / advantage.std(), "critic": advantage}
    cases = []
    for part, weight in weights.items():
        case = {**moment.case, "gradient": part, "updates": moment.stage.facts["updates"]}
        sums = _batch_sums(context, moment, part, batches, weight)
        cases.append({**case, "batches": len(batches), **summary(sums, LAYOUT.batch)})
    cases[0]["normalised"] = _normalised(context, moment, batches)
    cases[0]["plane"] = _plane(context, moment, batches[0], weights["actor"][0])
    return cases


def _batch_sums(
    context: Context, moment: Moment, part: str, batches: list[Batch], weight: np.ndarray
) -> Batches:
    sums, by_cut = [], []
    for place, batch in enumerate(batches):
        context.progress(f"{moment}: {part}'s mini-batches", place, len(batches))
        cuts = _cuts(context, place)
        whole, rows = subsample_cuts(moment.stage, part, batch, weight[place], cuts, SIZES)
        sums.append(whole)
        by_cut.append(rows)
    around: dict[str, dict[int, Around]] = {}
    for scheme, size in by_cut[0]:
        means = [[float(x.mean()) for x in rows[scheme, size]] for rows in by_cut]
        around.setdefault(scheme, {})[size] = Around(*np.array(means, float).T)
    gradients = np.array([whole.gradient for whole in sums], float)
    squares = np.array([whole.mean_square for whole in sums], float)
    return Batches(gradients @ gradients.T, squares, around)


def _cuts(context: Context, place: int) -> list[Cut]:
    """Cut batch number `place` by every scheme."""
    schemes = (("shuffled", shuffle_and_chop, SIZES[0], SIZES, context.pick(*EPOCHS)), *_OTHERS)
    return [
        Cut(name, sizes, _indices(context, scheme, f"{name}.{size}", size, epochs, place))
        for name, scheme, size, sizes, epochs in schemes
    ]


def _indices(
    context: Context, scheme: Scheme, role: str, size: int, epochs: int, place: int
) -> Int[np.ndarray, "epochs pieces piece"]:
    layout = Layout(LAYOUT.envs, LAYOUT.steps, size, epochs)
    generator = numpy_stream(context.seed, f"minibatches.{role}", place)
    return scheme(layout, generator).reshape(epochs, -1, SIZES[0])


def _normalised(context: Context, moment: Moment, batches: list[Batch]) -> Data:
    """Return an epoch's cosine with G_B, with advantages normalised in each mini-batch.

    (A - mean) / sd of a mini-batch is linear in A, so two gradients make the normalised one.
    """
    cosines = []
    for place, batch in enumerate(batches):
        cut = _epochs(context, "normalised", 1, place)[0]
        advantage = np.asarray(batch.advantage)
        with_it = _gradients(moment, batch, advantage, cut)
        without = _gradients(moment, batch, np.ones_like(advantage), cut)
        own = advantage[cut]
        centre, size = own.mean(-1, keepdims=True), own.std(-1, keepdims=True) + 1e-8
        epoch = ((with_it - centre * without) / size).mean(0)
        whole = with_it.mean(0) - advantage.mean() * without.mean(0)
        cosines.append(epoch @ whole / np.linalg.norm(epoch) / np.linalg.norm(whole))
    return {"minibatch": LAYOUT.minibatch, "cosine": plain(mean(np.array(cosines)))}


def _plane(context: Context, moment: Moment, batch: Batch, weight: np.ndarray) -> list[Data]:
    """Project mini-batch gradients on G_B and on the direction across it of largest variance."""
    small, large = PICTURED
    cuts = _epochs(context, "plane", -(-POINTS * large // LAYOUT.batch), 0)
    cloud = np.concatenate([_gradients(moment, batch, weight, cut) for cut in cuts])
    goal = cloud.mean(0)
    length = np.linalg.norm(goal)
    along = goal / length
    points = cloud @ np.stack([along, _leading(cloud[:_DECIDING], along)]).T / length
    merged = points.reshape(-1, large // small, 2).mean(1)
    return [{"minibatch": small, **_cloud(points)}, {"minibatch": large, **_cloud(merged)}]


def _leading(
    cloud: Float[np.ndarray, "k P"], along: Float[np.ndarray, " P"]
) -> Float[np.ndarray, " P"]:
    """Return the unit vector across `along` in which the cloud is widest."""
    rest = cloud - cloud.mean(0)
    rest = rest - np.outer(rest @ along, along)
    # The widest direction is a mix of the rows; which mix, their inner products tell.
    widest = np.linalg.eigh(rest @ rest.T)[1][:, -1] @ rest
    return widest / np.linalg.norm(widest)


def _cloud(points: Float[np.ndarray, "k 2"]) -> dict[str, Any]:
    short = [[float(f"{x:.4g}") for x in row] for row in points[:POINTS]]
    return {
        "mean": points.mean(0).tolist(),
        "covariance": np.cov(points.T).tolist(),
        "points": short,
    }


def _epochs(
    context: Context, role: str, epochs: int, place: int
) -> Int[np.ndarray, "epochs minibatches minibatch"]:
    generator = numpy_stream(context.seed, f"minibatches.{role}", place)
    layout = Layout(LAYOUT.envs, LAYOUT.steps, LAYOUT.minibatch, epochs)
    return shuffle_and_chop(layout, generator).reshape(epochs, -1, LAYOUT.minibatch)


def _gradients(
    moment: Moment, batch: Batch, weight: Float[np.ndarray, " B"], cut: Int[np.ndarray, "k m"]
) -> Float[np.ndarray, "k P"]:
    stage = moment.stage
    gradients = minibatch_gradients(stage.policy, stage.params, "actor", batch, weight, cut)
    return np.asarray(gradients, float)


EXPERIMENTS = (
    Experiment("minibatches", "mini-batches of real batches", run),
    Experiment("minibatch-learning", "learning with the whole batch", learning),
    Experiment("minibatch-coverage", "samples that no mini-batch holds", coverage),
)
