"""DQN where env, buffer and networks are all on the device: many updates in one program."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from nbyt.collect.device import Row, Runner, advance, start, step_inputs
from nbyt.collect.replay import Replay, empty, read, write
from nbyt.collect.rollout import update_key
from nbyt.envs.protocol import DeviceEnv
from nbyt.objective.dqn import Rates, Seen, Transitions
from nbyt.policy.q_policy import QPolicy, greedy
from nbyt.rng import stream
from nbyt.train.dqn import QLearner, copied, improve
from nbyt.train.dqn_block import Schedule, Tally, nonfinite, row_of, without
from nbyt.train.dqn_settings import DQNSettings
from nbyt.train.hardware import pin_to_device
from nbyt.train.replay_layout import ReplayLayout


class Carried(NamedTuple):
    """All that a run on the device carries: what is learnt, the environments, the buffer."""

    learner: QLearner
    runner: Runner
    replay: Replay


class DeviceReplaySource:
    """N environments, their buffer and the learner, all on the device."""

    def __init__(
        self, env: DeviceEnv, policy: QPolicy, layout: ReplayLayout, learner: QLearner, seed: int
    ) -> None:
        self._env, self._policy, self._layout = env, policy, layout
        self._key = jax.random.key(seed)
        runner = start(env, layout.envs, stream(self._key, "envs"))
        observation = jax.ShapeDtypeStruct(runner.observation.shape[1:], runner.observation.dtype)
        replay = empty(layout.buffer, row_of(observation))
        self._carried = pin_to_device(Carried(learner, runner, replay))

    @property
    def learner(self) -> QLearner:
        """Network, target network and optimiser; gone once the next block is under way."""
        return self._carried.learner

    @property
    def rows(self) -> Transitions:
        """All places of the buffer, written or not."""
        return self._carried.replay.rows

    def block(self, settings: DQNSettings, schedule: Schedule, rates: Rates) -> Tally:
        """What a block of updates showed; numbers may still be on their way."""
        given = (self._env, self._policy, settings, self._layout, self._carried)
        self._carried, tally = _block(*given, schedule, rates, self._key)
        return tally

    def state(self) -> Any:
        """Everything: learner, environments and buffer."""
        return self._carried

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint."""
        self._carried = pin_to_device(state)

    def close(self) -> None:
        """Nothing to release on the device."""


@partial(
    jax.jit, static_argnames=("env", "policy", "settings", "layout"), donate_argnames="carried"
)
def _block(
    env: DeviceEnv,
    policy: QPolicy,
    settings: DQNSettings,
    layout: ReplayLayout,
    carried: Carried,
    schedule: Schedule,
    rates: Rates,
    key: jax.Array,
) -> tuple[Carried, Tally]:
    """What is carried after a block of updates, and what they showed."""
    length = schedule.epsilon.shape[0]
    keys = jax.vmap(partial(update_key, key))(schedule.first + jnp.arange(length))
    draw = partial(step_inputs, policy, steps=layout.steps, envs=layout.envs)
    inputs = jax.vmap(draw)(keys)
    body = partial(_update, env, policy, settings, layout, schedule, rates, inputs)
    return jax.lax.fori_loop(0, schedule.count, body, (carried, _blank()))


def _update(
    env: DeviceEnv,
    policy: QPolicy,
    settings: DQNSettings,
    layout: ReplayLayout,
    schedule: Schedule,
    rates: Rates,
    inputs: Any,
    place: jax.Array,
    carried: tuple[Carried, Tally],
) -> tuple[Carried, Tally]:
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
    return Carried(learner, runner, replay), tally


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
