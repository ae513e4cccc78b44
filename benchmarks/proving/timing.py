"""This machine's seconds of an update: costs.json, for the objective `measured`.

    python -m benchmarks.proving.timing

Run it on a quiet machine. What costs.json holds is not timed again.
"""

import json
import os

from benchmarks.proving.profiles import COSTS
from benchmarks.proving.tasks import EPOCHS, MINIBATCH, TASKS
from nbyt.envs import resolve
from nbyt.layout import Layout, nearest_divisors
from nbyt.store.atomic import write_text
from nbyt.training import hardware
from nbyt.training.costs import measure_costs
from nbyt.training.plan import PPOSettings


def main() -> None:
    """Time every task and batch."""
    hardware.prepare("cpu")
    costs = json.loads(COSTS.read_text()) if COSTS.exists() else {}
    for task in TASKS:
        for batch in task.batches:
            if str(batch) in costs.get(task.env, {}):
                continue
            minibatch = nearest_divisors(batch, MINIBATCH)[0]
            layouts = [Layout(batch // t, t, minibatch, EPOCHS) for t in task.steps(batch)]
            timed = measure_costs(resolve(task.env), PPOSettings(**task.settings), layouts)
            seconds = timed.seconds([(one.envs, one.steps) for one in layouts])
            costs.setdefault(task.env, {})[str(batch)] = {
                str(one.steps): float(f"{estimate.value:.3g}")
                for one, estimate in zip(layouts, seconds, strict=True)
            }
            write_text(COSTS, json.dumps(costs, indent=1) + "\n")
            print(f"timed {task.env}, batch {batch}; load {os.getloadavg()[0]:.1f}", flush=True)
            hardware.forget_programs()


if __name__ == "__main__":
    main()
