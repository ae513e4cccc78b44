"""One frozen policy with critics from untrained to right: bias against T and lambda."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.special import softmax

from nbyt.envs import tabular
from nbyt.envs.tabular import TabularEnv
from nbyt.exact import moments
from nbyt.exact import sources as exact_sources
from nbyt.exact.values import policy_values
from nbyt.gradients.spec import AdvantageScale
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.measure.measurement import Measurement
from nbyt.measure.probe import probe
from nbyt.measure.request import make_request
from nbyt.measure.sources import sources_of
from nbyt.policy.actor_critic import Stage
from nbyt.results.values import Data
from nbyt.stats.estimate import Estimate, added, divided, undetermined
from nbyt.stats.ranking import Candidate
from nbyt_studies.comparisons import bias_gap, relative_bias
from nbyt_studies.experiment import Context, Experiment
from nbyt_studies.numbers import exact_number
from nbyt_studies.post.experiments.layouts import (
    BATCH,
    CARTPOLE,
    FROZENLAKE,
    PENDULUM,
    TRAINED,
    Task,
    without_limit,
)

# The first is trained with.
LAMBDAS = (0.95, 0.0, 0.9, 1.0)
_STEPS = (2, 8, 32, 128, 512)
_EXACT_STEPS = (2, 8, 32, 128)
_TASKS = (CARTPOLE, PENDULUM)
_CHAINS = (32, 128)


def measure_critics(context: Context) -> Data:
    """Measure the bias of the middle policy with every critic; calculate it on FrozenLake."""
    return {
        "batch": BATCH,
        "lambdas": list(LAMBDAS),
        "measured": [_measured(context, task) for task in context.pick(_TASKS[:1], _TASKS)],
        "exact": _calculated(context),
    }


def _stages(context: Context, task: Task) -> tuple[Stage, dict[str, Stage]]:
    """Return the middle stage, and stages by how far their critic was trained."""
    updates = tuple(task.stages.values())
    training = context.trained(task.env, TRAINED, stages=updates, settings=task.settings)
    critics = {"untrained": context.untrained(task.env, TRAINED, task.settings)}
    critics |= {name: training.at(number) for name, number in task.stages.items()}
    return critics["middle"], critics


def _measured(context: Context, task: Task) -> Data:
    """Probe one policy with one critic after the other, on the same chains."""
    stage, critics = _stages(context, task)
    steps = context.pick(_STEPS[:-1], _STEPS)
    names = context.pick(("untrained", "late"), tuple(critics))
    measurements: dict[str, Measurement] = {}
    for name in names:
        params = stage.params._replace(critic=critics[name].params.critic)
        measurements[name] = probe(
            task.env,
            replace(stage, params=params),
            batch=BATCH,
            steps=steps,
            lam=LAMBDAS,
            chains=context.pick(*_CHAINS),
            seed=context.seed,
            advantages="raw",
            phase=False,
            progress=context.saying(f"{task.name}, {name} critic"),
        )
    first, last = names[0], names[-1]
    return {
        "env": task.name,
        "critics": [_bias(name, one) for name, one in measurements.items()],
        "better_critic": [
            {
                "steps": length,
                "lambda": lam,
                "worst_less_best": bias_gap(
                    _candidate(measurements[first], length, lam),
                    _candidate(measurements[last], length, lam),
                ).as_dict(),
            }
            for length in steps
            for lam in LAMBDAS
        ],
    }


def _candidate(measured: Measurement, steps: int, lam: float) -> Candidate:
    return Candidate(measured.products["actor", steps, lam], BATCH // steps)


def _bias(name: str, measured: Measurement) -> Data:
    steps = measured.request.steps
    return {
        "critic": name,
        "explained_variance": measured.explained_variance.as_dict(),
        "layouts": [
            {
                "steps": length,
                "lambda": lam,
                "cosine": measured.layout(steps=length, lam=lam).actor.cosine.as_dict(),
                "relative_bias": relative_bias(_candidate(measured, length, lam)).as_dict(),
            }
            for length in steps
            for lam in LAMBDAS
        ],
        "short_less_long": {
            str(lam): bias_gap(
                _candidate(measured, steps[0], lam), _candidate(measured, steps[-1], lam)
            ).as_dict()
            for lam in LAMBDAS
        },
    }


def frozenlake_critics(context: Context) -> tuple[TabularEnv, dict[str, Stage]]:
    """Return FrozenLake's middle policy with every critic, the right one among them."""
    stage, critics = _stages(context, FROZENLAKE)
    table = tabular.find(FROZENLAKE.name)
    assert table is not None, "Gymnasium has FrozenLake"
    env = without_limit(table)
    law = softmax(np.asarray(stage.params.actor["logits"], float), axis=1)
    values = {name: one.params.critic["values"] for name, one in critics.items()}
    values["right"] = jnp.asarray(policy_values(env, law, FROZENLAKE.settings.gamma).state)
    return env, {
        name: Stage(stage.policy, stage.params._replace(critic={"values": own}), {})
        for name, own in values.items()
    }


def _calculated(context: Context) -> Data:
    env, stages = frozenlake_critics(context)
    context.progress("FrozenLake8x8, exact bias", 0, len(stages))
    rows = []
    for number, (name, stage) in enumerate(stages.items(), start=1):
        layouts = [_exact_bias(env, stage, steps, lam) for steps in _EXACT_STEPS for lam in LAMBDAS]
        rows.append({"critic": name, "layouts": layouts, "short_less_long": _gaps(layouts)})
        context.progress("FrozenLake8x8, exact bias", number, len(stages))
    return {"env": FROZENLAKE.name, "critics": rows}


