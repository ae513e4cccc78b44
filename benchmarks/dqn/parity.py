"""Learning curves of nbyt's DQN and SB3's at the same hyper-parameters on CartPole.

python -m benchmarks.dqn.parity [--seeds K]

Seeds that are there are kept; more are trained until the curves agree, or there are 32.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.dqn.contenders import nbyt_algorithm, stable_baselines
from benchmarks.parity.compare import Comparison, compare, curve, iqm
from benchmarks.parity.play import random_returns
from nbyt.store.atomic import write_json

RESULTS = Path(__file__).with_name("parity.json")
TOTAL, ROW = 50_000, 1_000
MINIBATCH = 64
FIRST, MORE, MOST = 16, 8, 32
_TASK = "CartPole-v1"


def main() -> None:
    """Train, and write the curves to the JSON file."""
    from nbyt.training import hardware

    hardware.prepare("cpu")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=FIRST)
    seeds = parser.parse_args().seeds
    found = read()
    found.setdefault("random", float(np.mean(random_returns(_TASK, 100, seed=0))))
    while True:
        for number in range(seeds):
            for library, learn in (("nbyt", ours), ("sb3", theirs)):
                rows = found.setdefault(library, {})
                if str(100 * number) not in rows:
                    rows[str(100 * number)] = learn(100 * number)
                    write_json(RESULTS, found)
                    print(library, number, rows[str(100 * number)][-5:], flush=True)
        if standing(found)[0].agrees or seeds >= MOST:
            return
        seeds += MORE


def read() -> dict[str, Any]:
    """The curves kept so far, by library and seed."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def standing(found: dict[str, Any]) -> tuple[Comparison, ...]:
    """Difference of the mean return over the whole curve, and over its last fifth."""
    random = found["random"]
    both = sorted(set(found["nbyt"]) & set(found["sb3"]), key=int)
    curves = {
        name: np.stack([curve({"mean_return": found[name][seed]}, random) for seed in both])
        for name in ("nbyt", "sb3")
    }
    span = float(iqm(curves["sb3"]).max()) - random
    last = TOTAL // ROW // 5

    def of_part(words: str, start: int) -> Comparison:
        nbyt, sb3 = (curves[name][:, start:].mean(axis=1) for name in ("nbyt", "sb3"))
        return compare(words, nbyt, sb3, span)

    return of_part("whole curve", 0), of_part("last fifth", -last)


def ours(seed: int) -> list[float | None]:
    """The mean return of the episodes that ended in each thousand steps, of one of our runs."""
    algorithm = nbyt_algorithm(f"gym:{_TASK}", TOTAL, seed, MINIBATCH)
    rows = [algorithm.row(made) for made in algorithm.updates(1)]
    algorithm.close()
    return [row["mean_return"] for row in rows]


def theirs(seed: int) -> list[float | None]:
    """The same of one of SB3's runs."""
    import torch
    from stable_baselines3.common.callbacks import BaseCallback

    class Watch(BaseCallback):
        def __init__(self) -> None:
            super().__init__()
            self.returns: list[list[float]] = [[] for _ in range(TOTAL // ROW)]

        def _on_step(self) -> bool:
            place = (self.num_timesteps - 1) // ROW
            ended = (info["episode"]["r"] for info in self.locals["infos"] if "episode" in info)
            self.returns[place].extend(ended)
            return True

    torch.set_num_threads(1)
    watch = Watch()
    stable_baselines(_TASK, seed, batch_size=MINIBATCH).learn(TOTAL, callback=watch)
    return [float(np.mean(ended)) if ended else None for ended in watch.returns]


if __name__ == "__main__":
    main()
