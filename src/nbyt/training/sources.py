"""Where PPO's batches come from: device or host environments, advantages and flattening."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from nbyt.collect.device import STAGGER_LIMIT, Runner, collect, stagger, start
from nbyt.collect.host import HostActor, HostRunner, Record, rollout
from nbyt.collect.rollout import Episodes, Rollout, gae, next_value
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout
from nbyt.policy import normalise
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.rng import numpy_stream, seeds, stream
from nbyt.training.hardware import pin_to_device
from nbyt.training.losses import Batch, Coefficients, explained_variance, normalised
from nbyt.training.plan import PPOSettings


class RewardScale(NamedTuple):
    """Moments of the discounted return, and each env's discounted return so far."""

    moments: normalise.RunningMoments
    discounted: Float[Array, " N"]


class BatchNumbers(NamedTuple):
    """Numbers about a batch.

    fault: the first row (t * N + n) with a number that is not finite, or -1, and its action.
    dropped: the share of rows left out for that.
    """

    explained_variance: jax.Array
    fault: jax.Array
    fault_action: jax.Array
    dropped: jax.Array


class Learner(NamedTuple):
    """Everything that learning carries from one update to the next."""

    params: Params
    optimiser: dict[str, Any]
    scale: RewardScale | None


class SourceBatch(NamedTuple):
    """One update's batch, and the moments that include it (used from the next rollout on)."""

    batch: Batch
    observation: normalise.RunningMoments | None
    scale: RewardScale | None
    numbers: BatchNumbers
    episodes: Episodes


def coefficients_of(settings: PPOSettings) -> Coefficients:
    values = (
        settings.gamma,
        settings.lam,
        settings.clip,
        settings.value_clip or 0.0,
        settings.entropy_coefficient,
        settings.value_coefficient,
    )
    return Coefficients(*(jnp.float32(value) for value in values))


def prepare_batch(
    policy: ActorCritic,
    settings: PPOSettings,
    params: Params,
    rollout: Rollout,
    episodes: Episodes,
    scale: RewardScale | None,
    coefficients: Coefficients,
) -> SourceBatch:
    bad = _bad(rollout)
    if settings.on_nonfinite == "drop":
        rollout = _without(rollout, bad)
    if scale is not None:
        scale, reward = _scaled(scale, rollout, coefficients.gamma)
        rollout = rollout._replace(reward=reward)
    advantage = gae(rollout, coefficients.gamma, coefficients.lam)
    batch = _flat(rollout, advantage)
    moments = params.observation
    if moments is not None:
        raw = params._replace(observation=None)
        moments = normalise.update(moments, policy.encode(raw, batch.observation), batch.valid)
    first = jnp.argmax(bad.reshape(-1))
    numbers = BatchNumbers(
        explained_variance(batch),
        jnp.where(bad.any(), first, -1),
        batch.action[first],
        bad.mean(),
    )
    if settings.normalise_advantages == "batch":
        batch = batch._replace(advantage=normalised(batch))
    return SourceBatch(batch, moments, scale, numbers, episodes)


def _flat(rollout: Rollout, advantage: Float[Array, "T N"]) -> Batch:
    batch = Batch(
        rollout.observation,
        rollout.action,
        rollout.log_prob,
        rollout.value,
        advantage,
        advantage + rollout.value,
        rollout.valid.astype(jnp.float32),
    )
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)


def _bad(rollout: Rollout) -> Bool[Array, "T N"]:
    """Mark the rows of experience with a reward, observation or next value that is not finite."""
    seen = jnp.isfinite(rollout.reward) & jnp.isfinite(next_value(rollout))
    if jnp.issubdtype(rollout.observation.dtype, jnp.floating):
        axes = tuple(range(2, rollout.observation.ndim))
        seen &= jnp.isfinite(rollout.observation).all(axis=axes)
    return ~seen & rollout.valid


def _without(rollout: Rollout, bad: Bool[Array, "T N"]) -> Rollout:
    """Zero the bad rows and mark them as not experience."""
    clean = {
        name: jnp.nan_to_num(getattr(rollout, name), nan=0.0, posinf=0.0, neginf=0.0)
        for name in ("observation", "log_prob", "value", "reward", "final_value", "last_value")
    }
    return rollout._replace(**clean, valid=rollout.valid & ~bad)


