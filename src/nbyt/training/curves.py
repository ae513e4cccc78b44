"""Learning curves: how good the policy was at a few moments of its training.

Of one training at a time, or of many seeds in one compiled program.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.sharding import Mesh

from nbyt.collect.device import Runner, each_seed, mesh_for, spread
from nbyt.collect.evaluate import (
    DEVICE_EPISODES,
    Evaluation,
    SeedEpisodes,
    episode_returns,
    play_seeds,
)
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import EnvError, NbytError
from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.policy.actor_critic import ActorCritic
from nbyt.rng import numpy_stream, stream
from nbyt.training.algorithms.ppo import initial_learner, learn, ppo_row, rate_of
from nbyt.training.algorithms.registry import UpdateMetrics, build_algorithm
from nbyt.training.losses import Coefficients
from nbyt.training.plan import PPOPlan, PPOSettings, RunPlan
from nbyt.training.sources import (
    DeviceSource,
    Learner,
    coefficients_of,
    device_experience,
)


class Curve(NamedTuple):
    """Mean returns of whole episodes of the frozen policy, and the samples used by then.

    Not of the episodes of training itself: with many envs and few updates those are the short
    ones, as the long ones have not ended yet.
    unfinished: episodes, of all that were played, that had to be cut. training: mean returns of
    the training's own episodes that ended since the point before, None where none did.
    """

    samples: tuple[int, ...]
    returns: tuple[float, ...]
    unfinished: int
    training: tuple[float | None, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "samples": list(self.samples),
            "returns": list(self.returns),
            "unfinished": self.unfinished,
            "training": list(self.training),
        }


def curve_from(facts: dict[str, Any]) -> Curve:
    """Read the curve that `as_dict` wrote."""
    samples, returns, training = (tuple(facts[key]) for key in ("samples", "returns", "training"))
    return Curve(samples, returns, int(facts["unfinished"]), training)


def train_curve(
    plan: RunPlan[Layout, PPOSettings],
    env: DeviceEnv | HostEnv,
    watch: Callable[[int], None] = lambda updates: None,
    *,
    evaluated: bool = True,
) -> Curve:
    """Train up to the last of the plan's stages, which are the points of the curve.

    watch: called with the number of updates made. evaluated: False for a curve of the training's
    own episodes; if none ended, the last policy plays some.
    """
    algorithm = build_algorithm(plan, env)
    played: list[Evaluation] = []
    counts, sums = [], []
    try:
        for made in algorithm.updates(1):
            row = algorithm.row(made)
            counts.append(row["episodes"])
            sums.append(row["episodes"] * (row["mean_return"] or 0.0))
            watch(made.number)
            last = made.number == plan.stages[-1]
            own = training_returns(plan, counts, sums)
            unknown = last and own.count(None) == len(own)
            if made.number in plan.stages and (evaluated or unknown):
                played.append(episode_returns(env, algorithm.policy, algorithm.params, plan.seed))
            if last:
                break
    finally:
        algorithm.close()
    if evaluated:
        return curve_of(plan, played)._replace(training=own)
    last_played = [float(np.mean(one.returns)) for one in played]
    return Curve(_samples(plan), filled([*own[:-1], *(last_played or own[-1:])]), 0, own)


def filled(returns: Sequence[float | None]) -> tuple[float, ...]:
    """Return a curve without gaps: a point without a value has the one before, or the first."""
    known = [value for value in returns if value is not None]
    found, last = [], known[0]
    for value in returns:
        last = last if value is None else value
        found.append(last)
    return tuple(found)


def untrained_returns(
    plans: Sequence[PPOPlan], env: DeviceEnv | HostEnv, *, episodes: int = DEVICE_EPISODES
) -> list[Evaluation]:
    """Play whole episodes with the policy that each training begins with."""
    learners = [initial_learner(plan, env) for plan in plans]
    policy = learners[0][0]
    if isinstance(env, HostEnv):
        return [
            episode_returns(env, policy, one.params, plan.seed)
            for (_, one), plan in zip(learners, plans, strict=True)
        ]
    mesh = mesh_for(len(plans))
    params = spread([one.params for _, one in learners], mesh)
    play = play_seeds(env, policy, [plan.seed for plan in plans], mesh, episodes=episodes)
    return play(params).evaluations()[: len(plans)]


def curve_of(plan: RunPlan[Layout, PPOSettings], played: list[Evaluation]) -> Curve:
    """Return the curve of evaluations at the plan's stages; raise where a reward was not finite."""
    spoiled = sum(one.spoiled for one in played)
    if spoiled and plan.settings.on_nonfinite == "stop":
        raise EnvError(
            f"env '{plan.env}' gave a reward that is not finite",
            where=f"{spoiled} of the episodes that were played, seed {plan.seed}",
            fix=f"run `nbyt check-env {plan.env}`, or use --on-nonfinite drop",
        )
    returns = tuple(float(np.mean(one.returns)) for one in played)
    return Curve(_samples(plan), returns, sum(one.unfinished for one in played))


def _samples(plan: RunPlan[Layout, PPOSettings]) -> tuple[int, ...]:
    return tuple(number * plan.layout.batch for number in plan.stages)


def training_returns(
    plan: RunPlan[Layout, PPOSettings],
    counts: Sequence[float] | np.ndarray,
    sums: Sequence[float] | np.ndarray,
) -> tuple[float | None, ...]:
    """Return the mean return of the episodes that ended between the points of the curve.

    counts, sums: of every update, its episodes that ended and the sum of their returns.
    """
    means = []
    for first, last in pairwise((0, *plan.stages)):
        ended, total = float(np.sum(counts[first:last])), float(np.sum(sums[first:last]))
        means.append(total / ended if ended and np.isfinite(total) else None)
    return tuple(means)


