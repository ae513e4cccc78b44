"""Small versions of what others report: external.json.

    python -m benchmarks.proving.external [--only NAME ...] [--arlbench FOLDER]

Checks: mountain-car (16 against 2,048 envs at T = 64), wide-minatar (128 x 8 against 8 x 128),
staggered (a fixed-length task with growing N). arlbench reads PPO curves of the ARLBench data from
a folder (results_combined/sobol/*_ppo.csv of its branch `experiments`), which is not part of this
project. What external.json holds is not measured again.
"""

import argparse
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.stats.runs import iqm_estimate
from nbyt.store.atomic import write_text
from nbyt.training import hardware
from nbyt.training.curves import Curve, train_seeds
from nbyt.training.plan import PPOPlan, PPOSettings

RESULT = Path(__file__).with_name("external.json")
_SEEDS = 8
_POINTS = 10
_MOUNTAIN_CAR = 3_000_000
_MINATAR_SAMPLES = 200_000
_MINATAR = {
    "network": "64x64",
    "activation": "relu",
    "learning_rate": 1e-3,
    "entropy_coefficient": 0.01,
}


def mountain_car() -> list[dict[str, Any]]:
    """Return what few and many envs reach with T = 64 and four mini-batches an epoch."""
    rows = []
    for envs in (16, 128, 2048):
        layout = Layout(envs, 64, envs * 16, 4)
        settings = PPOSettings(entropy_coefficient=0.01)
        returns = _trained("gymnax:MountainCar-v0", layout, _MOUNTAIN_CAR, settings)
        rows.append(
            _row(layout, returns, samples=_MOUNTAIN_CAR, reached=float((returns > -200).mean()))
        )
    return rows


def wide_minatar() -> list[dict[str, Any]]:
    """Return 128 x 8 and 8 x 128 on MinAtar, started together and staggered."""
    rows = []
    for env in ("gymnax:Breakout-MinAtar", "gymnax:Asterix-MinAtar"):
        for envs, steps in ((128, 8), (8, 128)):
            for stagger in (False, True):
                layout = Layout(envs, steps, 256, 4)
                settings = PPOSettings(**_MINATAR, stagger=stagger)
                returns = _trained(env, layout, _MINATAR_SAMPLES, settings)
                rows.append(
                    _row(layout, returns, env=env, stagger=stagger, samples=_MINATAR_SAMPLES)
                )
    return rows


def staggered() -> list[dict[str, Any]]:
    """Return a fixed-length task at T = 16 with growing N, at equal vector steps.

    An update has 16 mini-batches of each size's own, so that all take as many gradient steps.
    """
    rows = []
    for envs in (128, 512, 2048, 4096):
        for stagger in (False, True):
            layout = Layout(envs, 16, envs, 4)
            settings = PPOSettings(
                gamma=0.9, learning_rate=1e-3, normalise_rewards=True, stagger=stagger
            )
            returns = _trained("gymnax:Pendulum-v1", layout, envs * 16 * 60, settings)
            rows.append(_row(layout, returns, stagger=stagger, updates=60))
    return rows


def arlbench(folder: Path) -> list[dict[str, Any]]:
    """Return how well a quarter of a training foretells it, on curves that others made.

    Rank correlation over configurations between the score that the first part of a training
    promises and the score of all of it, for one seed and for the mean of five.
    """
    rows = []
    for path in sorted(folder.glob("*.csv")):
        curves = _arlbench_curves(path)
        row: dict[str, Any] = {"task": path.stem, "configurations": len(curves)}
        for part in (0.1, 0.3, 0.5):
            last = round(curves.shape[2] * part)
            seen = part * curves[:, :, :last].mean(-1) + (1 - part) * curves[:, :, last - 1]
            for seeds in (1, 5):
                held_out = curves[:, seeds:].mean(-1).mean(1)
                found = stats.spearmanr(seen[:, :seeds].mean(1), held_out).statistic
                row[f"{part:g} of {seeds}"] = round(float(found), 3)
        rows.append(row)
    return rows


def _arlbench_curves(path: Path) -> np.ndarray:
    """The curves of every configuration and seed, [configurations, seeds, points]."""
    found: dict[str, dict[str, list[float]]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["run_id"], {}).setdefault(row["seed"], []).append(
                float(row["performance"])
            )
    return np.array([list(seeds.values()) for seeds in found.values()])


def _trained(env: str, layout: Layout, total: int, settings: PPOSettings) -> np.ndarray:
    """The curves of a few seeds, [seeds, points]."""
    updates = total // layout.batch
    points = tuple(max(1, round(updates * k / _POINTS)) for k in range(1, _POINTS + 1))
    plans = [
        PPOPlan(env, layout, updates * layout.batch, seed, settings, points)
        for seed in range(_SEEDS)
    ]
    curves = train_seeds(plans, resolve(env), episodes=16)
    hardware.forget_programs()
    return np.array([curve.returns for curve in curves if isinstance(curve, Curve)])


def _row(layout: Layout, returns: np.ndarray, **facts: Any) -> dict[str, Any]:
    key = np.random.default_rng(0)
    final = iqm_estimate(returns[:, -1], key)
    over = iqm_estimate(returns.mean(1), key)
    return {
        "envs": layout.envs,
        "steps": layout.steps,
        **facts,
        "final": _estimate(final),
        "over_training": _estimate(over),
    }


def _estimate(estimate: Any) -> dict[str, float]:
    return {name: round(float(getattr(estimate, name)), 2) for name in ("value", "low", "high")}


CHECKS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "mountain-car": mountain_car,
    "staggered": staggered,
    "wide-minatar": wide_minatar,
}


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(prog="benchmarks.proving.external", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=tuple(CHECKS), default=tuple(CHECKS))
    parser.add_argument("--arlbench", type=Path)
    options = parser.parse_args()
    hardware.prepare("cpu")
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    if options.arlbench:
        found["arlbench"] = arlbench(options.arlbench)
        write_text(RESULT, json.dumps(found, indent=1) + "\n")
    for name in options.only:
        if name not in found:
            found[name] = CHECKS[name]()
            print(f"measured {name}", flush=True)
            write_text(RESULT, json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
