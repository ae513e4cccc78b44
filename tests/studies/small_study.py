"""A study of seconds, for tests."""

import numpy as np

from nbyt.layout import Layout
from nbyt.report import figures
from nbyt.results.values import Data
from nbyt.stats import mean
from nbyt.training.plan import PPOSettings
from nbyt_studies.experiment import Context, Experiment
from nbyt_studies.study import Claim, Results, Study
from nbyt_studies.verdict import Check

LAYOUT = Layout(envs=4, steps=16, minibatch=32, epochs=1)
TABLE = PPOSettings(network="table")


def lengths(context: Context) -> Data:
    """How long the episodes of a short training were."""
    training = context.trained("FrozenLake-v1", LAYOUT, stages=(1, 4), settings=TABLE)
    assert [stage.facts["updates"] for stage in training.stages] == [1, 4]
    assert training.at(4) is training.stages[1]
    found = [row["mean_length"] for row in training.rows if row["mean_length"] is not None]
    return {"lengths": mean(np.array(found)).as_dict(), "size": context.pick("quick", "full")}


def ends(context: Context) -> Data:
    """How far another training came."""
    training = context.trained("FrozenLake-v1", LAYOUT, stages=(3,), settings=TABLE)
    return {"updates": len(training.rows)}


def longer_than(bound: float) -> Claim:
    def checks(results: Results) -> list[Check]:
        number = results["lengths"]["lengths"]
        return [Check({"env": "FrozenLake-v1"}, "steps of an episode", number, low=bound)]

    def drawn(results: Results) -> list[Data]:
        some = [figures.series("length", [0], [results["lengths"]["lengths"]])]
        return [figures.lines("Episodes", "run", "steps", some)]

    needs = ("lengths",)
    return Claim("long", "Episodes", "They last.", "A run.", "Steps.", needs, checks, drawn)


SMALL = Study(
    "post",
    "A small study",
    "Nothing to see.",
    (Experiment("lengths", "lengths", lengths), Experiment("ends", "ends", ends)),
    (longer_than(1.0),),
)
