"""PPO: the compiled programs and the sequence of updates they make.

Two kinds of program. `experience` collects and depends on N and T; `improve` learns and depends on
B, the mini-batch and the epochs, so trying another split of the same batch compiles no second
learner.
Actor and critic with networks of their own are improved by two programs, side by side on two
devices where there are two (every core of a CPU is one, see `hardware`).
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import TrainingError
from nbyt.minibatch import shuffle_and_chop
from nbyt.policy import normalise
from nbyt.policy.actor_critic import ActorCritic, Params, build
from nbyt.policy.files import shapes, to_tensors
from nbyt.rng import numpy_stream, stream
from nbyt.store.tensors import match
from nbyt.training.algorithms.registry import Row, UpdateMetrics, env_fault, finite
from nbyt.training.hardware import pin_to_device
from nbyt.training.losses import Batch, Coefficients, actor_loss, clipped, critic_loss, normalised
from nbyt.training.plan import PPOPlan, PPOSettings
from nbyt.training.sources import (
    DeviceSource,
    HostSource,
    Learner,
    RewardScale,
    SourceBatch,
    coefficients_of,
)

_ADAM_EPS = 1e-5
_KL_MARGIN = 1.5


def learn(
    policy: ActorCritic,
    settings: PPOSettings,
    learner: Learner,
    gathered: SourceBatch,
    indices: Int[Any, "gradient_steps minibatch"],
    coefficients: Coefficients,
    rate: jax.Array,
    *,
    side_by_side: bool = True,
) -> tuple[Learner, dict[str, jax.Array]]:
    """Return the learner after one update, and the update's numbers.

    side_by_side: parts on devices of their own; not inside a program that is on one device.
    """
    params, optimiser = learner.params, dict(learner.optimiser)
    numbers: dict[str, jax.Array] = {}
    devices = _devices(settings.parts) if side_by_side else [None] * len(settings.parts)
    for part, device in zip(settings.parts, devices, strict=True):
        inputs = (trained(params, part), params.observation, optimiser[part])
        rest = (gathered.batch, coefficients, rate)
        if device is not None:
            inputs, rest = jax.device_put((inputs, rest), device)
        improved, state, seen = improve(policy, settings.form, part, *inputs, *rest, indices)
        if device is not None:
            improved, state, seen = pin_to_device((improved, state, seen))
        params, optimiser[part] = params._replace(**improved), state
        numbers |= seen
    numbers |= {**gathered.numbers._asdict(), **gathered.episodes._asdict(), "learning_rate": rate}
    params = params._replace(observation=gathered.observation)
    return Learner(params, optimiser, gathered.scale), numbers


@partial(jax.jit, static_argnames=("policy", "settings", "part"))
def improve(
    policy: ActorCritic,
    settings: PPOSettings,
    part: str,
    weights: dict[str, Any],
    observation: normalise.RunningMoments | None,
    optimiser: Any,
    batch: Batch,
    coefficients: Coefficients,
    rate: Float[Array, ""],
    indices: Int[Array, "gradient_steps minibatch"],
) -> tuple[dict[str, Any], Any, dict[str, jax.Array]]:
    """Return the weights after all epochs, the optimiser's state, and means over gradient steps."""
    loss = partial(part_loss, policy, settings, part, observation, coefficients)
    body = partial(gradient_step, settings, loss, batch, rate)
    carried = (weights, optimiser, jnp.bool_(False))
    (weights, optimiser, _), (numbers, made) = jax.lax.scan(body, carried, indices)
    share = made / jnp.maximum(made.sum(), 1.0)
    return weights, optimiser, {name: values @ share for name, values in numbers.items()}


def trained(params: Params, part: str) -> dict[str, Any]:
    """Return the weights that belong to a part."""
    if part == "both":
        return {"actor": params.actor, "critic": params.critic, "torso": params.torso}
    return {part: getattr(params, part)}


def fresh_optimiser(settings: PPOSettings, params: Params, part: str) -> Any:
    """Return the optimiser's state before a part's first gradient step."""
    weights = trained(params, part)
    return _optimiser(settings.max_grad_norm, weights).init(weights)


def rate_of(settings: PPOSettings, number: int, last: int) -> jax.Array:
    """Return the learning rate of update `number` of `last`."""
    left = 1 - (number - 1) / last if settings.anneal else 1
    return jnp.float32(settings.learning_rate * left)


def gradient_step(
    settings: PPOSettings,
    loss: Any,
    batch: Batch,
    rate: jax.Array,
    carried: tuple[Any, Any, jax.Array],
    indices: jax.Array,
) -> tuple[tuple[Any, Any, jax.Array], tuple[dict[str, jax.Array], jax.Array]]:
    """Return weights, optimiser and stop flag after one mini-batch; its numbers, and 1 if it
    counted.

    loss: of weights and a mini-batch, as `part_loss` gives it.
    """
    weights, state, stopped = carried
    minibatch = jax.tree.map(lambda rows: rows[indices], batch)
    gradient, numbers = jax.grad(loss, has_aux=True)(weights, minibatch)
    change, next_state = _optimiser(settings.max_grad_norm, weights).update(gradient, state)
    moved = jax.tree.map(lambda w, c: w - rate * c, weights, change)
    if settings.target_kl is None:
        return (moved, next_state, stopped), (numbers, jnp.float32(1))
    stopped |= numbers["approximate_kl"] > _KL_MARGIN * settings.target_kl
    keep = partial(jax.tree.map, partial(jnp.where, stopped))
    return (keep(weights, moved), keep(state, next_state), stopped), (
        numbers,
        1.0 - stopped.astype(jnp.float32),
    )


