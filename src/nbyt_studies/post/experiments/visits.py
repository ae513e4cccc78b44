"""Visited states, the policy and its weights from update to update, and clipping."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from nbyt import exact as oracle
from nbyt.envs.tabular import TabularEnv
from nbyt.layout import Layout
from nbyt.policy.actor_critic import Stage
from nbyt.results.values import Data
from nbyt.stats import mean
from nbyt.training.plan import PPOSettings
from nbyt_studies.comparisons import energy_kernel, energy_of
from nbyt_studies.experiment import Context, Experiment, Training
from nbyt_studies.measure.updates import actor_step, policy_divergence, visited
from nbyt_studies.numbers import exact_number, shortened

SEEDS = (3, 5)
CHAINS = (128, 256)
POINTS, APART = 8, 25


@dataclass(frozen=True)
class Run:
    """A training, and the updates after which it is measured: quick and full."""

    name: str
    env: str
    layout: Layout
    settings: PPOSettings
    at: tuple[tuple[int, ...], tuple[int, ...]]


_DEEP = Layout(16, 128, 64, 10)
_LONG = ((1, 3, 5, 28, 35, 40), (1, 3, 6, 10, 15, 20, 30, 41, 50, 60))
RUNS = (
    Run(
        "lake",
        "tabular:FrozenLake8x8-v1",
        Layout(16, 128, 256, 4),
        PPOSettings(learning_rate=0.02),
        ((1, 10, 20, 134, 166, 200), (1, 4, 10, 20, 40, 70, 100, 134, 166, 200)),
    ),
    Run("cartpole", "gymnax:CartPole-v1", _DEEP, PPOSettings(), _LONG),
    Run("pendulum", "gymnax:Pendulum-v1", _DEEP, PPOSettings(learning_rate=1e-3, gamma=0.9), _LONG),
)


def training_of(context: Context, run: Run, seed: int) -> Training:
    """Train the run with stages before and after each of its updates."""
    at = context.pick(*run.at)
    stages = tuple(sorted({*at, *(u + 1 for u in at)}))
    return context.trained(run.env, run.layout, stages=stages, settings=run.settings, seed=seed)


def early(update: int, updates: int) -> bool:
    """Return whether an update is in the first eighth of its run."""
    return update <= updates / 8


def late(update: int, updates: int) -> bool:
    """Return whether an update is in the last third of its run."""
    return update >= 2 * updates / 3


def run_one(context: Context, run: Run) -> Data:
    """Measure distances of what is visited, divergences of policies and steps, for each seed.

    The first seed is measured along the whole run, the others only early and late.
    """
    at, seeds = context.pick(*run.at), context.pick(*SEEDS)
    updates = max(at) + 1
    ends = tuple(u for u in at if early(u, updates) or late(u, updates))
    numbers: dict[str, Any] = {"seeds": []}
    for seed in range(seeds):
        training = training_of(context, run, seed)
        measure = _table if isinstance(training.env, TabularEnv) else _sampled
        some = at if seed == 0 else ends
        numbers["seeds"].append({"at": list(some), **measure(context, training, some, seed)})
        if seed == 0:
            numbers["returns"] = _returns(training)
    return {
        "env": run.env,
        "layout": f"{run.layout.envs} x {run.layout.steps}",
        "updates": updates,
        "early": [u for u in at if early(u, updates)],
        "late": [u for u in at if late(u, updates)],
        **numbers,
    }


def run_lake(context: Context) -> Data:
    """Measure what is visited on FrozenLake."""
    return run_one(context, RUNS[0])


def run_cartpole(context: Context) -> Data:
    """Measure what is visited on CartPole."""
    return run_one(context, RUNS[1])


def run_pendulum(context: Context) -> Data:
    """Measure what is visited on Pendulum."""
    return run_one(context, RUNS[2])


def _table(context: Context, training: Training, at: tuple[int, ...], seed: int) -> Data:
    """Calculate everything exactly; the first seed's distributions are kept as maps."""
    env: Any = training.env
    states = np.arange(len(env.start))
    laws: list[Any] = []
    rows: list[tuple[Data | None, ...]] = []
    for u in at:
        pair = training.at(u), training.at(u + 1)
        law, after = (oracle.visits(env, one) for one in pair)
        laws.append(shortened(law))
        moved = float(law @ policy_divergence(*pair, states))
        distance = exact_number(0.5 * np.abs(law - after).sum())
        rows.append((distance, exact_number(0.0), exact_number(moved), _length(*pair)))
        context.progress(f"laws of FrozenLake, seed {seed}", len(rows), len(at))
    return {**_columns(rows), **({"maps": laws} if seed == 0 else {})}


