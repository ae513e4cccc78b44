"""Layouts that adapt, on the same tasks, with the same seeds, played at the same moments."""

import json
import time
from typing import Any

import jax
import numpy as np

from benchmarks.validation.cases import BATCH, Case
from benchmarks.validation.sweeps import WORK
from nbyt.collect.evaluate import episode_returns
from nbyt.rng import stream
from nbyt.store.atomic import write_json
from nbyt.store.text import slug
from nbyt.train.adaptive import AdaptivePlan, controller_for, first_layout, probe_rollout
from nbyt.train.algorithms.adaptive import AdaptiveAlgorithm, DeviceSplits, SplitRequest
from nbyt.train.curves import curve_of
from nbyt.train.sources import coefficients_of

SEEDS = 6
_ROUNDS = 12
_ANY = 2**62


def trained(case: Case, seed: int) -> dict[str, Any]:
    """The curve of one training, and what it changed."""
    folder = WORK / f"{slug(case.name)}-auto"
    path = folder / f"seed-{seed}.json"
    if path.exists():
        return json.loads(path.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    plan = _plan(case, seed)
    algorithm, played = AdaptiveAlgorithm(plan, case.grid().env), []
    for made in algorithm.updates(1):
        algorithm.row(made)
        if made.number in plan.stages:
            played.append(
                episode_returns(case.grid().env, algorithm.policy, algorithm.params, seed)
            )
    found = {"seed": seed, **curve_of(plan, played).as_dict(), **algorithm.findings()}
    write_json(path, found)
    print(case.name, seed, [one["to"] for one in found["changes"]], flush=True)
    return found


def looked(case: Case) -> dict[str, float]:
    """What looks cost: seconds of one beside those of the updates it stands for, in turns."""
    path = WORK / f"{slug(case.name)}-auto" / "looks.json"
    if path.exists():
        return json.loads(path.read_text())
    plan, settings = _plan(case, 0), case.grid().settings
    algorithm = AdaptiveAlgorithm(plan, case.grid().env)
    updates, first = algorithm.updates(1), algorithm.state()["learner"]
    envs = max(plan.probe_layout.envs, plan.layout.envs)
    source = DeviceSplits(case.grid().env, algorithm.policy, settings, first, envs, plan.seed)
    shares = []
    for number in range(_ROUNDS + 2):
        began = time.perf_counter()
        for _ in range(plan.controller.every):
            next(updates)
        jax.block_until_ready(algorithm.params)
        turn = time.perf_counter() - began
        key = stream(jax.random.key(1), "update", number)
        _, rollout = source.gather(
            algorithm.state()["learner"], SplitRequest(key, plan.probe_layout)
        )
        jax.block_until_ready(rollout)
        began = time.perf_counter()
        np.asarray(
            probe_rollout(
                algorithm.policy, algorithm.params, rollout, coefficients_of(settings), plan.lengths
            )
        )
        alone = time.perf_counter() - began
        shares.append(alone / turn)
    low, middle, high = np.quantile(shares[2:], [0.025, 0.5, 0.975])
    found = {"value": float(middle), "low": float(low), "high": float(high)}
    write_json(path, found)
    return found


def _plan(case: Case, seed: int) -> AdaptivePlan:
    grid = case.grid()
    first = grid.layouts[0]
    layout = first_layout(BATCH, first.minibatch, first.epochs, _ANY)
    controller = controller_for(layout.updates(case.total))
    given = (grid.env.id, layout, case.total, seed, grid.settings, grid.points, "sync")
    return AdaptivePlan(*given, controller, _ANY)
