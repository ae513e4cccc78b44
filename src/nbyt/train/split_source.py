"""Batches of any split of the same batch: envs keep their place when their number changes."""

from functools import partial
from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from nbyt.collect.device import Runner, collect, stagger, start
from nbyt.collect.host import HostRunner, rollout
from nbyt.collect.host_actor import HostActor
from nbyt.collect.rollout import Episodes, Rollout
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout
from nbyt.objective.ppo import Coefficients
from nbyt.policy import normalise
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.rng import seeds, stream
from nbyt.train.hardware import pin_to_device
from nbyt.train.plan import PPOSettings
from nbyt.train.sources import (
    Learner,
    PreparedBatch,
    RewardScale,
    SourceBatch,
    coefficients_of,
    prepare_batch,
)


class SplitSource(Protocol):
    """Envs that give a batch in whatever layout is asked for."""

    def gather(
        self, learner: Learner, key: jax.Array, layout: Layout
    ) -> tuple[SourceBatch, Rollout]:
        """The next batch in that layout, and the rollout it came from, rewards as learnt from."""
        ...

    def state(self) -> Any:
        """What a checkpoint has to hold of the envs, as a tree of arrays."""
        ...

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint."""
        ...

    def close(self) -> None:
        """Stop the environments."""
        ...


class DeviceSplits:
    """Device envs: with fewer of them the first go on, and the others wait where they are."""

    def __init__(
        self,
        env: DeviceEnv,
        policy: ActorCritic,
        settings: PPOSettings,
        learner: Learner,
        most: int,
        seed: int,
    ) -> None:
        self._env, self._policy, self._settings = env, policy, settings
        self._coefficients = coefficients_of(settings)
        key = stream(jax.random.key(seed), "envs")
        runner = start(env, most, key)
        if settings.stagger:
            runner = stagger(env, policy, learner.params, runner, key)
        self._runner = pin_to_device(runner)
        self._discounted = pin_to_device(jnp.zeros(most))

    def gather(
        self, learner: Learner, key: jax.Array, layout: Layout
    ) -> tuple[SourceBatch, Rollout]:
        """The next batch in that layout, and the rollout it came from."""
        (self._runner, self._discounted), made, episodes, seen = _experience(
            self._env,
            self._policy,
            self._settings.form,
            layout.envs,
            layout.steps,
            learner.params,
            self._runner,
            learner.scale and learner.scale.moments,
            self._discounted,
            key,
            self._coefficients,
        )
        return _gathered(made, episodes), seen

    def state(self) -> Any:
        """Where all envs stand."""
        return {"runner": self._runner, "discounted": self._discounted}

    def restore(self, state: Any) -> None:
        """Put all envs back."""
        self._runner, self._discounted = pin_to_device((state["runner"], state["discounted"]))

    def close(self) -> None:
        """Nothing to release on the device."""


class HostSplits:
    """Host envs: every number of envs has its own, which wait while another number is used."""

    def __init__(
        self, env: HostEnv, policy: ActorCritic, settings: PPOSettings, seed: int, vector: str
    ) -> None:
        self._env, self._policy, self._settings = env, policy, settings
        self._seed, self._vector = seed, vector
        self._coefficients = coefficients_of(settings)
        self._runners: dict[int, HostRunner] = {}
        self._discounted: dict[int, Float[Array, " N"]] = {}

    def gather(
        self, learner: Learner, key: jax.Array, layout: Layout
    ) -> tuple[SourceBatch, Rollout]:
        """The next batch in that layout, and the rollout it came from."""
        envs, steps = layout.envs, layout.steps
        runner = self._started(envs)
        actor = HostActor(self._policy, learner.params, key, steps, envs)
        record, episodes = runner.go(actor, steps)
        scale = learner.scale and RewardScale(learner.scale.moments, self._discounted[envs])
        made, seen = _digested(
            self._policy, self._settings.form, learner.params, record, scale, self._coefficients
        )
        if made.scale is not None:
            self._discounted[envs] = made.scale.discounted
        return _gathered(made, episodes), seen

    def state(self) -> Any:
        """Nothing: a simulator's state stays its own."""
        return ()

    def restore(self, state: Any) -> None:
        """Host environments start anew."""

    def close(self) -> None:
        """Stop all environments."""
        for runner in self._runners.values():
            runner.close()

    def _started(self, envs: int) -> HostRunner:
        if envs not in self._runners:
            running = self._env.start(envs, vector=self._vector)
            self._runners[envs] = HostRunner(running, seeds(self._seed, "env.start", envs))
            self._discounted[envs] = jnp.zeros(envs)
        return self._runners[envs]


@partial(jax.jit, static_argnames=("env", "policy", "settings", "envs", "steps"))
def _experience(
    env: DeviceEnv,
    policy: ActorCritic,
    settings: PPOSettings,
    envs: int,
    steps: int,
    params: Params,
    runner: Runner,
    moments: normalise.RunningMoments | None,
    discounted: Float[Array, " most"],
    key: jax.Array,
    coefficients: Coefficients,
) -> tuple[tuple[Runner, Float[Array, " most"]], PreparedBatch, Episodes, Rollout]:
    """Where all envs stand after the first of them went so many steps, and what they gave."""
    first = jax.tree.map(lambda rows: rows[:envs], runner)
    first, made, episodes = collect(env, policy, params, first, key, steps)
    runner = jax.tree.map(lambda rows, own: rows.at[:envs].set(own), runner, first)
    scale = None if moments is None else RewardScale(moments, discounted[:envs])
    found = prepare_batch(policy, settings, params, made, scale, coefficients)
    if found.scale is not None:
        discounted = discounted.at[:envs].set(found.scale.discounted)
    return (runner, discounted), found, episodes, _as_learnt(made, found)


@partial(jax.jit, static_argnames=("policy", "settings"))
def _digested(
    policy: ActorCritic,
    settings: PPOSettings,
    params: Params,
    record: Any,
    scale: RewardScale | None,
    coefficients: Coefficients,
) -> tuple[PreparedBatch, Rollout]:
    made = rollout(policy, params, record)
    found = prepare_batch(policy, settings, params, made, scale, coefficients)
    return found, _as_learnt(made, found)


def without_envs(scale: RewardScale | None) -> RewardScale | None:
    """The scale as a learner keeps it: its envs' part stays with them, whatever their number."""
    return scale and scale._replace(discounted=jnp.zeros(0))


def _gathered(made: PreparedBatch, episodes: Episodes) -> SourceBatch:
    fields = {**made._asdict(), "scale": without_envs(made.scale)}
    return SourceBatch(**fields, episodes=episodes)


def _as_learnt(made: Rollout, found: PreparedBatch) -> Rollout:
    """The rollout with rewards as its batch has them."""
    if found.scale is None:
        return made
    return made._replace(reward=normalise.rescale(found.scale.moments, made.reward))
