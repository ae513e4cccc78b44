"""Pools whose chains are collected by the workers of a Ray cluster, for envs that are slow."""

import json
import tempfile
from pathlib import Path

import numpy as np

from nbyt.collect.part import parts_of
from nbyt.collect.pool import Pool, joined
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import HostEnv
from nbyt.measure.frozen_policy import Progress
from nbyt.policy.files import describe, stage_tensors
from nbyt.policy.stage import Stage
from nbyt.store import header
from nbyt.store.tensors import write_folder
from nbyt.sweep.answers import failure_of
from nbyt.sweep.cluster import asked_of, require_same
from nbyt.sweep.ray_package import Connection
from nbyt.sweep.ray_task import run_pool_errand
from nbyt.sweep.workers import STEP_LIMIT

RETRIES = 2
_PAUSE = 0.2


class ClusterPools:
    """Collects pools on a cluster: the same bytes as if the chains were collected here."""

    def __init__(self, connection: Connection, step_limit: float = STEP_LIMIT) -> None:
        self._connection, self._step_limit = connection, step_limit

    def __call__(self, env: HostEnv, stage: Stage, plan: PoolPlan, progress: Progress) -> Pool:
        """The pool that `plan` asks for, its chains in about as many parts as there are workers."""
        connection, content = self._connection, self._connection.keep(_files(stage))
        parts = parts_of(plan, connection.cpus)
        flying = {
            connection.submit(run_pool_errand, text, content, retries=RETRIES): part
            for part in parts
            for text in [self._errand(env, plan, part)]
        }
        found: dict[range, Pool] = {}
        try:
            while flying:
                for reference in connection.ready(list(flying), _PAUSE):
                    part = flying.pop(reference)
                    found[part] = _pool(env.id, *connection.result(reference))
                chains = sum(map(len, found))
                progress(chains * plan.steps, plan.chains * plan.steps)
        finally:
            connection.cancel(list(flying))
        return joined([found[part] for part in parts])

    def _errand(self, env: HostEnv, plan: PoolPlan, part: range) -> str:
        task = {"env": env.id, "pool": list(plan), "part": [part.start, part.stop]}
        return asked_of(task, step_limit=self._step_limit)


def _files(stage: Stage) -> dict[str, bytes]:
    """The stage as the files that a run keeps."""
    facts = {**stage.facts, "policy": describe(stage.policy)}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "stage"
        write_folder(folder, "stage", stage_tensors(stage), facts, kind="stage")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def _pool(env: str, text: str, content: bytes) -> Pool:
    answer = json.loads(text)
    require_same(answer)
    failure = failure_of(env, answer)
    if failure is not None:
        raise failure
    arrays = header.parse(content, "pool")
    return Pool(**{name: np.asarray(arrays[name]) for name in Pool._fields})
