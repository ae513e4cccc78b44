"""Batches from device environments: collecting, advantages and flattening in one program."""

from functools import partial

import jax

from nbyt.collect.device import Runner, collect, stagger, start
from nbyt.collect.rollout import Episodes
from nbyt.envs.protocol import DeviceEnv
from nbyt.layout import Layout
from nbyt.objective.ppo import Coefficients
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.rng import stream
from nbyt.train.batch import PreparedBatch, RewardScale, prepare_batch
from nbyt.train.hardware import pin_to_device
from nbyt.train.ppo import Learner, SourceBatch, coefficients_of
from nbyt.train.settings import PPOSettings


class DeviceSource:
    """N device environments that give a batch at a time; `runner` is all their state."""

    runner: Runner

    def __init__(
        self, env: DeviceEnv, policy: ActorCritic, settings: PPOSettings, layout: Layout
    ) -> None:
        self._env, self._policy, self._settings = env, policy, settings
        self._layout, self._coefficients = layout, coefficients_of(settings)

    def begin(self, learner: Learner, seed: int) -> None:
        """Start the environments, at random phases of an episode if the settings say so."""
        key = stream(jax.random.key(seed), "envs")
        self.runner = start(self._env, self._layout.envs, key)
        if self._settings.stagger:
            self.runner = stagger(self._env, self._policy, learner.params, self.runner, key)
        self.runner = pin_to_device(self.runner)

    def gather(self, learner: Learner, key: jax.Array) -> SourceBatch:
        """The next N x T samples under the learner's policy."""
        self.runner, made, episodes = experience(
            self._env,
            self._policy,
            self._settings.form,
            self._layout.steps,
            learner.params,
            self.runner,
            learner.scale,
            key,
            self._coefficients,
        )
        return SourceBatch(**made._asdict(), episodes=episodes)

    def close(self) -> None:
        """Nothing to release on the device."""


@partial(jax.jit, static_argnames=("env", "policy", "settings", "steps"))
def experience(
    env: DeviceEnv,
    policy: ActorCritic,
    settings: PPOSettings,
    steps: int,
    params: Params,
    runner: Runner,
    scale: RewardScale | None,
    key: jax.Array,
    coefficients: Coefficients,
) -> tuple[Runner, PreparedBatch, Episodes]:
    """The environments after `steps` steps, the batch they gave, and the episodes that ended."""
    runner, rollout, episodes = collect(env, policy, params, runner, key, steps)
    return runner, prepare_batch(policy, settings, params, rollout, scale, coefficients), episodes
