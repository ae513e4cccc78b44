"""DQN where the environments are on the host: stepped and kept there, learnt from on the device."""

from functools import partial
from typing import Any

import jax
import numpy as np

from nbyt.collect.host import HostRunner, Record, device_kind
from nbyt.collect.host_q_actor import HostQActor
from nbyt.collect.replay import HostReplay
from nbyt.collect.rollout import Episodes
from nbyt.envs.protocol import HostEnv
from nbyt.objective.dqn import Rates, Seen, Transitions
from nbyt.policy.q_policy import QPolicy
from nbyt.rng import numpy_stream, seeds
from nbyt.train.dqn import QLearner, copied, improve
from nbyt.train.dqn_block import Schedule, Tally, nonfinite, row_of, without
from nbyt.train.dqn_settings import DQNSettings
from nbyt.train.replay_layout import ReplayLayout


class HostReplaySource:
    """N running host environments, their buffer, and what is learnt."""

    def __init__(
        self,
        env: HostEnv,
        policy: QPolicy,
        layout: ReplayLayout,
        learner: QLearner,
        seed: int,
        *,
        vector: str,
    ) -> None:
        running = env.start(layout.envs, vector=vector)
        self._policy, self._layout, self._seed = policy, layout, seed
        self.learner = learner
        self._runner = HostRunner(running, seeds(seed, "env.start", layout.envs))
        seen = device_kind(self._runner.observation)
        row = row_of(jax.ShapeDtypeStruct(seen.shape[1:], seen.dtype))
        self._replay = HostReplay(layout.buffer, row)

    def block(self, settings: DQNSettings, schedule: Schedule, rates: Rates) -> Tally:
        """What a block of updates showed."""
        tally = _Sums()
        for place in range(int(schedule.count)):
            number = int(schedule.first) + place
            luck = numpy_stream(self._seed, "act", number)
            epsilon = float(schedule.epsilon[place])
            actor = HostQActor(self._policy, self.learner.weights, epsilon, luck)
            record, episodes = self._runner.go(actor, self._layout.steps)
            fresh = _transitions(record)
            bad = nonfinite(fresh)
            if settings.on_nonfinite == "drop" and bad.any():
                fresh = without(fresh, bad)
            self._replay.write(fresh, (number - 1) * self._layout.fresh)
            tally.note(episodes, fresh, bad, place * self._layout.fresh)
            if schedule.copies[place]:
                self.learner = _copied(self.learner, rates.target_mix)
            if schedule.learns[place]:
                own = rates._replace(learning_rate=schedule.learning_rate[place])
                tally.seen.append(self._learn(settings, schedule.places[place], own))
        return tally.made()

    @property
    def rows(self) -> Transitions:
        """All places of the buffer, written or not."""
        return self._replay.rows

    def state(self) -> Any:
        """Learner and buffer; the environments cannot be saved."""
        return {"learner": self.learner, "rows": self._replay.rows}

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint, with environments that start anew."""
        self.learner = state["learner"]
        self._replay.rows = jax.tree.map(np.array, state["rows"])

    def close(self) -> None:
        """Stop the environments."""
        self._runner.close()

    def _learn(self, settings: DQNSettings, places: np.ndarray, rates: Rates) -> Seen:
        minibatches = self._replay.read(places)
        self.learner, seen = _improve(self._policy, settings, self.learner, minibatches, rates)
        return seen


class _Sums:
    """A block's tally while it is under way."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._episodes: list[Episodes] = []
        self._fault, self._dropped = -1, 0
        self._action: Any = 0

    def note(self, episodes: Episodes, fresh: Transitions, bad: np.ndarray, before: int) -> None:
        """Count one update's episodes and faults."""
        self._episodes.append(episodes)
        if bad.any() and self._fault < 0:
            first = int(np.argmax(bad))
            self._fault, self._action = before + first, fresh.action[first]
        self._dropped += int(bad.sum())

    def made(self) -> Tally:
        """The sums; of what gradient steps show they may still be on their way."""
        ended = np.sum([[float(x) for x in one] for one in self._episodes], axis=0)
        learning, seen = float(len(self.seen)), jax.device_get(self.seen)
        total = Seen(*np.sum(seen, axis=0)) if seen else Seen(*np.zeros(3))
        values: Any = (*ended, learning, total, self._fault, self._action, self._dropped)
        return Tally(*values)


_copied = jax.jit(copied)


@partial(jax.jit, static_argnames=("policy", "settings"))
def _improve(
    policy: QPolicy, settings: DQNSettings, learner: QLearner, minibatches: Any, rates: Rates
) -> tuple[QLearner, Seen]:
    return improve(policy, settings, learner, minibatches, rates)


def _transitions(record: Record) -> Transitions:
    """A record's steps [T, N, ...] as rows, in the order of time."""
    following = np.concatenate([record.observation[1:], record.last_observation[None]])
    if record.final_observation is not None:
        cut = record.truncated.reshape(*record.truncated.shape, *(1,) * (following.ndim - 2))
        following = np.where(cut, record.final_observation, following)
    kept: Any = (record.observation, record.action, record.reward, record.terminated, following)
    return Transitions(*(x.reshape(-1, *x.shape[2:]) for x in (*kept, record.valid)))
