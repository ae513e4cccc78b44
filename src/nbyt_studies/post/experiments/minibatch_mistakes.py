"""Two mistakes: the whole batch at every gradient step, and samples fetched at random."""

from typing import Any

import numpy as np

from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.minibatch.schemes import Scheme, random_fetch, random_subsets, whole_batch
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt_studies.experiment import Context, Experiment, Training
from nbyt_studies.minibatch_tasks import LAYOUT, TASKS, Task, plain, train
from nbyt_studies.stats.sampling import never_fetched

SEEDS = (3, 6)
UPDATES = (20, 100)
# Learning is compared where it is quick to see; the table's runs are the longest.
LEARNED = TASKS[1:]

_WHOLE = Layout(LAYOUT.envs, LAYOUT.steps, LAYOUT.batch, LAYOUT.epochs)


def learning(context: Context) -> Data:
    """Runs with mini-batches and with the whole batch, at equal epochs and equal seeds."""
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
    curves: dict[str, list[np.ndarray]] = {"mini-batches": [], "whole batch": []}
    for seed in range(context.pick(*SEEDS)):
        for word, layout in (("mini-batches", LAYOUT), ("whole batch", _WHOLE)):
            curves[word].append(_curve(train(context, task, layout, seed)))
    areas = {word: np.array([curve.mean() for curve in own]) for word, own in curves.items()}
    return {
        "env": task.name,
        "seeds": context.pick(*SEEDS),
        "curves": {
            word: [plain(mean(x)) for x in np.transpose(own)] for word, own in curves.items()
        },
        "areas": {word: plain(mean(area)) for word, area in areas.items()},
        "lead": plain(mean(areas["mini-batches"] - areas["whole batch"])),
    }


def _curve(training: Training) -> Any:
    """The mean return of every update's episodes; where none ended, that of the update before.

    Before the first episode ends, that of the first one counts.
    """
    known = [row["mean_return"] for row in training.rows]
    first = next(value for value in known if value is not None)
    found = []
    for value in known:
        first = first if value is None else value
        found.append(first)
    return np.array(found)


def coverage(context: Context) -> Data:
    """The share of samples that no mini-batch has held, after each epoch of an update."""
    schemes: dict[str, Scheme] = {
        "shuffle and chop": shuffle_and_chop,
        "fetched one by one": random_fetch,
        "fetched as subsets": random_subsets,
    }
    return {
        "layout": LAYOUT.as_dict(),
        "updates": context.pick(*UPDATES),
        "epochs": list(range(1, LAYOUT.epochs + 1)),
        "schemes": {word: _unused(context, word, one) for word, one in schemes.items()},
        "formula": {
            "fetched one by one": [_expected(epochs, True) for epochs in _epochs()],
            "fetched as subsets": [_expected(epochs, False) for epochs in _epochs()],
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


def _expected(epochs: int, replace: bool) -> float:
    return never_fetched(
        LAYOUT.batch, LAYOUT.minibatch, epochs * LAYOUT.minibatches, replace=replace
    )


def _epochs() -> range:
    return range(1, LAYOUT.epochs + 1)


EXPERIMENTS = (
    Experiment("minibatch-learning", "learning with the whole batch", learning),
    Experiment("minibatch-coverage", "samples that no mini-batch holds", coverage),
)
