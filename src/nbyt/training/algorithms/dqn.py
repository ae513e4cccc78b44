"""DQN: makes the updates of a plan in blocks."""

from collections.abc import Iterator
from math import prod
from typing import Any

import jax
import numpy as np

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import LayoutError, TrainingError
from nbyt.minibatch.replay import Filled, draw
from nbyt.policy.actor_critic import Params
from nbyt.policy.files import shapes, to_tensors
from nbyt.policy.q_policy import QPolicy, build_q, greedy, weights_of
from nbyt.rng import numpy_stream, stream
from nbyt.store.tensors import TENSORS_LIMIT, match
from nbyt.training.algorithms.registry import Row, UpdateMetrics, env_fault, finite
from nbyt.training.dqn import (
    DQNPlan,
    QLearner,
    ReplayLayout,
    Schedule,
    new_learner,
    with_weights,
)
from nbyt.training.dqn_sources import DeviceReplaySource, HostReplaySource
from nbyt.training.hardware import pin_to_device
from nbyt.training.losses import Transitions


def dqn_row(plan: DQNPlan, made: UpdateMetrics) -> Row:
    """Return the block's numbers as plain floats; raise where the env or the loss gave a NaN."""
    numbers = jax.device_get(made.numbers)
    sizes, first = plan.layout, made.number - numbers["updates"] + 1
    fault = int(numbers["fault"])
    if fault >= 0 and plan.settings.on_nonfinite == "stop":
        time, env = divmod(fault, sizes.envs)
        step = (first - 1) * sizes.steps + time + 1
        raise env_fault(plan, env, step, numbers["fault_action"])
    count, learning = float(numbers["episodes"]), float(numbers["learning"])
    row = {
        "update": made.number,
        "steps": made.number * sizes.fresh,
        "episodes": int(count),
        "mean_return": float(numbers["returns"]) / count if count else None,
        "mean_length": float(numbers["lengths"]) / count if count else None,
        "dropped": float(numbers["dropped"]) / (numbers["updates"] * sizes.fresh),
        "epsilon": plan.epsilon((made.number - 1) * sizes.fresh),
        "gradient_steps": int(learning) * sizes.gradient_steps,
    }
    for name, total in numbers["seen"]._asdict().items():
        row[name] = finite(total / learning) if learning else None
    if learning and row["loss"] is None:
        raise TrainingError(
            "the loss is not a finite number any more",
            where=f"update {made.number}, seed {plan.seed}",
            fix="lower --learning-rate, or make --target-every larger",
        )
    return row


# Environment steps that one block, one row of the metrics table, is about.
_BLOCK_STEPS = 1000


