"""A probed training such as a real one gives, made by chance that is fixed."""

import math
import random
from typing import Any

Data = dict[str, Any]
BATCH, MINIBATCHES, EPOCHS = 2048, 8, 4
SILENT = {"value": None, "low": None, "high": None, "reason": "the signal is lost in noise"}


def training(count: int = 12, *, pools: bool = True, minibatches: bool = True) -> Data:
    """What the store gives back of a training that was probed so many times."""
    chance = random.Random(0)
    records = [
        _record(10 * (k + 1), k / max(count - 1, 1), chance, pools and k % 3 == 2, minibatches)
        for k in range(count)
    ]
    return {**head(), "records": records}


def head() -> Data:
    """What is known when training starts."""
    return {
        "title": "PPO on CartPole-v1",
        "library": "Stable-Baselines3 2.9.2",
        "algorithm": "PPO",
        "env": "CartPole-v1",
        "layout": {
            "envs": 8,
            "steps": 256,
            "batch": BATCH,
            "minibatch": BATCH // MINIBATCHES,
            "minibatches": MINIBATCHES,
            "epochs": EPOCHS,
        },
        "settings": {"gamma": 0.99, "lambda": 0.95, "learning_rate": 0.0003, "clip": 0.2},
        "parameters": {"actor": 4610, "critic": 4545, "total": 9155},
        "advantages": "normalised",
        "every": 10,
        "machine": {"device": "cpu, 2 cores", "platform": "Linux-6.1-x86_64"},
        "versions": {"nbyt": "0.5.0", "torch": "2.10.0", "python": "3.12.3"},
    }


def number(value: float, share: float = 0.2, **more: Any) -> Data:
    """A value with an interval of that share of it to both sides."""
    half = share * abs(value)
    return {"value": value, "low": value - half, "high": value + half, **more}


def _record(update: int, done: float, chance: random.Random, pool: bool, looked: bool) -> Data:
    return {
        "update": update,
        "samples": BATCH * update,
        "mean_return": 22 + 400 * done**1.5 + chance.gauss(0, 8),
        "seconds": 0.2 + 0.05 * chance.random(),
        "units": {"count": 16, "steps": 128, "whole": False},
        "gradients": {
            "actor": _gradient(0.02 * 0.1**done, 0.65 - 0.3 * done, 2 + 9 * done, chance),
            "critic": _gradient(40 * 0.5**done, 0.3, 0.4 + done, chance),
            "total": _gradient(40 * 0.5**done, 0.3, 0.5 + done, chance),
        },
        "minibatches": _minibatches(done, chance) if looked else None,
        "pool": _pool(done, chance) if pool else None,
        "warnings": ["Episodes are longer than the pieces of streams."] if update == 30 else [],
    }


def _gradient(variance: float, ess: float, noise: float, chance: random.Random) -> Data:
    variance, ess = variance * math.exp(chance.gauss(0, 0.15)), ess + chance.gauss(0, 0.03)
    lost = noise > 10
    return {
        "individual": number(ess * variance, 0.1, approximate=True),
        "covariance": number((1 - ess) * variance, 0.3, approximate=True),
        "variance": number(variance, 0.25, approximate=True),
        "ess_ratio": number(ess, 0.22, approximate=True),
        "covariance_share": number(1 - ess, 0.22, approximate=True),
        "noise_factor": number(1 / (1 + noise), 0.5, approximate=True),
        "noise_scale": SILENT if lost else number(BATCH * noise, 0.4, approximate=True),
    }


def _minibatches(done: float, chance: random.Random) -> list[Data]:
    found = []
    for step in range(MINIBATCHES * EPOCHS):
        moved = step / (MINIBATCHES * EPOCHS) * (1.2 - done)
        found.append(
            {
                "epoch": step // MINIBATCHES,
                "ratio_low": 1 - 0.3 * moved,
                "ratio_high": 1 + 0.4 * moved,
                "clip_fraction": max(0.0, 0.2 * moved + chance.gauss(0, 0.01)),
                "approximate_kl": 0.01 * moved**2,
                "cosine": 0.8 - 0.5 * moved + chance.gauss(0, 0.05),
            }
        )
    return found


def _pool(done: float, chance: random.Random) -> Data:
    return {
        "chains": 64,
        "steps": 1024,
        "explained_variance": number(0.3 + 0.5 * done, 0.1),
        "mean_return": number(30 + 400 * done**1.5, 0.05),
        "layouts": [_layout(envs, BATCH // envs, done, chance) for envs in (2, 8, 32, 128)],
    }


def _layout(envs: int, steps: int, done: float, chance: random.Random) -> Data:
    bias = 1 - math.exp(-steps / 40) + chance.gauss(0, 0.01)
    noise = 1 / (1 + (1 + 3 * done) * (1 + steps / 512))
    pointing = {
        "individual": number(0.4, 0.1),
        "covariance": number(0.6, 0.2),
        "variance": number(1.0, 0.1),
        "ess_ratio": number(0.4, 0.2),
        "bias_sq": number(0.1 * (1 - bias), 0.5),
        "mse": number(1.1, 0.2),
        "cosine": number(0.9 * bias, 0.1),
        "bias_factor": number(bias, 0.08),
        "noise_factor": number(noise, 0.15),
        "alignment": number(bias * noise, 0.2),
    }
    return {
        "envs": envs,
        "steps": steps,
        "lambda": 0.95,
        **{name: dict(pointing) for name in ("actor", "critic", "total")},
        "seconds": {"value": None, "low": None, "high": None, "reason": "not timed"},
    }


def values(records: list[Data], network: str, quantity: str) -> list[float | None]:
    """The values of a quantity as charts have them, with six digits."""
    found = [one["gradients"][network][quantity]["value"] for one in records]
    return [None if one is None else float(f"{one:.6g}") for one in found]


def drawn(chart: Data, name: str) -> Data:
    """The line of a chart's series."""
    return next(one for one in chart["data"] if one.get("name") == name)
