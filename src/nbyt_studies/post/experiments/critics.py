"""Bias against T and the critic, sources of noise, and how good advantages are."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import softmax

from nbyt.collect.pool import Pool
from nbyt.envs import tabular
from nbyt.envs.tabular import TabularEnv
from nbyt.exact import moments
from nbyt.exact import sources as exact_sources
from nbyt.exact.values import policy_values
from nbyt.gradients.clones import cost
from nbyt.gradients.sources import measure_sources as cloned_sources
from nbyt.gradients.spec import fragment_advantages
from nbyt.measure.measurement import Measurement
from nbyt.measure.probe import probe
from nbyt.policy.actor_critic import Stage
from nbyt.results.values import Data
from nbyt.stats.ranking import Candidate
from nbyt_studies.comparisons import training_numbers
from nbyt_studies.experiment import Context, Experiment, Training
from nbyt_studies.measure.batches import collect_batches
from nbyt_studies.measure.starts import advantage_quality
from nbyt_studies.post.experiments.layouts import (
    BATCH,
    CARTPOLE,
    FROZENLAKE,
    PENDULUM,
    TRAINED,
    Task,
    trainings,
    without_limit,
)

# The first is trained with.
LAMBDAS = (0.95, 1.0)
CRITICS = ("untrained", "middle")
_TASKS = (CARTPOLE, PENDULUM)
_STEPS = (2, 8, 64, 512)
_EXACT_STEPS = (2, 8, 64)
_CHAINS = (24, 64)


def measure_critics(context: Context) -> Data:
    """Measure the bias of each training's middle policy with two critics; FrozenLake's exactly."""
    tasks = context.pick(_TASKS[:1], _TASKS)
    return {"batch": BATCH, "envs": [*(_measured(context, t) for t in tasks), _calculated(context)]}


def _critics(context: Context, task: Task) -> Iterator[tuple[int, Stage, dict[str, Stage]]]:
    """Yield each training's middle stage, alone and with the untrained critic in place of its."""
    for seed, training in trainings(context, task):
        stage = training.at(task.stages["middle"])
        untrained = context.untrained(task.env, TRAINED, task.settings, seed).params.critic
        other = replace(stage, params=stage.params._replace(critic=untrained))
        yield seed, stage, dict(zip(CRITICS, (other, stage), strict=True))


def _measured(context: Context, task: Task) -> Data:
    """Probe each policy with one critic after the other, on the same chains."""
    rows = []
    for seed, _, stages in _critics(context, task):
        critics = []
        for name, one in stages.items():
            what = f"{task.name}, training {seed}, {name} critic"
            measured = _probe(context, task, one, _STEPS, LAMBDAS, what)
            layouts = [_bias(measured, steps, lam) for steps in _STEPS for lam in LAMBDAS]
            critics.append({"critic": name, "layouts": layouts})
        returned = measured.mean_return.value
        rows.append({"seed": seed, "mean_return": returned, "critics": critics})
    return {"env": task.name, "method": "measured", "trainings": rows}


def _probe(
    context: Context,
    task: Task,
    stage: Stage,
    steps: Sequence[int],
    lambdas: Sequence[float],
    what: str,
) -> Measurement:
    return probe(
        task.env,
        stage,
        batch=BATCH,
        steps=steps,
        lam=lambdas,
        chains=context.pick(*_CHAINS),
        seed=context.seed,
        advantages="raw",
        phase=False,
        progress=context.saying(what),
    )


