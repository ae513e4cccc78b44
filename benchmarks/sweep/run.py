"""16 seeds of CartPole, 500,000 samples each, at one layout: together, and one after the other.

    python -m benchmarks.sweep.run [--rounds 3] [--only program command]

program: compiled programs in one process, compiling left out. command: as a user sees it, from the
command line to the result, with a cache of programs that is empty at the beginning.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.timing.machine import machine
from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.training import hardware
from nbyt.training.curves import train_curve, train_seeds
from nbyt.training.plan import PPOPlan, PPOSettings

RESULT = Path(__file__).with_name("result.json")
ENV, SEEDS, TOTAL = "CartPole-v1", 16, 500_000
LAYOUT = Layout(64, 32, 256, 4)
_PARTS = ("program", "command")


def main() -> None:
    """Time every round; write the seconds and their ratios to result.json."""
    options = _options()
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    found |= {"machine": machine(), "seeds": SEEDS, "total": TOTAL, "layout": LAYOUT.as_dict()}
    for part in options.only:
        found[part] = {"program": _programs, "command": _commands}[part](options.rounds)
        RESULT.write_text(json.dumps(found, indent=1) + "\n")
        print(part, found[part], flush=True)


def _programs(rounds: int) -> dict[str, Any]:
    hardware.prepare("cpu")
    env = resolve(ENV)
    plans = [_plan(env.id, seed, TOTAL) for seed in range(SEEDS)]
    short = [_plan(env.id, seed, 4 * LAYOUT.batch) for seed in range(SEEDS)]
    train_seeds(short, env)  # compiles
    train_curve(short[0], env)
    return _compared(
        rounds,
        together=lambda: train_seeds(plans, env),
        apart=lambda: [train_curve(plan, env) for plan in plans],
    )


def _plan(env: str, seed: int, total: int) -> PPOPlan:
    return PPOPlan(env, LAYOUT, total, seed, PPOSettings(), (LAYOUT.updates(total),))


def _commands(rounds: int) -> dict[str, Any]:
    sizes = f"--minibatch {LAYOUT.minibatch} --epochs {LAYOUT.epochs} --total {TOTAL}"
    split = f"{LAYOUT.envs}x{LAYOUT.steps}"
    sweep = f"sweep {ENV} --batch {LAYOUT.batch} --layouts {split} --seeds {SEEDS} {sizes}"
    one = f"train {ENV} --envs {LAYOUT.envs} --steps {LAYOUT.steps} {sizes}"
    return _compared(
        rounds,
        together=lambda: _fresh([f"{sweep} --no-advice"]),
        apart=lambda: _fresh([f"{one} --seed {seed}" for seed in range(SEEDS)]),
    )


def _fresh(commands: list[str]) -> None:
    """Run the commands one after the other, in a folder and with a cache of their own."""
    folder = tempfile.mkdtemp()
    try:
        surroundings = {**os.environ, "XDG_CACHE_HOME": folder}
        for command in commands:
            words = [sys.executable, "-m", "nbyt.cli.main", *command.split(), "--quiet"]
            subprocess.run(
                words, cwd=folder, env=surroundings, check=True, stdout=subprocess.DEVNULL
            )
    finally:
        shutil.rmtree(folder)


def _compared(
    rounds: int, *, together: Callable[[], Any], apart: Callable[[], Any]
) -> dict[str, Any]:
    """Seconds of both in turns, and how many times faster together is, round by round."""
    seconds: dict[str, list[float]] = {"together": [], "apart": []}
    for _ in range(rounds):
        for name, work in (("together", together), ("apart", apart)):
            began = time.perf_counter()
            work()
            seconds[name].append(round(time.perf_counter() - began, 2))
    ratios = [a / b for a, b in zip(seconds["apart"], seconds["together"], strict=True)]
    return {**seconds, "ratios": [round(ratio, 2) for ratio in ratios]}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.sweep.run", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
