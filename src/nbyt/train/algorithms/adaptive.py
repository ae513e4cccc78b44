"""PPO whose layout adapts during training: probes of its own rollouts move T."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from nbyt.collect.device import Runner, collect, stagger, start
from nbyt.collect.host import HostActor, HostRunner, rollout
from nbyt.collect.rollout import Episodes, Rollout
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.policy import normalise
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.files import shapes, to_tensors
from nbyt.rng import numpy_stream, seeds, stream
from nbyt.store.tensors import match
from nbyt.train.adaptive import AdaptivePlan, probe_rollout
from nbyt.train.algorithms.ppo import initial_learner, learn, ppo_row, rate_of
from nbyt.train.algorithms.registry import Row, Source, UpdateMetrics
from nbyt.train.hardware import pin_to_device
from nbyt.train.losses import Coefficients
from nbyt.train.plan import PPOPlan, PPOSettings
from nbyt.train.sources import (
    Learner,
    RewardScale,
    SourceBatch,
    coefficients_of,
    prepare_batch,
)


class SplitRequest(NamedTuple):
    """The key of a rollout and the layout to collect it in."""

    key: jax.Array
    layout: Layout


SplitSource = Source[Learner, SplitRequest, tuple[SourceBatch, Rollout]]


class DeviceSplits:
    """Device envs; when N falls, the first N go on and the others pause."""

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

    def gather(self, learner: Learner, request: SplitRequest) -> tuple[SourceBatch, Rollout]:
        """Return the next batch in the requested layout, and the rollout it came from."""
        key, layout = request
        (self._runner, self._discounted), found, seen = _experience(
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
        return found._replace(scale=without_envs(found.scale)), seen

    def state(self) -> Any:
        return {"runner": self._runner, "discounted": self._discounted}

    def restore(self, state: Any) -> None:
        self._runner, self._discounted = pin_to_device((state["runner"], state["discounted"]))

    def close(self) -> None:
        """Do nothing: device environments hold no process."""


class HostSplits:
    """Host envs; every N has its own, which pause while another N is used."""

    def __init__(
        self, env: HostEnv, policy: ActorCritic, settings: PPOSettings, seed: int, vector: str
    ) -> None:
        self._env, self._policy, self._settings = env, policy, settings
        self._seed, self._vector = seed, vector
        self._coefficients = coefficients_of(settings)
        self._runners: dict[int, HostRunner] = {}
        self._discounted: dict[int, Float[Array, " N"]] = {}

    def gather(self, learner: Learner, request: SplitRequest) -> tuple[SourceBatch, Rollout]:
        key, layout = request
        envs, steps = layout.envs, layout.steps
        runner = self._started(envs)
        actor = HostActor(self._policy, learner.params, key, steps, envs)
        record, episodes = runner.go(actor, steps)
        scale = learner.scale and RewardScale(learner.scale.moments, self._discounted[envs])
        given = (record, episodes, scale, self._coefficients)
        found, seen = _prepared(self._policy, self._settings.form, learner.params, *given)
        if found.scale is not None:
            self._discounted[envs] = found.scale.discounted
        return found._replace(scale=without_envs(found.scale)), seen

    def state(self) -> Any:
        """Return an empty tree: the state of a simulator cannot be saved."""
        return ()

    def restore(self, state: Any) -> None:
        """Do nothing: host environments start anew."""

    def close(self) -> None:
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
) -> tuple[tuple[Runner, Float[Array, " most"]], SourceBatch, Rollout]:
    """Collect from the first `envs` envs; return all envs, the batch and the rollout."""
    first = jax.tree.map(lambda rows: rows[:envs], runner)
    first, made, episodes = collect(env, policy, params, first, key, steps)
    runner = jax.tree.map(lambda rows, own: rows.at[:envs].set(own), runner, first)
    scale = None if moments is None else RewardScale(moments, discounted[:envs])
    found = prepare_batch(policy, settings, params, made, episodes, scale, coefficients)
    if found.scale is not None:
        discounted = discounted.at[:envs].set(found.scale.discounted)
    return (runner, discounted), found, _with_scaled_rewards(made, found)


@partial(jax.jit, static_argnames=("policy", "settings"))
def _prepared(
    policy: ActorCritic,
    settings: PPOSettings,
    params: Params,
    record: Any,
    episodes: Episodes,
    scale: RewardScale | None,
    coefficients: Coefficients,
) -> tuple[SourceBatch, Rollout]:
    made = rollout(policy, params, record)
    found = prepare_batch(policy, settings, params, made, episodes, scale, coefficients)
    return found, _with_scaled_rewards(made, found)


def without_envs(scale: RewardScale | None) -> RewardScale | None:
    """Drop the per-env part of the scale, which stays with the envs."""
    return scale and scale._replace(discounted=jnp.zeros(0))


def _with_scaled_rewards(made: Rollout, found: SourceBatch) -> Rollout:
    if found.scale is None:
        return made
    return made._replace(reward=normalise.rescale(found.scale.moments, made.reward))


_NOT_YET = -1


class AdaptiveAlgorithm:
    """A learner, its envs, and the T of every update so far.

    Every choice follows from the probes before it, so a resumed run needs only the probes.
    """

    def __init__(
        self, plan: AdaptivePlan, env: DeviceEnv | HostEnv, weights: Params | None = None
    ) -> None:
        self._plan, self._coefficients = plan, coefficients_of(plan.settings)
        self.policy, learner = initial_learner(_fixed_plan(plan, plan.layout), env)
        if weights is not None:
            match(to_tensors(weights), shapes(learner.params), "--from")
            learner = learner._replace(params=weights)
        self.learner = pin_to_device(learner._replace(scale=without_envs(learner.scale)))
        self._source = self._started(env)
        probes = sum(map(plan.controller.probes, range(1, plan.updates + 1)))
        self._seen = np.zeros((probes, len(plan.lengths)), np.float32)
        self._places = np.full(plan.updates, _NOT_YET, np.int32)
        self._notes: dict[int, str] = {}

    @property
    def params(self) -> Params:
        return self.learner.params

    def updates(self, first: int) -> Iterator[UpdateMetrics]:
        plan, key = self._plan, jax.random.key(self._plan.seed)
        for number in range(first, plan.updates + 1):
            layout, probed = self._layout(number), plan.controller.probes(number)
            gathered, rollout = self._source.gather(
                self.learner, SplitRequest(stream(key, "update", number), layout)
            )
            # Under way before learning is, and read after that has begun: neither waits long.
            seen = self._probe(rollout) if probed else None
            indices = shuffle_and_chop(layout, numpy_stream(plan.seed, "minibatch.shuffle", number))
            rate = rate_of(plan.settings, number, plan.updates)
            self.learner, numbers = learn(
                self.policy,
                plan.settings,
                self.learner,
                gathered,
                indices,
                self._coefficients,
                rate,
            )
            if seen is not None:
                self._decide(number, np.asarray(seen))
            yield UpdateMetrics(number, numbers)

    def row(self, made: UpdateMetrics) -> Row:
        """Return the row of the metrics table, with the layout, and a note where it changed."""
        layout = self._layout(made.number)
        row = ppo_row(_fixed_plan(self._plan, layout), made)
        row |= {"envs": layout.envs, "rollout_steps": layout.steps}
        note = self._notes.pop(made.number, "")
        return {**row, "note": note} if note else row

    def facts(self) -> dict[str, Any]:
        """Return the present layout, and what the critic's rewards are divided by."""
        scale = self.learner.scale
        known = None if scale is None else float(normalise.spread(scale.moments))
        made = int((self._places != _NOT_YET).sum())
        layout = self._layout(made, probing=False)
        return {"reward_scale": known, "layout": layout.as_dict()}

    def findings(self) -> dict[str, Any]:
        """Return every change of the layout with its reason, and the last layout."""
        last = self._plan.split(self._plan.lengths[self._place(len(self._places))])
        return {"changes": self._changes(), "last_layout": last.as_dict()}

    def state(self) -> Any:
        return {
            "learner": self.learner,
            "envs": self._source.state(),
            "seen": jnp.asarray(self._seen),
            "places": jnp.asarray(self._places),
        }

    def restore(self, state: Any) -> None:
        self.learner = state["learner"]
        self._source.restore(state["envs"])
        self._seen, self._places = np.array(state["seen"]), np.array(state["places"])

    def close(self) -> None:
        self._source.close()

    def _started(self, env: DeviceEnv | HostEnv) -> SplitSource:
        plan = self._plan
        if isinstance(env, HostEnv):
            return HostSplits(env, self.policy, plan.settings, plan.seed, plan.vector)
        most = max(plan.split(plan.lengths[0]).envs, plan.probe_layout.envs)
        return DeviceSplits(env, self.policy, plan.settings, self.learner, most, plan.seed)

    def _layout(self, number: int, *, probing: bool = True) -> Layout:
        """Return the layout of an update: the chosen one, or that of probed rollouts."""
        plan = self._plan
        if probing and plan.controller.probes(number):
            return plan.probe_layout
        return plan.split(plan.lengths[self._place(number)])

    def _place(self, number: int) -> int:
        """Return the place of an update's T among the lengths, and note it down."""
        at = max(number, 1) - 1
        if self._places[at] == _NOT_YET:
            known = self._places[:at][self._places[:at] != _NOT_YET]
            self._places[at] = known[-1] if len(known) else len(self._plan.lengths) - 1
        return int(self._places[at])

    def _probe(self, rollout: Any) -> jax.Array:
        given = (rollout, self._coefficients, self._plan.lengths)
        return probe_rollout(self.policy, self.learner.params, *given)

    def _decide(self, number: int, seen: np.ndarray) -> None:
        plan = self._plan
        made = number // plan.controller.every
        self._seen[made - 1] = seen
        place = self._place(number)
        decision = plan.controller.decide(
            self._seen[:made], place, self._since(number), plan.lengths
        )
        if number < plan.updates:
            self._places[number] = decision.place
        if decision.reason and number < plan.updates:
            self._notes[number] = self._words(number, place, decision.place, decision.reason)

    def _since(self, number: int) -> int:
        changed = np.flatnonzero(np.diff(self._places[:number]) != 0)
        last = int(changed[-1]) + 1 if len(changed) else 0
        return number // self._plan.controller.every - last // self._plan.controller.every

    def _changes(self) -> list[dict[str, Any]]:
        plan, found = self._plan, []
        for at in np.flatnonzero(np.diff(self._places) != 0):
            if self._places[at + 1] == _NOT_YET:
                break
            number, old, new = int(at) + 1, int(self._places[at]), int(self._places[at + 1])
            seen = self._seen[: number // plan.controller.every]
            decision = plan.controller.decide(seen, old, self._since(number), plan.lengths)
            found.append(
                {
                    "after_update": number,
                    "from": [plan.layout.batch // plan.lengths[old], plan.lengths[old]],
                    "to": [plan.layout.batch // plan.lengths[new], plan.lengths[new]],
                    "reason": decision.reason,
                }
            )
        return found

    def _words(self, number: int, old: int, new: int, reason: str) -> str:
        before, after = (self._plan.split(self._plan.lengths[place]) for place in (old, new))
        return (
            f"update {number}: from {before.envs}x{before.steps} to {after.envs}x{after.steps}: "
            f"{reason}"
        )


def _fixed_plan(plan: AdaptivePlan, layout: Layout) -> PPOPlan:
    return PPOPlan(plan.env, layout, plan.total, plan.seed, plan.settings, plan.stages, plan.vector)
