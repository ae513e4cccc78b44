"""A study of seconds, for `nbyt reproduce` under kills: the folders, locks and workers are real."""

import numpy as np

import benchmarks.soak.launch  # noqa: F401  # workers, too, save checkpoints often
from nbyt.layout import Layout
from nbyt.results.values import Data
from nbyt.stats import mean
from nbyt.training.plan import PPOSettings
from nbyt_studies.experiment import Context, Experiment
from nbyt_studies.study import Claim, Results, Study
from nbyt_studies.verdict import Check

_LAYOUT = Layout(8, 16, 64, 2)
_SETTINGS = PPOSettings(network="table", learning_rate=0.01)


def _lengths(context: Context, seed: int) -> Data:
    """Train on FrozenLake and take the mean length of its episodes.

    Every experiment also wants the training of seed 0, so two workers wait for one lock.
    """
    found = []
    for number in {0, seed}:
        training = context.trained(
            "tabular:FrozenLake-v1", _LAYOUT, stages=(100, 400), settings=_SETTINGS, seed=number
        )
        found += [row["mean_length"] for row in training.rows if row["mean_length"] is not None]
    return {"lengths": mean(np.array(found)).as_dict()}


def _first(context: Context) -> Data:
    return _lengths(context, 1)


def _second(context: Context) -> Data:
    return _lengths(context, 2)


def _third(context: Context) -> Data:
    return _lengths(context, 3)


def _checks(results: Results) -> list[Check]:
    return [
        Check({"experiment": name}, "steps of an episode", data["lengths"], low=1.0)
        for name, data in results.items()
    ]


_EXPERIMENTS = (
    Experiment("first", "first", _first),
    Experiment("second", "second", _second),
    Experiment("third", "third", _third),
)
SMALL = Study(
    "post",
    "A small study",
    "Something to be killed.",
    _EXPERIMENTS,
    (
        Claim(
            "long",
            "Episodes",
            "They last.",
            "Some runs.",
            "Steps.",
            tuple(one.name for one in _EXPERIMENTS),
            _checks,
        ),
    ),
)