def part_loss(
    policy: ActorCritic,
    settings: PPOSettings,
    part: str,
    observation: normalise.RunningMoments | None,
    coefficients: Coefficients,
    weights: dict[str, Any],
    minibatch: Batch,
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Return a part's loss and the numbers to report."""
    params = Params(**{"actor": None, "critic": None, **weights}, observation=observation)
    total, numbers = jnp.float32(0), {}
    if part != "critic":
        if settings.normalise_advantages == "minibatch":
            minibatch = minibatch._replace(advantage=normalised(minibatch))
        loss, seen = actor_loss(policy, params, minibatch, coefficients)
        total, numbers = total + loss, seen._asdict()
    if part != "actor":
        clips = settings.value_clip is not None
        loss, error = critic_loss(policy, params, minibatch, coefficients, value_clip=clips)
        total, numbers = total + loss, {**numbers, "value_loss": error}
    return total, numbers


def _optimiser(max_grad_norm: float, weights: Any) -> optax.GradientTransformation:
    return clipped(optax.scale_by_adam(eps=_ADAM_EPS), max_grad_norm, weights)


def _devices(parts: tuple[str, ...]) -> list[Any]:
    """Return the device of each part; None for where its data already is."""
    devices = jax.devices()
    if len(parts) == 1 or len(devices) == 1:
        return [None] * len(parts)
    # The part that runs elsewhere comes first in time: its copy is under way while the other runs.
    return [None, devices[1]]


class PPOAlgorithm:
    """A learner and the environments that it learns from."""

    def __init__(
        self, plan: PPOPlan, env: DeviceEnv | HostEnv, weights: Params | None = None
    ) -> None:
        self._plan = plan
        self.policy, self.learner = initial_learner(plan, env)
        if weights is not None:
            match(to_tensors(weights), shapes(self.learner.params), "--from")
            self.learner = self.learner._replace(params=weights)
        self.source = _source(plan, env, self.policy)
        self.source.begin(self.learner, plan.seed)

    @property
    def params(self) -> Params:
        return self.learner.params

    def updates(self, first: int) -> Iterator[UpdateMetrics]:
        """Make the updates; randomness is found by number, so any of them can be the first."""
        plan, key = self._plan, jax.random.key(self._plan.seed)
        coefficients, self.learner = coefficients_of(plan.settings), pin_to_device(self.learner)
        for number in range(first, plan.updates + 1):
            gathered = self.source.gather(self.learner, stream(key, "update", number))
            shuffle = numpy_stream(plan.seed, "minibatch.shuffle", number)
            indices = shuffle_and_chop(plan.layout, shuffle)
            rate = rate_of(plan.settings, number, plan.updates)
            given = (gathered, indices, coefficients, rate)
            self.learner, numbers = learn(self.policy, plan.settings, self.learner, *given)
            yield UpdateMetrics(number, numbers)

    def row(self, made: UpdateMetrics) -> Row:
        return ppo_row(self._plan, made)

    def facts(self) -> dict[str, Any]:
        """Return what the critic's rewards are divided by; None where they are not scaled."""
        scale = self.learner.scale
        known = None if scale is None else float(normalise.spread(scale.moments))
        return {"reward_scale": known}

    def state(self) -> Any:
        return {"learner": self.learner, "runner": self.source.state()}

    def restore(self, state: Any) -> None:
        self.learner = state["learner"]
        self.source.restore(state["runner"])

    def close(self) -> None:
        self.source.close()


def initial_learner(plan: PPOPlan, env: DeviceEnv | HostEnv) -> tuple[ActorCritic, Learner]:
    """Build the policy and the learner of a run before its first update."""
    settings = plan.settings
    network, key = settings.parsed_network, stream(jax.random.key(plan.seed), "learner")
    policy = build(env.observation_space, env.action_space, network, shared=settings.shared)
    params = policy.init(
        stream(key, "policy"), normalise_observations=settings.normalise_observations
    )
    optimiser = {part: fresh_optimiser(settings, params, part) for part in settings.parts}
    scale = None
    if settings.normalise_rewards:
        scale = RewardScale(normalise.fresh(()), jnp.zeros(plan.layout.envs))
    return policy, Learner(params, optimiser, scale)


def _source(
    plan: PPOPlan, env: DeviceEnv | HostEnv, policy: ActorCritic
) -> DeviceSource | HostSource:
    if isinstance(env, HostEnv):
        return HostSource(env, policy, plan.settings, plan.layout, vector=plan.vector)
    return DeviceSource(env, policy, plan.settings, plan.layout)


def ppo_row(plan: PPOPlan, update: UpdateMetrics) -> Row:
    """Return the update's numbers as plain floats; raise where the env or the loss gave a NaN."""
    numbers = jax.device_get(update.numbers)
    action = numbers.pop("fault_action")
    fault = int(numbers.pop("fault"))
    if fault >= 0 and plan.settings.on_nonfinite == "stop":
        time, env = divmod(fault, plan.layout.envs)
        step = (update.number - 1) * plan.layout.steps + time + 1
        raise env_fault(plan, env, step, action)
    count = float(numbers.pop("episodes"))
    returns, lengths = float(numbers.pop("returns")), float(numbers.pop("lengths"))
    row = {
        "update": update.number,
        "steps": update.number * plan.layout.batch,
        "episodes": int(count),
        "mean_return": returns / count if count else None,
        "mean_length": lengths / count if count else None,
        **{name: finite(value) for name, value in sorted(numbers.items())},
    }
    if row["policy_loss"] is None or row["value_loss"] is None:
        raise TrainingError(
            "the loss is not a finite number any more",
            where=f"update {update.number}, seed {plan.seed}",
            fix="lower --learning-rate, or try --normalise-rewards",
        )
    return row
