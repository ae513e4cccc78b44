"""The command: step a batched simulator bare and through nbyt, in turns, and write the JSON.

python -m benchmarks.vectors.run [--quick]
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from examples.point_masses import PointMasses, make_vec

from benchmarks.timing.machine import machine
from benchmarks.timing.rounds import median
from nbyt.envs.user_code import env_from

RESULT = Path(__file__).with_name("result.json")
ENVS, STEPS, ROUNDS, TARGET = (1024, 4096), 200, 40, 1.10


class Answered(PointMasses):
    """A simulator that gives one answer over and over, and so takes no time."""

    def reset(self, seed: int | None = None) -> tuple[torch.Tensor, dict[str, Any]]:
        """Begin, and make the answer."""
        began = super().reset(seed)
        self._answer = super().step(torch.zeros(self.num_envs, 2))
        return began

    def step(self, actions: torch.Tensor) -> Any:
        """Give the answer."""
        del actions
        return self._answer


def overhead(envs: int, rounds: int) -> dict[str, Any]:
    """CPU seconds of a step bare and through nbyt, and their ratio within each round."""
    bare, running = PointMasses(envs), env_from(make_vec).start(envs)
    idle = env_from(Answered(envs)).start(envs)
    bare.reset(seed=0)
    for one in (running, idle):
        one.reset(list(range(envs)))
    actions = np.random.default_rng(0).uniform(-1, 1, (envs, 2)).astype(np.float32)
    tensor = torch.tensor(actions)
    calls = {"bare": lambda: bare.step(tensor), "nbyt": lambda: running.step(actions)}
    calls["adapter"] = lambda: idle.step(actions)
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(-2, rounds):  # two to warm up
        for name in sorted(calls, reverse=number % 2 == 0):
            taken = _seconds(calls[name])
            seconds[name] += [taken] if number >= 0 else []
    ratio = median([a / b for a, b in zip(seconds["nbyt"], seconds["bare"], strict=True)])
    return {
        "envs": envs,
        "steps": STEPS,
        "rounds": rounds,
        "cpu_seconds_of_a_step": {k: float(np.median(v)) for k, v in seconds.items()},
        "ratio": ratio.as_dict(),
        "target": TARGET,
        "reached": float(ratio.value or 0) <= TARGET,
    }


def _seconds(step: Callable[[], object]) -> float:
    """CPU seconds of one step of this process, averaged over a turn of a whole episode."""
    began = time.process_time()
    for _ in range(STEPS):
        step()
    return (time.process_time() - began) / STEPS


def main() -> None:
    """Measure, and write the JSON file, except in a quick trial."""
    quick = "--quick" in sys.argv[1:]
    torch.set_num_threads(1)
    found: dict[str, Any] = {"quick": quick, "machine": machine()}
    found["sizes"] = [overhead(envs, 4 if quick else ROUNDS) for envs in ENVS]
    for one in found["sizes"]:
        print(json.dumps(one))
    if not quick:
        RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
