"""One frozen policy with critics from untrained to right: bias against T and lambda."""

from collections.abc import Sequence
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from scipy.special import softmax

from nbyt.envs import tabular
from nbyt.envs.tabular import TabularEnv
from nbyt.exact import moments
from nbyt.exact.values import policy_values
from nbyt.measure.measurement import Measurement
from nbyt.measure.probing import probe
from nbyt.policy.stage import Stage
from nbyt.results.values import Data
from nbyt.stats.comparison import Candidate
from nbyt.stats.paired import bias_gap, relative_bias
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import exact
from nbyt.studies.post.experiments.tasks import (
    BATCH,
    CARTPOLE,
    FROZENLAKE,
    PENDULUM,
    TRAINED,
    Task,
    without_limit,
)
from nbyt.studies.study import Experiment

# The first is trained with.
LAMBDAS = (0.95, 0.0, 0.9, 1.0)
_STEPS = (2, 8, 32, 128, 512)
_EXACT_STEPS = (2, 8, 32, 128)
_TASKS = (CARTPOLE, PENDULUM)
_CHAINS = (32, 128)


def measure_critics(bench: Bench) -> Data:
    """Bias of the middle policy with every critic, measured; on FrozenLake, calculated."""
    return {
        "batch": BATCH,
        "lambdas": list(LAMBDAS),
        "measured": [_measured(bench, task) for task in bench.pick(_TASKS[:1], _TASKS)],
        "exact": _calculated(bench),
    }


def _stages(bench: Bench, task: Task) -> tuple[Stage, dict[str, Stage]]:
    """The middle stage, and stages by how far their critic was trained."""
    updates = tuple(task.stages.values())
    training = bench.trained(task.env, TRAINED, stages=updates, settings=task.settings)
    critics = {"untrained": bench.untrained(task.env, TRAINED, task.settings)}
    critics |= {name: training.at(number) for name, number in task.stages.items()}
    return critics["middle"], critics


def _measured(bench: Bench, task: Task) -> Data:
    """Probes of one policy with one critic after the other, on the same chains."""
    stage, critics = _stages(bench, task)
    steps = bench.pick(_STEPS[:-1], _STEPS)
    names = bench.pick(("untrained", "late"), tuple(critics))
    found: dict[str, Measurement] = {}
    for name in names:
        params = stage.params._replace(critic=critics[name].params.critic)
        found[name] = probe(
            task.env,
            replace(stage, params=params),
            batch=BATCH,
            steps=steps,
            lam=LAMBDAS,
            chains=bench.pick(*_CHAINS),
            seed=bench.seed,
            advantages="raw",
            phase=False,
            progress=bench.saying(f"{task.name}, {name} critic"),
        )
    first, last = names[0], names[-1]
    return {
        "env": task.name,
        "critics": [_bias(name, one) for name, one in found.items()],
        "better_critic": [
            {
                "steps": length,
                "lambda": lam,
                "worst_less_best": bias_gap(
                    _candidate(found[first], length, lam), _candidate(found[last], length, lam)
                ).as_dict(),
            }
            for length in steps
            for lam in LAMBDAS
        ],
    }


def _candidate(measured: Measurement, steps: int, lam: float) -> Candidate:
    return Candidate(measured.products["actor", steps, lam], BATCH // steps)


def _bias(name: str, measured: Measurement) -> Data:
    """Cosine and relative bias at every T and lambda, and the shortest T less the longest."""
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


def frozenlake_critics(bench: Bench) -> tuple[TabularEnv, dict[str, Stage]]:
    """FrozenLake's middle policy with every critic, the right one among them."""
    stage, critics = _stages(bench, FROZENLAKE)
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


def _calculated(bench: Bench) -> Data:
    env, stages = frozenlake_critics(bench)
    bench.progress("FrozenLake8x8, exact bias", 0, len(stages))
    found = []
    for number, (name, stage) in enumerate(stages.items(), start=1):
        layouts = [_exact_bias(env, stage, steps, lam) for steps in _EXACT_STEPS for lam in LAMBDAS]
        found.append({"critic": name, "layouts": layouts, "short_less_long": _gaps(layouts)})
        bench.progress("FrozenLake8x8, exact bias", number, len(stages))
    return {"env": FROZENLAKE.name, "critics": found}


def _exact_bias(env: TabularEnv, stage: Stage, steps: int, lam: float) -> Data:
    gamma = FROZENLAKE.settings.gamma
    found = moments(env, stage, steps=steps, gamma=gamma, lam=lam).actor
    size = float(found.reference @ found.reference)
    return {
        "steps": steps,
        "lambda": lam,
        "cosine": exact(found.cosine),
        "relative_bias": exact(found.bias.squared / size),
    }


def _gaps(layouts: Sequence[Data]) -> Data:
    """The bias of the shortest T less that of the longest, at each lambda."""
    known = {(one["steps"], one["lambda"]): one["relative_bias"]["value"] for one in layouts}
    return {
        str(lam): exact(known[_EXACT_STEPS[0], lam] - known[_EXACT_STEPS[-1], lam])
        for lam in LAMBDAS
    }


EXPERIMENTS = (Experiment("critics", "critics from untrained to right", measure_critics),)