def _exact_bias(env: TabularEnv, stage: Stage, steps: int, lam: float) -> Data:
    gamma = FROZENLAKE.settings.gamma
    actor = moments(env, stage, steps=steps, gamma=gamma, lam=lam).actor
    size = float(actor.reference @ actor.reference)
    return {
        "steps": steps,
        "lambda": lam,
        "cosine": exact_number(actor.cosine),
        "relative_bias": exact_number(actor.bias.squared / size),
    }


def _gaps(layouts: Sequence[Data]) -> Data:
    known = {(one["steps"], one["lambda"]): one["relative_bias"]["value"] for one in layouts}
    return {
        str(lam): exact_number(known[_EXACT_STEPS[0], lam] - known[_EXACT_STEPS[-1], lam])
        for lam in LAMBDAS
    }


GRADIENTS = ("actor", "critic")
SOURCES = ("sampling", "own_step", "credit", "coupling")
_KEPT = (*SOURCES, "environment", "policy", "variance")
_SOURCES_EXACT_STEPS = (4, 16, 64, 256)
_CLONED_STEPS = (4, 16, 64)


def measure_sources(context: Context) -> Data:
    """Measure the sources of noise by layout: exact on FrozenLake, by cloning elsewhere."""
    envs = [
        _sources_calculated(context),
        *(_cloned(context, task) for task in context.pick(_TASKS[:1], _TASKS)),
    ]
    return {"batch": BATCH, "envs": envs, "lambdas": _by_lambda(context)}


def _sources_calculated(context: Context) -> Data:
    env, stages = frozenlake_critics(context)
    layouts = []
    for steps in _SOURCES_EXACT_STEPS:
        gamma, lam = FROZENLAKE.settings.gamma, LAMBDAS[0]
        calculated = exact_sources(env, stages["middle"], steps=steps, gamma=gamma, lam=lam)
        envs = BATCH // steps
        own = {
            g: {name: exact_number(getattr(getattr(calculated, g), name) / envs) for name in _KEPT}
            for g in GRADIENTS
        }
        layouts.append({"envs": envs, "steps": steps, **own})
        context.progress("FrozenLake8x8, exact sources", len(layouts), len(_SOURCES_EXACT_STEPS))
    return {"env": FROZENLAKE.name, "method": "exact", "layouts": layouts, **_ratios(layouts)}


def _cloned(context: Context, task: Task) -> Data:
    updates = tuple(task.stages.values())
    training = context.trained(task.env, TRAINED, stages=updates, settings=task.settings)
    stage = training.at(task.stages["middle"])
    steps = context.pick(_CLONED_STEPS[:-1], _CLONED_STEPS)
    request = make_request(
        stage.facts, batch=BATCH, steps=steps, advantages="raw", seed=context.seed
    )
    raw = AdvantageScale(np.zeros((len(steps), 1)), np.ones((len(steps), 1)), 0.0, 0.0, 1.0)
    frozen_policy = FrozenStage(training.env, stage)
    cloned = sources_of(frozen_policy, request, steps, raw, context.saying(task.name))
    layouts = [
        {
            "envs": one["envs"],
            "steps": one["steps"],
            **{g: {name: one[g][name] for name in _KEPT} for g in GRADIENTS},
        }
        for one in cloned["layouts"]
    ]
    return {"env": task.name, "method": "cloning", "layouts": layouts, **_ratios(layouts)}


def _ratios(layouts: list[Data]) -> Data:
    """Compare each source at the longest rollout with the same at the most envs."""
    many, long = layouts[0], layouts[-1]
    ratios = {}
    for g in GRADIENTS:
        ratios[g] = {
            name: _ratio(_estimate(long[g][name]), _estimate(many[g][name])) for name in SOURCES
        }
        ratios[g]["luck"] = _ratio(_trajectory_noise(long[g]), _trajectory_noise(many[g]))
    return {"long_over_many": ratios}


def _estimate(number: Data) -> Estimate:
    return Estimate(number["value"], number["low"], number["high"], 0)


def _trajectory_noise(sources: Data) -> Estimate:
    """Return the noise of the advantages from env and policy, as if fully correlated."""
    return added(_estimate(sources["environment"]), _estimate(sources["policy"]), 1.0)


def _ratio(top: Estimate, below: Estimate) -> Data:
    if top.value is None or below.low is None or below.low <= 0:
        return undetermined("what it would be divided by may be 0", 0).as_dict()
    return divided(top, below, 0.0).as_dict()


def _by_lambda(context: Context) -> list[Data]:
    """Return credit-assignment noise on FrozenLake by lambda, as a share of that at lambda 1."""
    env, stages = frozenlake_critics(context)
    gamma = FROZENLAKE.settings.gamma
    rows: list[Data] = []
    for steps in _SOURCES_EXACT_STEPS[1:3]:
        by_lambda: dict[float, Any] = {
            lam: exact_sources(env, stages["middle"], steps=steps, gamma=gamma, lam=lam).actor
            for lam in sorted(LAMBDAS)
        }
        most = by_lambda[1.0]
        rows += [
            {
                "steps": steps,
                "lambda": lam,
                "credit": exact_number(one.credit / most.credit),
                "variance": exact_number(one.variance / most.variance),
            }
            for lam, one in by_lambda.items()
        ]
    return rows


EXPERIMENTS = (
    Experiment("critics", "critics from untrained to right", measure_critics),
    Experiment("sources", "sources of noise", measure_sources),
)