def _sampled(context: Context, training: Training, at: tuple[int, ...], seed: int) -> Data:
    """Estimate energy distances of observations, and their floor: two pools of one policy."""
    pools = {}
    updates = training.rows[-1]["update"]
    for u in at:
        floored = seed == 0 or early(u, updates)
        pools[u] = _pools(context, training, u, seed, 3 if floored else 2)
        context.progress(f"pools of {training.env.id}, seed {seed}", len(pools), len(at))
    every = np.concatenate([part.reshape(-1, part.shape[-1]) for p in pools.values() for part in p])
    scale = every.std(axis=0) + 1e-8
    rows: list[tuple[Data | None, ...]] = []
    for u, (before, *others) in pools.items():
        pair = training.at(u), training.at(u + 1)
        distance, *floor = (
            energy_of(energy_kernel(before / scale, other / scale)).as_dict() for other in others
        )
        moved = mean(policy_divergence(*pair, before).mean(axis=1)).as_dict()
        rows.append((distance, floor[0] if floor else None, moved, _length(*pair)))
        context.progress(f"distances of {training.env.id}, seed {seed}", len(rows), len(at))
    return _columns(rows)


def _pools(
    context: Context, training: Training, update: int, seed: int, count: int
) -> list[Float[np.ndarray, "n k d"]]:
    """Collect observations before and after the update with the same seed, and before with
    another.
    """
    sizes = {"chains": context.pick(*CHAINS), "points": POINTS, "apart": APART}
    first = 2 * (context.seed + seed)
    before, after = training.at(update), training.at(update + 1)
    wanted = ((before, first), (after, first), (before, first + 1))
    return [visited(training.env, stage, **sizes, seed=own) for stage, own in wanted[:count]]


def _length(before: Stage, after: Stage) -> Data:
    return exact_number(float(np.linalg.norm(actor_step(before, after))))


def _columns(rows: list[tuple[Data | None, ...]]) -> Data:
    return {
        name: [row[place] for row in rows]
        for place, name in enumerate(("distance", "floor", "divergence", "step"))
    }


def _returns(training: Training) -> Data:
    kept = [row for row in training.rows if row["mean_return"] is not None]
    return {
        "update": [row["update"] for row in kept],
        "value": shortened(row["mean_return"] for row in kept),
    }


CLIPPING_CHAINS, CLIPPING_POINTS, CLIPPING_APART = 64, 8, 25
# No probability ratio leaves 1 as far as this: nothing is ever clipped.
_NEVER = 1e6


def run(context: Context) -> Data:
    """Measure KL between the policies before and after some early updates, seed by seed."""
    rows_by_env = []
    seeds = context.pick(*SEEDS)
    for run in RUNS[1:]:
        at = context.pick(*run.at)
        at = tuple(u for u in at if early(u, max(at) + 1))
        rows = []
        for seed in range(seeds):
            clipped, free = training_of(context, run, seed), _free(context, run, at, seed)
            rows.append({"with": _one(context, clipped, at), "without": _one(context, free, at)})
            context.progress(f"comparing {run.env}", seed + 1, seeds)
        rows_by_env.append(
            {"env": run.env, "at": list(at), "clip": run.settings.clip, "seeds": rows}
        )
    return {"envs": rows_by_env}


def _free(context: Context, run: Run, at: tuple[int, ...], seed: int) -> Training:
    settings = replace(run.settings, clip=_NEVER)
    return training_of(context, replace(run, settings=settings, at=(at, at)), seed)


def _one(context: Context, training: Training, at: tuple[int, ...]) -> Data:
    divergences = []
    for u in at:
        before, after = training.at(u), training.at(u + 1)
        sizes = {"chains": CLIPPING_CHAINS, "points": CLIPPING_POINTS, "apart": CLIPPING_APART}
        states = visited(training.env, before, **sizes, seed=context.seed + u)
        divergences.append(float(policy_divergence(before, after, states).mean()))
    own = [row["approximate_kl"] for row in training.rows[: max(at) + 1]]
    fractions = [row["clip_fraction"] for row in training.rows[: max(at) + 1]]
    return {
        "divergence": shortened(divergences, 6),
        "approximate_kl": shortened(own),
        "clip_fraction": shortened(fractions),
    }


EXPERIMENTS = (
    Experiment("visits-lake", "what FrozenLake8x8-v1 visits from update to update", run_lake),
    Experiment("visits-cartpole", "what CartPole-v1 visits from update to update", run_cartpole),
    Experiment("visits-pendulum", "what Pendulum-v1 visits from update to update", run_pendulum),
    Experiment("clipping", "updates with and without clipping", run),
)
