"""An advice with made-up curves and losses, and forms of it; stages and settings are real ones.

`python -m tests.report.made_up_advice` writes sample.json.gz again.
"""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

Data = dict[str, Any]
PATH = Path(__file__).parent / "pages" / "advice" / "sample.json.gz"
BATCH, TOTAL, SEEDS, FRACTION = 2048, 204_800, 4, 0.25
LAMBDAS = [0.8, 0.9, 0.95, 1.0]
ARMS = (2, 8, 32, 128)
# T: expected loss, how far the interval goes down and up, and time of an update over T = 32's.
LOSSES = {
    2: (0.93, 0.84, 0.98, 0.42),
    4: (0.71, 0.52, 0.88, 0.47),
    8: (0.21, 0.08, 0.39, 0.56),
    16: (0.06, 0.0, 0.19, 0.72),
    32: (0.024, 0.0, 0.08, 1.0),
    64: (0.019, 0.0, 0.075, 1.22),
    128: (0.033, 0.0, 0.11, 1.7),
}
WITHIN = dict(zip(LOSSES, (0.0, 0.0, 0.04, 0.48, 0.89, 0.92, 0.78), strict=True))
ADVISED, OWN = 32, 128
_SPEED = {2: 0.25, 8: 1.4, 32: 4.0, 128: 3.4}
_UNTRAINED, _BEST = 21.3, 486.0


def estimate(value: float, low: float, high: float) -> Data:
    """A number with its interval."""
    return {"value": value, "low": low, "high": high}