def _scaled(
    scale: RewardScale, rollout: Rollout, gamma: jax.Array
) -> tuple[RewardScale, Float[Array, "T N"]]:
    """Divide rewards by the spread of discounted returns, and update its moments."""
    ended = rollout.terminated | rollout.truncated

    def forwards(
        carried: jax.Array, row: tuple[jax.Array, jax.Array]
    ) -> tuple[jax.Array, jax.Array]:
        reward, cut = row
        total = gamma * carried + reward
        return jnp.where(cut, 0.0, total), total

    last, totals = jax.lax.scan(forwards, scale.discounted, (rollout.reward, ended))
    weight = rollout.valid.astype(jnp.float32).reshape(-1)
    moments = normalise.update(scale.moments, totals.reshape(-1), weight)
    return RewardScale(moments, last), normalise.rescale(moments, rollout.reward)


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
            if not getattr(running, "restarts", True):
                running.spread(counts)  # type: ignore[attr-defined]
                return
            key = stream(jax.random.key(seed), "envs")
            actor = self._actor(learner, key, max(int(counts.max()), 1))
            self._running.wander(actor, np.asarray(counts))

    def gather(self, learner: Learner, key: jax.Array) -> SourceBatch:
        """Return the next N x T samples under the learner's policy."""
        assert self._running is not None, "begin() comes first"
        steps = self._layout.steps
        record, episodes = self._running.go(self._actor(learner, key, steps), steps)
        return host_experience(
            self._policy,
            self._settings.form,
            learner.params,
            record,
            episodes,
            learner.scale,
            self._coefficients,
        )

    def state(self) -> Any:
        """Return an empty tree: the state of a simulator cannot be saved."""
        return ()

    def restore(self, state: Any) -> None:
        """Do nothing: host environments start anew."""

    def close(self) -> None:
        if self._running is not None:
            self._running.close()

    def _actor(self, learner: Learner, key: jax.Array, steps: int) -> HostActor:
        return HostActor(self._policy, learner.params, key, steps, self._layout.envs)


@partial(jax.jit, static_argnames=("policy", "settings"))
def host_experience(
    policy: ActorCritic,
    settings: PPOSettings,
    params: Params,
    record: Record,
    episodes: Episodes,
    scale: RewardScale | None,
    coefficients: Coefficients,
) -> SourceBatch:
    made = rollout(policy, params, record)
    return prepare_batch(policy, settings, params, made, episodes, scale, coefficients)


class DeviceSource:
    """N device environments that give a batch at a time; `runner` is all their state."""

    runner: Runner

    def __init__(
        self, env: DeviceEnv, policy: ActorCritic, settings: PPOSettings, layout: Layout
    ) -> None:
        self._env, self._policy, self._settings = env, policy, settings
        self._layout, self._coefficients = layout, coefficients_of(settings)

    def begin(self, learner: Learner, seed: int) -> None:
        key = stream(jax.random.key(seed), "envs")
        self.runner = start(self._env, self._layout.envs, key)
        if self._settings.stagger:
            self.runner = stagger(self._env, self._policy, learner.params, self.runner, key)
        self.runner = pin_to_device(self.runner)

    def gather(self, learner: Learner, key: jax.Array) -> SourceBatch:
        self.runner, batch = device_experience(
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
        return batch

    def state(self) -> Runner:
        return self.runner

    def restore(self, state: Runner) -> None:
        self.runner = pin_to_device(state)

    def close(self) -> None:
        """Do nothing: device environments hold no process."""


@partial(jax.jit, static_argnames=("env", "policy", "settings", "steps"))
def device_experience(
    env: DeviceEnv,
    policy: ActorCritic,
    settings: PPOSettings,
    steps: int,
    params: Params,
    runner: Runner,
    scale: RewardScale | None,
    key: jax.Array,
    coefficients: Coefficients,
) -> tuple[Runner, SourceBatch]:
    """Step the environments; return them and the batch."""
    runner, rollout, episodes = collect(env, policy, params, runner, key, steps)
    batch = prepare_batch(policy, settings, params, rollout, episodes, scale, coefficients)
    return runner, batch
