"""What nbyt keeps in its files, for tests that need any of it and not a training."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

from tests.report.pages.probes.probes_sample import training

Facts = dict[str, Any]
_ADVICE = Path(__file__).parents[1] / "report" / "pages" / "advice" / "sample.json.gz"

POLICY: Facts = {
    "kind": "index",
    "shape": [2],
    "head": {"family": "Categorical", "actions": 2},
    "network": {"kind": "table", "widths": [64], "activation": "tanh"},
    "shared": False,
    "channels_first": False,
}
LAYOUT = {"envs": 8, "steps": 16, "batch": 128, "minibatch": 32, "minibatches": 4, "epochs": 2}
RESULT: Facts = {
    "env": "CartPole-v1",
    "final_return": {"value": 0.25, "low": 0.0, "high": 0.5, "replicates": 8},
    "unfinished": 0,
    "spoiled": 0,
    "longest": 1000,
    "layout": LAYOUT,
    "updates": 5,
}
COSTS: Facts = {"timed": [[8, 16, [0.1, 0.2]], [4, 32, [0.2, 0.3]]]}
CURVE: Facts = {
    "samples": [128, 256],
    "returns": [0.5, 1.5],
    "unfinished": 0,
    "training": [None, 1.0],
}
FAILURE: Facts = {"code": "env", "message": "it broke", "where": "step 3", "fix": "fix it"}
STUDY: Facts = {
    **dict.fromkeys(("study", "title", "lead", "rule", "reproduce", "out", "report"), "x"),
    "effort": "quick",
    "seed": 0,
    "claims": [],
}


def stage(updates: int = 0) -> Facts:
    """Facts of a stage after so many updates."""
    return {"policy": POLICY, "updates": updates}


def checkpoint(updates: int = 0) -> Facts:
    """Facts of a checkpoint after so many updates."""
    return {"updates": updates, "rows": updates}


def advice() -> Facts:
    """Return an advice on CartPole, measured with normal effort."""
    return json.loads(gzip.decompress(_ADVICE.read_bytes()))


def measurement() -> Facts:
    """Return the measurement of one of its stages."""
    own = ("name", "updates", "samples", "trained_with", "closer")
    return {key: value for key, value in advice()["stages"][0].items() if key not in own}


def look() -> Facts:
    """Return the closer look at one of its stages."""
    return next(one["closer"] for one in advice()["stages"] if one["closer"])


def record(update: int, samples: int) -> Facts:
    """Return the record of a probed update."""
    return {**copy.deepcopy(training(1)["records"][0]), "update": update, "samples": samples}
