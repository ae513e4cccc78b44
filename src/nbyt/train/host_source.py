"""Batches from host environments: stepped by the host, digested on the device."""

from functools import partial

import jax
import numpy as np

from nbyt.collect.device import STAGGER_LIMIT
from nbyt.collect.host import HostRunner, Record, rollout
from nbyt.collect.host_actor import HostActor
from nbyt.envs.protocol import HostEnv
from nbyt.layout import Layout
from nbyt.objective.ppo import Coefficients
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.rng import numpy_stream, seeds, stream
from nbyt.train.batch import PreparedBatch, RewardScale, prepare_batch
from nbyt.train.ppo import Learner, SourceBatch, coefficients_of
from nbyt.train.settings import PPOSettings


class HostSource:
    """N host environments that give a batch at a time."""

    def __init__(
        self,
        env: HostEnv,
        policy: ActorCritic,
        settings: PPOSettings,
        layout: Layout,
        *,
        vector: str = "sync",
    ) -> None:
        self._env, self._policy, self._settings, self._layout = env, policy, settings, layout
        self._coefficients, self._vector = coefficients_of(settings), vector
        self._running: HostRunner | None = None

    def begin(self, learner: Learner, seed: int) -> None:
        """Start the environments, at random phases of an episode if the settings say so."""
        running = self._env.start(self._layout.envs, vector=self._vector)
        env_seeds = seeds(seed, "env.start", self._layout.envs)
        self._running = HostRunner(running, env_seeds)
        if self._settings.stagger:
            limit = min(self._env.time_limit or STAGGER_LIMIT, STAGGER_LIMIT)
            counts = numpy_stream(seed, "stagger").integers(0, limit, self._layout.envs)
            key = stream(jax.random.key(seed), "envs")
            actor = self._actor(learner, key, max(int(counts.max()), 1))
            self._running.wander(actor, np.asarray(counts))

    def gather(self, learner: Learner, key: jax.Array) -> SourceBatch:
        """The next N x T samples under the learner's policy."""
        assert self._running is not None, "begin() comes first"
        steps = self._layout.steps
        record, episodes = self._running.go(self._actor(learner, key, steps), steps)
        made = experience(
            self._policy,
            self._settings.form,
            learner.params,
            record,
            learner.scale,
            self._coefficients,
        )
        return SourceBatch(**made._asdict(), episodes=episodes)

    def close(self) -> None:
        """Stop the environments."""
        if self._running is not None:
            self._running.close()

    def _actor(self, learner: Learner, key: jax.Array, steps: int) -> HostActor:
        return HostActor(self._policy, learner.params, key, steps, self._layout.envs)


@partial(jax.jit, static_argnames=("policy", "settings"))
def experience(
    policy: ActorCritic,
    settings: PPOSettings,
    params: Params,
    record: Record,
    scale: RewardScale | None,
    coefficients: Coefficients,
) -> PreparedBatch:
    """The batch of a record."""
    made = rollout(policy, params, record)
    return prepare_batch(policy, settings, params, made, scale, coefficients)