def _numbers(measured: Measurement, steps: int, lam: float) -> Data:
    return training_numbers(Candidate(measured.products["actor", steps, lam], BATCH // steps))


def _bias(measured: Measurement, steps: int, lam: float) -> Data:
    cosine = measured.layout(steps=steps, lam=lam).actor.cosine.value
    bias = _numbers(measured, steps, lam)["relative_bias"]
    return {"steps": steps, "lambda": lam, "cosine": cosine, "relative_bias": bias}


def without_time_limit(stage: Stage) -> tuple[TabularEnv, Stage]:
    """Return FrozenLake without its limit, and the stage with the right critic."""
    table = tabular.find(FROZENLAKE.name)
    assert table is not None, "Gymnasium has FrozenLake"
    env = without_limit(table)
    law = softmax(np.asarray(stage.params.actor["logits"], float), axis=1)
    values = jnp.asarray(policy_values(env, law, FROZENLAKE.settings.gamma).state)
    return env, Stage(stage.policy, stage.params._replace(critic={"values": values}), {})


def _calculated(context: Context) -> Data:
    rows = []
    for seed, stage, stages in _critics(context, FROZENLAKE):
        env, right = without_time_limit(stage)
        critics = []
        for name, one in {**stages, "right": right}.items():
            layouts = [
                exact_bias(env, one, steps, lam) for steps in _EXACT_STEPS for lam in LAMBDAS
            ]
            critics.append({"critic": name, "layouts": layouts})
        rows.append({"seed": seed, "mean_return": _returned(stage), "critics": critics})
        context.progress("FrozenLake8x8, exact bias", len(rows), len(rows))
    return {"env": FROZENLAKE.name, "method": "exact", "trainings": rows}


def exact_bias(env: TabularEnv, stage: Stage, steps: int, lam: float) -> Data:
    """Return cosine and relative bias on a table."""
    actor = moments(env, stage, steps=steps, gamma=FROZENLAKE.settings.gamma, lam=lam).actor
    size = float(actor.reference @ actor.reference)
    bias = actor.bias.squared / size
    return {"steps": steps, "lambda": lam, "cosine": actor.cosine, "relative_bias": bias}


def _returned(stage: Stage) -> float | None:
    returned = stage.facts["mean_return"]
    return None if returned is None else float(returned)


GRADIENTS = ("actor", "critic")
_SOURCES = ("sampling", "own_step", "credit", "environment", "policy", "variance")
_SOURCES_EXACT_STEPS = (4, 16, 64)
_CLONED_STEPS = (4, 16, 64)
# Env steps that the clones of one training and one T may take.
_CLONED_COST = 1_600_000
_LEAST_ROLLOUTS, _MOST_ROLLOUTS = 64, 2048


def measure_sources(context: Context) -> Data:
    """Measure the sources of noise of each training: exact on FrozenLake, by cloning elsewhere."""
    tasks = context.pick(_TASKS[:1], _TASKS)
    envs = [_sources_calculated(context), *(_cloned(context, task) for task in tasks)]
    return {"batch": BATCH, "envs": envs}


def _sources_calculated(context: Context) -> Data:
    settings = FROZENLAKE.settings
    options: Any = {"gamma": settings.gamma, "lam": settings.lam}
    rows = []
    for seed, training in trainings(context, FROZENLAKE):
        stage = training.at(FROZENLAKE.stages["middle"])
        env, _ = without_time_limit(stage)
        layouts = []
        for steps in _SOURCES_EXACT_STEPS:
            found = exact_sources(env, stage, steps=steps, **options)
            actor = moments(env, stage, steps=steps, **options).actor
            along = float(actor.mean @ actor.reference)
            progress = along * abs(along) / float(actor.reference @ actor.reference)
            own = {
                g: {name: float(getattr(getattr(found, g), name)) for name in _SOURCES}
                for g in GRADIENTS
            }
            layouts.append(_layout(steps, own, progress))
            context.progress(f"FrozenLake8x8, exact sources, training {seed}", len(layouts), 3)
        rows.append({"seed": seed, "mean_return": _returned(stage), "layouts": layouts})
    return {"env": FROZENLAKE.name, "method": "exact", "trainings": rows}


def _layout(steps: int, of_an_env: dict[str, dict[str, float]], progress: float | None) -> Data:
    """Return the sources of a batch's gradient, and the actor's squared progress along G*."""
    envs = BATCH // steps
    by_gradient = {
        g: {name: value / envs for name, value in own.items()} for g, own in of_an_env.items()
    }
    return {"envs": envs, "steps": steps, "progress": progress, **by_gradient}


def _cloned(context: Context, task: Task) -> Data:
    rows = []
    for seed, training in trainings(context, task):
        stage = training.at(task.stages["middle"])
        what = f"{task.name}, training {seed}"
        lambdas = (task.settings.lam,)
        measured = _probe(context, task, stage, _CLONED_STEPS, lambdas, what)
        layouts = [
            _layout(
                steps,
                _clones_of(context, task, training, stage, steps),
                _numbers(measured, steps, lambdas[0])["progress"],
            )
            for steps in _CLONED_STEPS
        ]
        returned = measured.mean_return.value
        rows.append({"seed": seed, "mean_return": returned, "layouts": layouts})
    return {"env": task.name, "method": "cloning", "trainings": rows}


def _clones_of(
    context: Context, task: Task, training: Training, stage: Stage, steps: int
) -> dict[str, dict[str, float]]:
    rollouts = min(_MOST_ROLLOUTS, context.pick(_CLONED_COST // 4, _CLONED_COST) // cost(steps, 1))
    found = cloned_sources(
        training.env,
        stage.policy,
        stage.params,
        steps=steps,
        gamma=task.settings.gamma,
        lam=task.settings.lam,
        rollouts=max(_LEAST_ROLLOUTS, rollouts),
        seed=context.seed,
        reward_scale=stage.facts.get("reward_scale"),
    )
    by_gradient = {g: found[g].over(1).as_dict() for g in GRADIENTS}
    return {g: {name: own[name]["value"] for name in _SOURCES} for g, own in by_gradient.items()}


_QUALITY_STEPS = (8, 64, 512)
_QUALITY_LAMBDAS = (0.0, 0.9, 0.95, 1.0)
_QUALITY_STARTS = (512, 2048)
_QUALITY_STAGES = ("early", "middle")


def measure_advantages(context: Context) -> Data:
    """Measure how estimated advantages correlate with true ones, by T and lambda."""
    rows = []
    for task in (FROZENLAKE, *_TASKS):
        for seed, training in trainings(context, task):
            for name in _QUALITY_STAGES:
                context.progress(f"{task.name}, {name} stage", seed, seed + 1)
                found = _quality(context, task, training, training.at(task.stages[name]))
                rows.append({"env": task.name, "stage": name, "seed": seed, "rows": found})
    return {"rows": rows}


def _quality(context: Context, task: Task, training: Training, stage: Stage) -> list[Data]:
    starts, gamma = context.pick(*_QUALITY_STARTS), task.settings.gamma
    longest = max(_QUALITY_STEPS)
    if isinstance(training.env, TabularEnv):
        # Rewards are too rare for rollouts to show what is true; the table says it.
        env, _ = without_time_limit(stage)
        law = softmax(np.asarray(stage.params.actor["logits"], float), axis=1)
        values = policy_values(env, law, gamma)
        (pool,) = collect_batches(env, stage, [(1, longest)], batches=starts, seed=context.seed)
        true = (values.action - values.state[:, None])[pool.observation, pool.action]
        return known_quality(pool, true, _QUALITY_STEPS, _QUALITY_LAMBDAS, gamma)
    return advantage_quality(
        training.env,  # type: ignore[arg-type]
        stage,
        starts=starts,
        horizon=longest,
        steps=_QUALITY_STEPS,
        lambdas=_QUALITY_LAMBDAS,
        gamma=gamma,
        seed=context.seed,
    )


def known_quality(
    pool: Pool,
    true: Float[np.ndarray, "T n"],
    lengths: Sequence[int],
    lambdas: Sequence[float],
    gamma: float,
) -> list[Data]:
    """Return the moments of `advantage_quality` where every true advantage is known."""
    rows = []
    for steps in lengths:
        for lam in lambdas:
            made = fragment_advantages(pool, gamma, lam, steps, pool.steps)
            covariance = float(np.mean((made - made.mean()) * true))
            moments = {"covariance": covariance, "variance": float(made.var())}
            rows.append(
                {"steps": steps, "lambda": lam, **moments, "truth": float(np.mean(true**2))}
            )
    return rows


EXPERIMENTS = (
    Experiment("critics", "bias with two critics", measure_critics),
    Experiment("sources", "sources of noise", measure_sources),
    Experiment("advantages", "estimated and true advantages", measure_advantages),
)
