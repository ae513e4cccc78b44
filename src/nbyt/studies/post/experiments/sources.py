"""Where the noise comes from, at layouts of the same size: sampling, own step, credit."""

from typing import Any

import numpy as np

from nbyt.exact import sources as exact_sources
from nbyt.gradients.weights import AdvantageScale
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.measure.origins import sources_of
from nbyt.measure.request import make_request
from nbyt.results.values import Data
from nbyt.stats.combine import added, divided
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import exact
from nbyt.studies.post.experiments.critics import LAMBDAS, frozenlake_critics
from nbyt.studies.post.experiments.tasks import (
    BATCH,
    CARTPOLE,
    FROZENLAKE,
    PENDULUM,
    TRAINED,
    Task,
)
from nbyt.studies.study import Experiment

GRADIENTS = ("actor", "critic")
SOURCES = ("sampling", "own_step", "credit", "coupling")
_KEPT = (*SOURCES, "environment", "policy", "variance")
_EXACT_STEPS = (4, 16, 64, 256)
_CLONED_STEPS = (4, 16, 64)
_TASKS = (CARTPOLE, PENDULUM)


def measure_sources(bench: Bench) -> Data:
    """Sources of the middle stage's noise by layout: exact on FrozenLake, by clones elsewhere."""
    envs = [_calculated(bench), *(_cloned(bench, task) for task in bench.pick(_TASKS[:1], _TASKS))]
    return {"batch": BATCH, "envs": envs, "lambdas": _by_lambda(bench)}


def _calculated(bench: Bench) -> Data:
    env, stages = frozenlake_critics(bench)
    layouts = []
    for steps in _EXACT_STEPS:
        gamma, lam = FROZENLAKE.settings.gamma, LAMBDAS[0]
        found = exact_sources(env, stages["middle"], steps=steps, gamma=gamma, lam=lam)
        envs = BATCH // steps
        own = {
            g: {name: exact(getattr(getattr(found, g), name) / envs) for name in _KEPT}
            for g in GRADIENTS
        }
        layouts.append({"envs": envs, "steps": steps, **own})
        bench.progress("FrozenLake8x8, exact sources", len(layouts), len(_EXACT_STEPS))
    return {"env": FROZENLAKE.name, "method": "exact", "layouts": layouts, **_ratios(layouts)}


def _cloned(bench: Bench, task: Task) -> Data:
    updates = tuple(task.stages.values())
    training = bench.trained(task.env, TRAINED, stages=updates, settings=task.settings)
    stage = training.at(task.stages["middle"])
    steps = bench.pick(_CLONED_STEPS[:-1], _CLONED_STEPS)
    request = make_request(stage.facts, batch=BATCH, steps=steps, advantages="raw", seed=bench.seed)
    raw = AdvantageScale(np.zeros((len(steps), 1)), np.ones((len(steps), 1)), 0.0, 0.0, 1.0)
    frozen_policy = FrozenStage(training.env, stage)
    found = sources_of(frozen_policy, request, steps, raw, bench.saying(task.name))
    layouts = [
        {
            "envs": one["envs"],
            "steps": one["steps"],
            **{g: {name: one[g][name] for name in _KEPT} for g in GRADIENTS},
        }
        for one in found["layouts"]
    ]
    return {"env": task.name, "method": "cloning", "layouts": layouts, **_ratios(layouts)}


def _ratios(layouts: list[Data]) -> Data:
    """Each source at the longest rollout over the same at the most envs; measured apart."""
    many, long = layouts[0], layouts[-1]
    ratios = {}
    for g in GRADIENTS:
        ratios[g] = {
            name: _ratio(_estimate(long[g][name]), _estimate(many[g][name])) for name in SOURCES
        }
        ratios[g]["luck"] = _ratio(_luck(long[g]), _luck(many[g]))
    return {"long_over_many": ratios}


def _estimate(number: Data) -> Estimate:
    return Estimate(number["value"], number["low"], number["high"], 0)


def _luck(sources: Data) -> Estimate:
    """All noise of the advantages, the env's luck and the policy's; wide, as if they went along."""
    return added(_estimate(sources["environment"]), _estimate(sources["policy"]), 1.0)


def _ratio(top: Estimate, below: Estimate) -> Data:
    if top.value is None or below.low is None or below.low <= 0:
        return undetermined("what it would be divided by may be 0", 0).as_dict()
    return divided(top, below, 0.0).as_dict()


def _by_lambda(bench: Bench) -> list[Data]:
    """Credit-assignment noise on FrozenLake at every lambda, exact, as a share of the most."""
    env, stages = frozenlake_critics(bench)
    gamma = FROZENLAKE.settings.gamma
    rows: list[Data] = []
    for steps in _EXACT_STEPS[1:3]:
        found: dict[float, Any] = {
            lam: exact_sources(env, stages["middle"], steps=steps, gamma=gamma, lam=lam).actor
            for lam in sorted(LAMBDAS)
        }
        most = found[1.0]
        rows += [
            {
                "steps": steps,
                "lambda": lam,
                "credit": exact(one.credit / most.credit),
                "variance": exact(one.variance / most.variance),
            }
            for lam, one in found.items()
        ]
    return rows


EXPERIMENTS = (Experiment("sources", "sources of noise", measure_sources),)