def split(steps: int) -> Data:
    """The layout of the batch with this T."""
    return {"envs": BATCH // steps, "steps": steps}


def arm(steps: int, generator: np.random.Generator, points: int = 16) -> Data:
    """A layout of the race: curves that rise, each seed at its own pace."""
    spent = np.linspace(0, FRACTION, points)
    pace = _SPEED[steps] * generator.uniform(0.75, 1.25, (SEEDS, 1))
    rise = 1 - np.exp(-pace * 6 * np.maximum(spent - 0.02, 0.0) ** 1.15)
    noise = generator.normal(0, 0.012, (SEEDS, points)).cumsum(1) * rise
    returns = _UNTRAINED + (_BEST - _UNTRAINED) * np.clip(rise + noise, -0.01, 1.0)
    gains = FRACTION * returns.mean(1) + (1 - FRACTION) * returns[:, -1] - _UNTRAINED
    return {
        **split(steps),
        "seeds": list(range(SEEDS)),
        "samples": [int(x) for x in spent * TOTAL / LOSSES[steps][3]],
        "spent": [round(float(x), 5) for x in spent],
        "returns": np.round(returns, 3).tolist(),
        "gains": np.round(gains, 3).tolist(),
    }


def race() -> Data:
    """Four seeds of quarter trainings with four layouts."""
    generator = np.random.default_rng(7)
    return {
        "fraction": FRACTION,
        "untrained": _UNTRAINED,
        "learnt": True,
        "unit_seconds": 10.2,
        "arms": [arm(steps, generator) for steps in ARMS],
    }


def layouts(libraries: list[Data]) -> list[Data]:
    """What every layout loses."""
    names: dict[int, list[str]] = {}
    for one in libraries:
        names.setdefault(one["placed_at"][1], []).append(one["library"])
    return [
        {
            **split(steps),
            "loss": estimate(value, low, high),
            "trainings": SEEDS if steps in ARMS else 0,
            "within_5": WITHIN[steps],
            "update_cost": cost,
            "seconds": estimate(0.0142 * cost, 0.013 * cost, 0.0155 * cost),
            "defaults_of": names.get(steps, []),
        }
        for steps, (value, low, high, cost) in LOSSES.items()
    ]


def answers() -> Data:
    """The answers for the same time and for the same samples."""
    fastest = (
        "Fastest: 64 envs x 32 steps. P(within 5 % of the best) = .89; expected loss 2 % [0, 8]."
    )
    fewest = (
        "For the fewest samples: 8 envs x 256 steps, as on nearly every task (it lost 3 % [1, 5] "
        "on 24 tasks); nothing to race."
    )
    shared = "An episode lasts about 200 steps, so short T see few of its ends."
    return {
        "time": {
            **split(ADVISED),
            "expected_loss": estimate(*LOSSES[ADVISED][:3]),
            "p_within_5": WITHIN[ADVISED],
            "rests_on": "race",
            "sentence": fastest,
            "reasons": [
                "T = 2 gained 47 [31, 62] in a quarter of its training, T = 32 gained 371 "
                "[342, 402].",
                "An update of 16 envs x 128 steps takes 1.7 x the time of 64 envs x 32 steps.",
                shared,
            ],
        },
        "samples": {
            **split(256),
            "expected_loss": estimate(0.029, 0.012, 0.051),
            "p_within_5": None,
            "rests_on": "prior",
            "sentence": fewest,
            "reasons": ["On the reference tasks T = 256 and 512 lose least.", shared],
        },
    }


def track(*, sealed: bool = True) -> Data:
    """What the rule lost elsewhere."""
    loss = {"value": 0.034, "low": 0.011, "high": 0.062}
    return {
        "costs": "measured",
        "trainings": 4,
        "tasks": 12,
        "sealed": sealed,
        "race": loss,
        "constant": {"value": 0.112, "low": 0.052, "high": 0.183},
        "search": "Optuna TPE, median pruner",
        "search_loss": {"value": 0.131, "low": 0.063, "high": 0.214},
    }


def built(stages: list[Data], libraries: list[Data], settings: list[Data]) -> Data:
    """A whole advice for the same time, with all that is optional."""
    sizes = {**split(ADVISED), "batch": BATCH, "minibatch": 256, "minibatches": 8, "epochs": 4}
    return {
        "env": "gymnax:CartPole-v1",
        "batch": BATCH,
        "objective": "time",
        "effort": "normal",
        "total": TOTAL,
        "gamma": 0.99,
        "lambda": 0.95,
        "lambdas": LAMBDAS,
        "max_envs": 2048,
        "seed": 0,
        "advice": answers(),
        "safe_range": [[32, 64]],
        "layouts": layouts(libraries),
        "race": race(),
        "cost": {"trainings": 4.0, "samples": 819_200, "seconds": 41.3},
        "prior": {"version": "2026-11", "sha256": "5c" * 32, "tasks": 24},
        "track_record": track(),
        "costs_from": "measured",
        "costs": costs(),
        "current": {
            **split(OWN),
            "loss": estimate(*LOSSES[OWN][:3]),
            "speedup": estimate(1.7, 1.4, 2.1),
            "sentence": "Your 16 envs x 128 steps reach in 17 s [14, 21] what 64 x 32 reach in "
            "10 s.",
        },
        "stages": stages,
        "libraries": libraries,
        "settings": settings,
        "schedule": {
            **sizes,
            "gradient_steps": 32,
            "learning_rate": 0.0003,
            "current": {**sizes, **split(OWN)},
            "sentence": "Keep the mini-batch at 256 and the learning rate at 0.0003: an update "
            "then makes 8 mini-batches x 4 epochs = 32 gradient steps.",
        },
        "warnings": ["A warning about the whole."],
        "machine": {"device": "cpu (cpu)", "platform": "Linux"},
        "versions": {"nbyt": "0.0.0", "numpy": "2.4.6"},
        "reproduce": "nbyt advise gymnax:CartPole-v1 --batch 2048 --seed 0",
        "out": "runs/advice",
        "report": "runs/advice/report.html",
    }


def costs() -> Data:
    """Updates that were timed, five rounds of four layouts."""
    generator = np.random.default_rng(5)
    timed = []
    for steps in ARMS:
        middle = 0.0142 * LOSSES[steps][3]
        seconds = middle * generator.uniform(0.9, 1.15, 5)
        timed.append([BATCH // steps, steps, np.round(seconds, 6).tolist()])
    return {"timed": timed}


def sample() -> Data:
    """The advice that is kept beside this file."""
    kept: Data = json.loads(gzip.decompress(PATH.read_bytes()))
    return kept


def without_stages(data: Data) -> Data:
    """The same where no policy was probed, for less than four trainings."""
    data = copy.deepcopy(data)
    data["stages"], data["safe_range"] = [], []
    data["advice"]["time"]["p_within_5"] = None
    for one in data["layouts"]:
        one["within_5"] = None
    return data


def without_race(data: Data) -> Data:
    """The same from the reference tasks alone, with nothing that is optional."""
    data = without_stages(data)
    for key in ("warnings", "reproduce", "versions"):
        data.pop(key, None)
    data["advice"]["time"] |= {
        "rests_on": "prior",
        "sentence": "64 envs x 32 steps, which lose least on the reference tasks.",
    }
    for one in data["layouts"]:
        one["trainings"] = 0
    cost = {"trainings": 0.0, "samples": 0, "seconds": 0.4}
    none = dict.fromkeys(("race", "track_record", "current", "costs"))
    return data | none | {"cost": cost, "costs_from": "parallel:16", "settings": []}


def without_time(data: Data) -> Data:
    """The same for the same samples, with no costs of an update."""
    data = without_race(data)
    data["advice"]["time"] = None
    data["advice"]["samples"] |= split(128)
    for one in data["layouts"]:
        one |= {"update_cost": None, "seconds": None}
    return data | {"objective": "samples", "costs_from": None}


def unlearnt(data: Data) -> Data:
    """The same where no layout learnt anything in the race."""
    data = without_stages(data)
    data["race"]["learnt"] = False
    for one in data["race"]["arms"]:
        flat = np.random.default_rng(one["steps"]).normal(21.3, 0.6, (SEEDS, len(one["spent"])))
        one |= {"returns": flat.tolist(), "gains": (flat[:, -1] - 21.3).tolist()}
    data["advice"]["time"] |= {
        "rests_on": "prior",
        "sentence": "Nothing was learnt in the race; 64 envs x 32 steps lose least elsewhere.",
    }
    return data


def main() -> None:
    """Write the sample again, with the stages, libraries and settings that it has."""
    kept = sample()
    own = ("weight", "clear")
    stages = [{k: v for k, v in one.items() if k not in own} for one in kept["stages"]]
    data = built(stages, kept["libraries"], kept["settings"])
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    PATH.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
