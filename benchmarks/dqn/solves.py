"""Does DQN solve what it should? Every task by the command that a user would give.

python -m benchmarks.dqn.solves

Seeds that are there are kept, so it can be stopped and goes on.
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.dqn.tasks import TASKS, Task
from nbyt.store.atomic import write_json

RESULTS = Path(__file__).with_name("solves.json")


def main() -> None:
    """Train, and write the final returns to the JSON file."""
    found = read()
    for task in TASKS:
        runs = found.setdefault(task.options, {})
        for seed in range(task.seeds):
            if str(seed) not in runs:
                runs[str(seed)] = _trained(task, seed)
                write_json(RESULTS, found)
                print(task.env, seed, runs[str(seed)], flush=True)


def read() -> dict[str, Any]:
    """Final returns kept so far, by options and seed."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def _trained(task: Task, seed: int) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "nbyt.cli.main", *task.command(seed, f"{folder}/run")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    data = json.loads(done.stdout)["data"]
    return {name: data[name] for name in ("final_return", "episodes", "steps_per_second")}


if __name__ == "__main__":
    main()