class DQNAlgorithm:
    """A learner, its environments and its buffer.

    learner: network, target network and optimiser; its arrays are gone once the next block of
    updates is under way.
    """

    policy: QPolicy

    def __init__(
        self, plan: DQNPlan, env: DeviceEnv | HostEnv, weights: Params | None = None
    ) -> None:
        self._plan = plan
        self.policy, learner = initial_learner(plan, env)
        _require_savable(plan.layout, env)
        if weights is not None:
            match(to_tensors(weights_of(weights)), shapes(learner.weights), "--from")
            learner = with_weights(plan.settings, weights_of(weights))
        self._length = max(1, _BLOCK_STEPS // plan.layout.fresh)
        self.learner = pin_to_device(learner)
        self._source = _source(plan, env, self.policy)

    @property
    def params(self) -> Params:
        return greedy(self.learner.weights)

    def experience(self, updates: int) -> Transitions:
        """Return what the buffer holds after `updates` updates, oldest first, as NumPy arrays."""
        filled = Filled(updates * self._plan.layout.fresh, self._plan.layout.buffer)
        places = filled.place(np.arange(filled.count))
        return jax.tree.map(lambda x: np.asarray(x)[places], self._source.rows)

    def updates(self, first: int) -> Iterator[UpdateMetrics]:
        """Make the updates in blocks; a block ends where a stage is to be kept."""
        plan = self._plan
        ends = {*range(self._length, plan.updates, self._length), *plan.stages, plan.updates}
        for last in sorted(end for end in ends if end >= first):
            self.learner, tally = self._source.gather(self.learner, self._schedule(first, last))
            yield UpdateMetrics(last, {**tally._asdict(), "updates": last - first + 1})
            first = last + 1

    def row(self, made: UpdateMetrics) -> Row:
        return dqn_row(self._plan, made)

    def facts(self) -> dict[str, Any]:
        return {}

    def state(self) -> Any:
        return {"learner": self.learner, **self._source.state()}

    def restore(self, state: Any) -> None:
        self.learner = pin_to_device(state["learner"])
        self._source.restore(state)

    def close(self) -> None:
        self._source.close()

    def _schedule(self, first: int, last: int) -> Schedule:
        """Return the schedule of updates `first` to `last`, padded to a block's length."""
        plan, sizes = self._plan, self._plan.layout
        numbers = range(first, first + self._length)
        ends = np.array(numbers) * sizes.fresh
        every = plan.settings.target_every
        places = np.zeros((self._length, sizes.gradient_steps, sizes.minibatch), np.int32)
        for row, number in enumerate(range(first, last + 1)):
            if sizes.learns(number):
                places[row] = _places(plan, number)
        return Schedule(
            np.int32(first),
            np.int32(last - first + 1),
            np.array([plan.epsilon((number - 1) * sizes.fresh) for number in numbers], np.float32),
            np.array([plan.learning_rate(number) for number in numbers], np.float32),
            np.array([sizes.learns(number) for number in numbers]),
            ends // every != (ends - sizes.fresh) // every,
            places,
        )


def initial_learner(plan: DQNPlan, env: DeviceEnv | HostEnv) -> tuple[QPolicy, QLearner]:
    """Build the policy and the learner of a run before its first update."""
    policy = build_q(env.observation_space, env.action_space, plan.settings.parsed_network)
    key = stream(jax.random.key(plan.seed), "learner")
    return policy, new_learner(policy, plan.settings, key)


def _source(
    plan: DQNPlan, env: DeviceEnv | HostEnv, policy: QPolicy
) -> DeviceReplaySource | HostReplaySource:
    given = (policy, plan.settings, plan.layout, plan.seed)
    if isinstance(env, HostEnv):
        return HostReplaySource(env, *given, vector=plan.vector)
    return DeviceReplaySource(env, *given)


def _places(plan: DQNPlan, number: int) -> np.ndarray:
    """Draw the mini-batches of an update; they depend on its number alone."""
    sizes = plan.layout
    filled = Filled(number * sizes.fresh, sizes.buffer)
    generator = numpy_stream(plan.seed, "replay.draw", number)
    sampling = plan.settings.sampling
    return draw(sampling, filled, sizes.minibatch, sizes.gradient_steps, generator)


def buffer_bytes(sizes: ReplayLayout, env: DeviceEnv | HostEnv) -> int:
    """Return the size of the replay buffer: two observations and ten bytes a transition."""
    space = env.observation_space
    item = min(np.dtype(space.dtype).itemsize, 4)
    return int(sizes.buffer * (2 * item * prod(space.shape or ()) + 10))


def _require_savable(sizes: ReplayLayout, env: DeviceEnv | HostEnv) -> None:
    size = buffer_bytes(sizes, env)
    if size > TENSORS_LIMIT:
        fits = int(TENSORS_LIMIT / size * sizes.buffer) // sizes.fresh * sizes.fresh
        raise LayoutError(
            f"a buffer of {sizes.buffer:,} transitions of this env takes {size / 2**30:.1f} GB, "
            f"more than the {TENSORS_LIMIT / 2**30:.0f} GB of a checkpoint",
            where="buffer",
            fix=f"use at most --buffer {fits}",
        )
