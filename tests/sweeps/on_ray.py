"""What the test of the cluster runs, in a process in which Ray comes before JAX.

    python -m tests.sweeps.on_ray FOLDER

Two nodes; a worker is killed in the middle of its work, then a node is lost, an env hangs, chains
are collected. What was found is printed as JSON.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import psutil
from ray.cluster_utils import Cluster as Nodes
from tests.sweeps.small import DEVICE, HOST, children, grid_of, outcomes, set_traps

from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.errors import EnvError
from nbyt.policy.actor_critic import table
from nbyt.sweeps.cells import InProcessRunner, Job, make_jobs
from nbyt.sweeps.cluster import Cluster, ClusterPools
from nbyt.sweeps.grid import Grid
from nbyt.training import hardware


class Killer:
    """Somebody who watches, kills the first worker with a training beside it, and then a node."""

    def __init__(self, nodes: Nodes, node: Any) -> None:
        self._nodes, self._node = nodes, node
        self.worker = 0

    def __call__(self, job: Job, updates: int) -> None:
        workers = [pid for pid, words in children().items() if "nbyt.sweeps.worker_main" in words]
        if workers and not self.worker:
            self.worker = workers[0]
            psutil.Process(self.worker).parent().kill()
        elif set(workers) - {self.worker} and self._node is not None:
            self._nodes.remove_node(self._node, allow_graceful=False)
            self._node = None

    @property
    def content(self) -> bool:
        """Whether both are gone, and what the worker left behind."""
        return self.worker > 0 and self._node is None and self.worker not in children()


def sweeps(runner: Cluster, killer: Killer, folder: Path) -> dict:
    host, device = grid_of(HOST, 2), grid_of(DEVICE, 2, layouts=1)
    there = dict(runner.run(host, make_jobs(host, host.cells), killer))
    there_too = outcomes(runner, device)
    set_traps(folder, "step-deadlock")
    (told,) = outcomes(runner, grid_of(HOST, 1, layouts=1)).values()
    return {
        "killed": killer.content,
        "host": same(there, host),
        "device": same(there_too, device),
        "told": str(told) if isinstance(told, EnvError) else "",
    }


def same(there: dict, grid: Grid) -> bool:
    return there == outcomes(InProcessRunner(), grid) and len(there) == len(grid.cells)


def chains(runner: Cluster) -> bool:
    env = grid_of(HOST, 1).env
    stage = table([[0.0, 0.3]] * 5, [0.1] * 5)
    plan = PoolPlan(5, 30, 0, 0.9, seed=1, envs=3)
    there = ClusterPools(runner._connection)(env, stage, plan, lambda done, total: None)
    here = collect_pool(env, stage.policy, stage.params, plan)
    return all(getattr(there, n).tobytes() == getattr(here, n).tobytes() for n in Pool._fields)


def gone(seconds: float) -> bool:
    """Whether no process is left, after so long at most."""
    ends = time.monotonic() + seconds
    while children() and time.monotonic() < ends:
        time.sleep(0.2)
    return not children()


def main() -> None:
    children()  # from here on, whatever is started is known
    # Traps are looked for where a worker was told when it started.
    folder = Path(sys.argv[1])
    set_traps(folder)
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = nodes.add_node(num_cpus=1)
    with Cluster(nodes.address, step_limit=1) as runner:
        hardware.prepare(cache=False)
        found = {"cpus": runner._connection.cpus, "chains": chains(runner)}
        found |= sweeps(runner, Killer(nodes, second), folder)
    nodes.shutdown()
    json.dump({**found, "gone": gone(10)}, sys.stdout)


if __name__ == "__main__":
    main()
