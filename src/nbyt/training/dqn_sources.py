"""Where DQN's experience comes from: envs and a replay buffer, on the host or on the device."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nbyt.collect.device import Row, Runner, advance, start, step_inputs
from nbyt.collect.host import HostQActor, HostRunner, Record, device_kind
from nbyt.collect.replay import HostReplay, Replay, empty, read, write
from nbyt.collect.rollout import Episodes
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.policy.q_policy import QPolicy, greedy
from nbyt.rng import numpy_stream, seeds, stream
from nbyt.training.dqn import (
    DQNSettings,
    QLearner,
    ReplayLayout,
    Schedule,
    Tally,
    copied,
    improve,
    nonfinite,
    rates_of,
    row_of,
    without,
)
from nbyt.training.hardware import pin_to_device
from nbyt.training.losses import Rates, TDNumbers, Transitions


class HostReplaySource:
    """N running host environments and their buffer."""

    def __init__(
        self,
        env: HostEnv,
        policy: QPolicy,
        settings: DQNSettings,
        layout: ReplayLayout,
        seed: int,
        *,
        vector: str,
    ) -> None:
        running = env.start(layout.envs, vector=vector)
        self._policy, self._layout, self._seed = policy, layout, seed
        self._settings, self._rates = settings.form, rates_of(settings)
        self._runner = HostRunner(running, seeds(seed, "env.start", layout.envs))
        seen = device_kind(self._runner.observation)
        row = row_of(jax.ShapeDtypeStruct(seen.shape[1:], seen.dtype))
        self._replay = HostReplay(layout.buffer, row)

    def gather(self, learner: QLearner, schedule: Schedule) -> tuple[QLearner, Tally]:
        """Return the learner after a block of updates, and what they showed."""
        tally, rates = _TallyBuilder(), self._rates
        for place in range(int(schedule.count)):
            number = int(schedule.first) + place
            generator = numpy_stream(self._seed, "act", number)
            epsilon = float(schedule.epsilon[place])
            actor = HostQActor(self._policy, learner.weights, epsilon, generator)
            record, episodes = self._runner.go(actor, self._layout.steps)
            fresh = _transitions(record)
            bad = nonfinite(fresh)
            if self._settings.on_nonfinite == "drop" and bad.any():
                fresh = without(fresh, bad)
            self._replay.write(fresh, (number - 1) * self._layout.fresh)
            tally.note(episodes, fresh, bad, place * self._layout.fresh)
            if schedule.copies[place]:
                learner = _copied(learner, rates.target_mix)
            if schedule.learns[place]:
                minibatches = self._replay.read(schedule.places[place])
                step_rates = rates._replace(learning_rate=schedule.learning_rate[place])
                learner, seen = _improve(
                    self._policy, self._settings, learner, minibatches, step_rates
                )
                tally.seen.append(seen)
        return learner, tally.made()

    @property
    def rows(self) -> Transitions:
        """Return all places of the buffer, written or not."""
        return self._replay.rows

    def state(self) -> Any:
        """Return the buffer; the environments cannot be saved."""
        return {"rows": self._replay.rows}

    def restore(self, state: Any) -> None:
        self._replay.rows = jax.tree.map(np.array, state["rows"])

    def close(self) -> None:
        self._runner.close()


class _TallyBuilder:
    def __init__(self) -> None:
        self.seen: list[TDNumbers] = []
        self._episodes: list[Episodes] = []
        self._fault, self._dropped = -1, 0
        self._action: Any = 0

    def note(self, episodes: Episodes, fresh: Transitions, bad: np.ndarray, before: int) -> None:
        self._episodes.append(episodes)
        if bad.any() and self._fault < 0:
            first = int(np.argmax(bad))
            self._fault, self._action = before + first, fresh.action[first]
        self._dropped += int(bad.sum())

    def made(self) -> Tally:
        ended = np.sum([[float(x) for x in one] for one in self._episodes], axis=0)
        learning, seen = float(len(self.seen)), jax.device_get(self.seen)
        total = TDNumbers(*np.sum(seen, axis=0)) if seen else TDNumbers(*np.zeros(3))
        values: Any = (*ended, learning, total, self._fault, self._action, self._dropped)
        return Tally(*values)


_copied = jax.jit(copied)


@partial(jax.jit, static_argnames=("policy", "settings"))
def _improve(
    policy: QPolicy, settings: DQNSettings, learner: QLearner, minibatches: Any, rates: Rates
) -> tuple[QLearner, TDNumbers]:
    return improve(policy, settings, learner, minibatches, rates)


def _transitions(record: Record) -> Transitions:
    """Return a record's steps [T, N, ...] as rows, in the order of time."""
    following = np.concatenate([record.observation[1:], record.last_observation[None]])
    if record.final_observation is not None:
        cut = record.truncated.reshape(*record.truncated.shape, *(1,) * (following.ndim - 2))
        following = np.where(cut, record.final_observation, following)
    kept: Any = (record.observation, record.action, record.reward, record.terminated, following)
    return Transitions(*(x.reshape(-1, *x.shape[2:]) for x in (*kept, record.valid)))


class Carried(NamedTuple):
    """Everything that the compiled loop carries: learner, environments, buffer."""

    learner: QLearner
    runner: Runner
    replay: Replay


class DeviceReplaySource:
    """N environments and their buffer on the device."""

    def __init__(
        self,
        env: DeviceEnv,
        policy: QPolicy,
        settings: DQNSettings,
        layout: ReplayLayout,
        seed: int,
    ) -> None:
        self._env, self._policy, self._layout = env, policy, layout
        self._settings, self._rates = settings.form, rates_of(settings)
        self._key = jax.random.key(seed)
        runner = start(env, layout.envs, stream(self._key, "envs"))
        observation = jax.ShapeDtypeStruct(runner.observation.shape[1:], runner.observation.dtype)
        replay = empty(layout.buffer, row_of(observation))
        self._runner, self._replay = pin_to_device((runner, replay))

    @property
    def rows(self) -> Transitions:
        return self._replay.rows

    def gather(self, learner: QLearner, schedule: Schedule) -> tuple[QLearner, Tally]:
        """Return the learner after a block of updates, and what they showed.

        The numbers may still be computing; the arrays of the old learner are gone.
        """
        carried = Carried(learner, self._runner, self._replay)
        given = (self._env, self._policy, self._settings, self._layout, carried)
        carried, tally = _block(*given, schedule, self._rates, self._key)
        learner, self._runner, self._replay = carried
        return learner, tally

    def state(self) -> Any:
        return {"runner": self._runner, "replay": self._replay}

    def restore(self, state: Any) -> None:
        self._runner, self._replay = pin_to_device((state["runner"], state["replay"]))

    def close(self) -> None:
        """Do nothing: device environments hold no process."""


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
    length = schedule.epsilon.shape[0]
    keys = jax.vmap(partial(stream, key, "update"))(schedule.first + jnp.arange(length))
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
        lambda: (learner, _no_numbers()),
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
    return Tally(zero, zero, zero, zero, _no_numbers(), jnp.int32(-1), jnp.int32(0), zero)


def _no_numbers() -> TDNumbers:
    return TDNumbers(*(jnp.float32(0),) * 3)


def _add(
    tally: Tally,
    rows: Row,
    fresh: Transitions,
    bad: jax.Array,
    seen: TDNumbers,
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