# Many seeds of one layout, trained by one compiled program. How they share the devices is said in
# `collect/device.py`; each learns the same to the last bit whatever the others are.

# Updates that may be under way before anyone looks whether their numbers are numbers.
_AHEAD = 2
_WATCHED = ("fault", "fault_action", "policy_loss", "value_loss", "episodes", "returns")


class _State(NamedTuple):
    """What seeds carry from update to update, every array stacked."""

    learner: Learner
    runner: Runner
    key: jax.Array


@dataclass
class _Group:
    """The seeds, their evaluations and their failures.

    ended: by update, how many episodes of training ended, and the sum of their returns.
    """

    plans: Sequence[PPOPlan]
    mesh: Mesh
    state: _State
    played: list[SeedEpisodes] = field(default_factory=list)
    failed: dict[int, NbytError] = field(default_factory=dict)
    waiting: deque[tuple[int, dict[str, Any]]] = field(default_factory=deque)
    ended: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)


def train_seeds(
    plans: Sequence[PPOPlan],
    env: DeviceEnv,
    watch: Callable[[int], None] = lambda updates: None,
    *,
    episodes: int = DEVICE_EPISODES,
) -> list[Curve | NbytError]:
    """Return the curve of every plan, or why it failed; the plans differ only in their seeds.

    watch: called with the number of updates that all seeds have made. episodes: played at every
    point of the curve.
    """
    first = plans[0]
    policy, _ = initial_learner(first, env)
    mesh = mesh_for(len(plans))
    group = _Group(plans, mesh, spread([_first_state(plan, env) for plan in plans], mesh))
    play = play_seeds(env, policy, [plan.seed for plan in plans], mesh, episodes=episodes)
    coefficients = coefficients_of(first.settings)
    for number in range(1, first.stages[-1] + 1):
        _advance(env, policy, group, number, coefficients)
        if number in first.stages:
            group.played.append(play(group.state.learner.params))
        watch(number)
    return _outcomes(group)


def _first_state(plan: PPOPlan, env: DeviceEnv) -> _State:
    policy, learner = initial_learner(plan, env)
    source = DeviceSource(env, policy, plan.settings, plan.layout)
    source.begin(learner, plan.seed)
    return _State(learner, source.runner, jax.random.key(plan.seed))


def _advance(
    env: DeviceEnv,
    policy: ActorCritic,
    group: _Group,
    number: int,
    coefficients: Coefficients,
) -> None:
    plan = group.plans[0]
    shuffles = [
        shuffle_and_chop(plan.layout, numpy_stream(own.seed, "minibatch.shuffle", number))
        for own in group.plans
    ]
    group.state, seen = _update(
        env,
        policy,
        plan.settings,
        plan.layout.steps,
        group.mesh,
        group.state,
        spread(shuffles, group.mesh),
        number,
        coefficients,
        rate_of(plan.settings, number, plan.updates),
    )
    group.waiting.append((number, seen))
    _check_losses(group, leave=_AHEAD)


@partial(
    jax.jit,
    static_argnames=("env", "policy", "settings", "steps", "mesh"),
    donate_argnames="state",
)
def _update(
    env: DeviceEnv,
    policy: ActorCritic,
    settings: PPOSettings,
    steps: int,
    mesh: Mesh,
    state: _State,
    shuffles: jax.Array,
    number: jax.Array,
    coefficients: Coefficients,
    rate: jax.Array,
) -> tuple[_State, dict[str, jax.Array]]:
    """Make one update of every seed; return their states and the update's numbers."""

    def one(own: tuple[_State, jax.Array]) -> tuple[_State, dict[str, jax.Array]]:
        (learner, runner, key), indices = own
        runner, gathered = device_experience(
            env,
            policy,
            settings.form,
            steps,
            learner.params,
            runner,
            learner.scale,
            stream(key, "update", number),
            coefficients,
        )
        learner, numbers = learn(
            policy, settings, learner, gathered, indices, coefficients, rate, side_by_side=False
        )
        return _State(learner, runner, key), numbers

    return each_seed(one, (state, shuffles), mesh)


def _check_losses(group: _Group, *, leave: int) -> None:
    """Find the seeds whose env or loss gave a NaN, in all but the last `leave` updates."""
    while len(group.waiting) > leave:
        number, seen = group.waiting.popleft()
        watched = jax.device_get({name: seen[name] for name in _WATCHED})
        group.ended.append((watched["episodes"], watched["returns"]))
        losses = watched["policy_loss"] + watched["value_loss"]
        suspect = (watched["fault"] >= 0) | ~np.isfinite(losses)
        for k, plan in enumerate(group.plans):
            if suspect[k] and k not in group.failed:
                try:
                    ppo_row(
                        plan, UpdateMetrics(number, {name: rows[k] for name, rows in seen.items()})
                    )
                except NbytError as error:
                    group.failed[k] = error


def _outcomes(group: _Group) -> list[Curve | NbytError]:
    _check_losses(group, leave=0)
    points = [watched.evaluations() for watched in group.played]
    counts, sums = (np.array(rows) for rows in zip(*group.ended, strict=True))
    found: list[Curve | NbytError] = []
    for k, plan in enumerate(group.plans):
        try:
            error = group.failed.get(k)
            curve = error or curve_of(plan, [played[k] for played in points])
            if isinstance(curve, Curve):
                curve = curve._replace(training=training_returns(plan, counts[:, k], sums[:, k]))
            found.append(curve)
        except NbytError as spoiled:
            found.append(spoiled)
    return found
