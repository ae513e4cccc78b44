"""DQN where env, buffer and networks are all on the device: many updates in one program."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from nbyt.collect.device import Row, Runner, advance, start, step_inputs
from nbyt.collect.replay import Replay, empty, read, write
from nbyt.collect.rollout import update_key
from nbyt.envs.protocol import DeviceEnv
from nbyt.objective.dqn import Rates, Seen, Transitions
from nbyt.policy.q_policy import QPolicy, greedy
from nbyt.rng import stream
from nbyt.train.dqn import QLearner, copied, improve
from nbyt.train.dqn_settings import DQNSettings
from nbyt.train.replay_layout import ReplayLayout


class World(NamedTuple):
    """All that a run on the device carries: what is learnt, the environments, the buffer."""

    learner: QLearner
    runner: Runner
    replay: Replay


class Schedule(NamedTuple):
    """What is known beforehand of a block of B updates; only the first `count` are made."""

    first: Int[Any, ""]
    count: Int[Any, ""]
    epsilon: Float[Any, " B"]
    learning_rate: Float[Any, " B"]
    learns: Bool[Any, " B"]
    copies: Bool[Any, " B"]
    places: Int[Any, "B gradient_steps minibatch"]


class Tally(NamedTuple):
    """What a block's updates showed, summed up.

    fault: the first row of the block (update, then t * N + n) with a number that is not finite, or
    -1, and its action. dropped: rows left out for that.
    """

    episodes: jax.Array
    returns: jax.Array
    lengths: jax.Array
    learning: jax.Array
    seen: Seen
    fault: jax.Array
    fault_action: jax.Array
    dropped: jax.Array


def begin(env: DeviceEnv, layout: ReplayLayout, learner: QLearner, key: jax.Array) -> World:
    """The world before its first step."""
    runner = start(env, layout.envs, stream(key, "envs"))
    observation = jax.ShapeDtypeStruct(runner.observation.shape[1:], runner.observation.dtype)
    return World(learner, runner, empty(layout.buffer, row_of(observation)))


def row_of(observation: Any) -> Transitions:
    """The shapes of one transition, given those of an observation."""
    number: Any = partial(jax.ShapeDtypeStruct, ())
    flag = number(jnp.bool_)
    return Transitions(observation, number(jnp.int32), number(jnp.float32), flag, observation, flag)


@partial(jax.jit, static_argnames=("env", "policy", "settings", "layout"), donate_argnames="world")
def block(
    env: DeviceEnv,
    policy: QPolicy,
    settings: DQNSettings,
    layout: ReplayLayout,
    world: World,
    schedule: Schedule,
    rates: Rates,
    key: jax.Array,
) -> tuple[World, Tally]:
    """The world after a block of updates, and what they showed."""
    length = schedule.epsilon.shape[0]
    keys = jax.vmap(partial(update_key, key))(schedule.first + jnp.arange(length))
    draw = partial(step_inputs, policy, steps=layout.steps, envs=layout.envs)
    inputs = jax.vmap(draw)(keys)
    body = partial(_update, env, policy, settings, layout, schedule, rates, inputs)
    return jax.lax.fori_loop(0, schedule.count, body, (world, _blank()))


def _update(
    env: DeviceEnv,
    policy: QPolicy,
    settings: DQNSettings,
    layout: ReplayLayout,
    schedule: Schedule,
    rates: Rates,
    inputs: Any,
    place: jax.Array,
    carried: tuple[World, Tally],
) -> tuple[World, Tally]:
    (learner, runner, replay), tally = carried
    acting = greedy(learner.weights, schedule.epsilon[place])
    own = jax.tree.map(lambda x: x[place], inputs)
    step = partial(_step, env, policy, acting)
    runner, (rows, fresh) = jax.lax.scan(step, runner, own)
    fresh = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), fresh)
    bad = nonfinite(fresh)
    if settings.on_nonfinite == "drop":
        fresh = without(fresh, bad)
    replay = write(replay, fresh, (schedule.first - 1 + place) * layout.fresh)
    learner = copied(learner, rates.target_mix * schedule.copies[place])
    # Read here and not inside the condition, which would have to hand the whole buffer on.
    minibatches = read(replay, schedule.places[place])
    rates = rates._replace(learning_rate=schedule.learning_rate[place])
    learner, seen = jax.lax.cond(
        schedule.learns[place],
        lambda: improve(policy, settings, learner, minibatches, rates),
        lambda: (learner, _unseen()),
    )
    tally = _add(tally, rows, fresh, bad, seen, schedule.learns[place], place * layout.fresh)
    return World(learner, runner, replay), tally


def _step(
    env: DeviceEnv, policy: QPolicy, acting: Any, runner: Runner, inputs: Any
) -> tuple[Runner, tuple[Row, Transitions]]:
    before = runner.observation
    runner, row = advance(env, policy, acting, runner, inputs)
    # Without a time limit only deaths end episodes, and nobody looks at what comes after a death.
    after = row.final_observation if env.time_limit else runner.observation
    alive = jnp.ones_like(row.terminated)
    rows = Transitions(before, row.action, row.reward, row.terminated, after, alive)
    return runner, (row, rows)


def nonfinite(rows: Transitions) -> Bool[Array, " rows"]:
    """Rows of experience with a reward or an observation that is not finite."""
    fine = jnp.isfinite(rows.reward)
    if jnp.issubdtype(rows.observation.dtype, jnp.floating):
        axes = tuple(range(1, rows.observation.ndim))
        for seen in (rows.observation, rows.next_observation):
            fine &= jnp.isfinite(seen).all(axis=axes)
    return ~fine & rows.valid


def without(rows: Transitions, bad: Bool[Array, " rows"]) -> Transitions:
    """The rows, bad ones made harmless and marked as no experience."""
    clean = jax.tree.map(lambda x: jnp.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0), rows)
    return clean._replace(valid=rows.valid & ~bad)


def _blank() -> Tally:
    zero = jnp.float32(0)
    return Tally(zero, zero, zero, zero, _unseen(), jnp.int32(-1), jnp.int32(0), zero)


def _unseen() -> Seen:
    return Seen(*(jnp.float32(0),) * 3)


def _add(
    tally: Tally,
    rows: Row,
    fresh: Transitions,
    bad: jax.Array,
    seen: Seen,
    learns: jax.Array,
    before: jax.Array,
) -> Tally:
    ended = (rows.terminated | rows.truncated).sum()
    first = jnp.argmax(bad)
    new = bad.any() & (tally.fault < 0)
    return Tally(
        tally.episodes + ended,
        tally.returns + rows.finished_return.sum(),
        tally.lengths + rows.finished_length.sum(),
        tally.learning + learns,
        jax.tree.map(jnp.add, tally.seen, seen),
        jnp.where(new, before + first, tally.fault).astype(jnp.int32),
        jnp.where(new, fresh.action[first], tally.fault_action),
        tally.dropped + bad.sum(),
    )
