"""What a sampler costs on a real rollout: batches of a frozen policy, cut by the sampler."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from nbyt.collect import Progress
from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.products import Layer, group_sums, grouped, layers, paired
from nbyt.gradients.spec import fragment_advantages
from nbyt.layout import Layout
from nbyt.minibatch.auditing import Audit, squared_weights
from nbyt.minibatch.epochs import AuditSizes, default_split
from nbyt.minibatch.reading import read
from nbyt.minibatch.schemes import Minibatches
from nbyt.policy.actor_critic import ActorCritic, Params, Stage
from nbyt.policy.files import read_stage
from nbyt.stats.estimate import Estimate
from nbyt.stats.variance import Drawn, penalty, sample_variance
from nbyt.store.files import STAGE
from nbyt.store.run import open_run
from nbyt.training.loop import Watch, train
from nbyt.training.losses import Batch
from nbyt.training.plan import PPOPlan, PPOSettings

_AT_ONCE = 8


class Slots(NamedTuple):
    """Mini-batches of different sizes in one array: an index a slot, and its weight in the mean.

    A slot that is not needed has weight 0, and so has a whole mini-batch that is not; `present`
    tells which are.
    """

    indices: Int[np.ndarray, "k size"]
    weight: Float[np.ndarray, "k size"]
    present: Float[np.ndarray, " k"]


class CutBatch(NamedTuple):
    """One batch: its gradient G_B, the mean of |g_i|², the mean of G_mb and the mean of |G_mb|²."""

    gradient: Float[Array, " P"]
    mean_square: Float[Array, ""]
    mean: Float[Array, " P"]
    square: Float[Array, ""]


def slots(minibatches: Minibatches, count: int, size: int) -> Slots:
    """Return at most `count` mini-batches of at most `size` samples, in arrays of this shape."""
    indices, weight = np.zeros((count, size), np.int32), np.zeros((count, size), np.float32)
    for row, one in enumerate(minibatches):
        indices[row, : len(one)] = one
        weight[row, : len(one)] = 1 / len(one)
    present = np.arange(count) < len(minibatches)
    return Slots(indices, weight, present.astype(np.float32))


@partial(jax.jit, static_argnames=("policy", "part"))
def cut_batch(
    policy: ActorCritic,
    params: Params,
    part: str,
    batch: Batch,
    advantage: Float[Array, " B"],
    cut: Slots,
) -> CutBatch:
    """Measure what mini-batches do to the gradient of one part, "actor" or "critic"."""
    rows = layers(policy, params, batch.observation, batch.action, (part,))
    whole = grouped(rows, 1)
    gradient = group_sums(whole, {part: advantage[None]})[0] / advantage.size
    squares = advantage**2 * paired(whole, whole, part, part)[0]
    one = partial(_gradient, part, rows, advantage)
    found = jax.lax.map(one, (cut.indices, cut.weight), batch_size=_AT_ONCE)
    share = cut.present / cut.present.sum()
    square = share @ jnp.sum(found**2, axis=-1)
    return CutBatch(gradient, squares.mean(), share @ found, square)


def _gradient(
    part: str, rows: list[Layer], advantage: jax.Array, slot: tuple[jax.Array, jax.Array]
) -> Float[Array, " P"]:
    indices, weight = slot
    picked = jax.tree.map(lambda x: x[indices][None], rows)
    return group_sums(picked, {part: (weight * advantage[indices])[None]})[0]


# Chains of these batches are never those that a probe of the same seed measures.
_ROUND = 1 << 21


def frozen_batches(
    env: DeviceEnv | HostEnv,
    stage: Stage,
    layout: Layout,
    settings: PPOSettings,
    count: int,
    *,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Batch]:
    """Collect so many batches, no two of which share an env; all envs are at random phases.

    Advantages are raw: callers normalise them as they need.
    """
    plan = PoolPlan(
        count * layout.envs,
        layout.steps,
        0,
        settings.gamma,
        seed,
        reward_scale=stage.facts.get("reward_scale"),
        round=_ROUND,
    )
    pool = collect_pool(env, stage.policy, stage.params, plan, progress)
    advantage = fragment_advantages(pool, settings.gamma, settings.lam, layout.steps, layout.steps)
    envs = [slice(first, first + layout.envs) for first in range(0, pool.chains, layout.envs)]
    return [_batch(stage, pool, advantage, some) for some in envs]


def _batch(stage: Stage, pool: Pool, advantage: Float[np.ndarray, "L n"], envs: slice) -> Batch:
    """Drop the order of the envs' steps in time: sample t * N + n is step t of env n."""

    def flat(array: np.ndarray) -> jax.Array:
        return jnp.asarray(array[:, envs].reshape(-1, *array.shape[2:]))

    observation, action, value = flat(pool.observation), flat(pool.action), flat(pool.value)
    own = flat(advantage.astype(np.float32))
    log_prob = _log_prob(stage.policy, stage.params, observation, action)
    return Batch(observation, action, log_prob, value, own, value + own, jnp.ones_like(own))


@partial(jax.jit, static_argnames="policy")
def _log_prob(
    policy: ActorCritic, params: Params, observation: jax.Array, action: jax.Array
) -> Float[Array, " B"]:
    return policy.head.log_prob(policy.parameters(params, observation), action)


ENV = "classic:CartPole-v1"
_TRAINING = Layout(envs=16, steps=128, minibatch=256, epochs=4)
_TRAINED = 10
# Samples of all batches together, and the batches that they make.
_SAMPLES = 1 << 17
_BATCHES = (8, 64)
# Indices of one batch's mini-batches that are looked at.
_INDICES = 1 << 16
# Seeds of these updates are none that the audit itself uses.
_FIRST_SEED = 1 << 20


@dataclass(frozen=True)
class Cost:
    """What a sampler costs one gradient: by the formula for its mini-batches' sizes, and measured.

    formula: None where samples of a mini-batch are correlated.
    """

    formula: Estimate | None
    measured: Estimate

    @property
    def best(self) -> Estimate:
        """Return the cost by the formula where there is one: it has no noise of its own."""
        return self.formula or self.measured

    def as_dict(self) -> dict[str, Any]:
        formula = self.formula.as_dict() if self.formula else None
        return {"formula": formula, "measured": self.measured.as_dict()}


@dataclass(frozen=True)
class Rollouts:
    """The batches that a sampler is measured on, before any is collected."""

    envs: int
    steps: int
    batches: int

    def as_dict(self) -> dict[str, int]:
        samples = self.envs * self.steps * self.batches
        return {
            "envs": self.envs,
            "steps": self.steps,
            "batches": self.batches,
            "samples": samples,
        }


def planned(asked: AuditSizes) -> Rollouts:
    envs, steps = (asked.envs, asked.steps) if asked.envs else default_split(asked.batch)
    return Rollouts(envs, steps, int(np.clip(_SAMPLES // asked.batch, *_BATCHES)))


def brief_stage(env: DeviceEnv | HostEnv, seed: int, progress: Progress) -> Stage:
    """Train a policy for a moment: no longer random, still learning."""
    plan = PPOPlan(env.id, _TRAINING, _TRAINED * _TRAINING.batch, seed, PPOSettings(), (_TRAINED,))
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(Path(folder) / "run", plan.identity(), manifest={})
        train(plan, run, (Watch(progress, "training", _TRAINED),), env=env)
        return read_stage(run.present(STAGE)[-1])


def measured_cost(
    sampler: Callable[..., Any],
    audit: Audit,
    env: DeviceEnv | HostEnv,
    stage: Stage,
    *,
    seed: int = 0,
    progress: Progress = lambda what, done, total: None,
) -> dict[str, Cost]:
    """Measure what the sampler costs the actor's and the critic's gradient, on the stage's
    rollouts.
    """
    rollouts = planned(audit.asked)
    asked = replace(audit.asked, envs=rollouts.envs, steps=rollouts.steps)
    batches = _collected(env, stage, rollouts, seed, progress)
    cuts = list(_cuts(sampler, asked, len(batches), seed))
    advantage = np.stack([np.asarray(batch.advantage) for batch in batches])
    weights = {"actor": (advantage - advantage.mean()) / advantage.std(), "critic": advantage}
    found = {}
    for part, weight in weights.items():
        rows = []
        for number, (batch, cut) in enumerate(zip(batches, _padded(cuts), strict=True), start=1):
            own = cut_batch(stage.policy, stage.params, part, batch, weight[number - 1], cut)
            rows.append(jax.device_get(own))
            progress(f"{part}'s mini-batches", number, len(batches))
        found[part] = _cost(rows, audit)
    return found


def _collected(
    env: DeviceEnv | HostEnv, stage: Stage, rollouts: Rollouts, seed: int, progress: Progress
) -> list[Batch]:
    known = stage.facts.get("settings", {})
    settings = PPOSettings(gamma=known.get("gamma", 0.99), lam=known.get("lambda", 0.95))
    return frozen_batches(
        env,
        stage,
        Layout(rollouts.envs, rollouts.steps),
        settings,
        rollouts.batches,
        seed=seed,
        progress=lambda done, total: progress("rollouts", done, total),
    )


def _cuts(
    sampler: Callable[..., Any], asked: AuditSizes, batches: int, seed: int
) -> Iterator[Minibatches]:
    for number in range(batches):
        own = seed + _FIRST_SEED + number
        given = read(sampler, asked.batch, asked.minibatch, asked.epochs, own)
        step = -(-sum(len(one) for one in given) // _INDICES)
        yield [asked.as_time_major(one) for one in given[::step]]


def _padded(cuts: list[Minibatches]) -> Iterator[Any]:
    """Pad all to arrays of one shape, so that one program serves them."""
    count = max(len(cut) for cut in cuts)
    size = max(len(one) for cut in cuts for one in cut)
    return (slots(cut, count, size) for cut in cuts)


def _cost(rows: list[CutBatch], audit: Audit) -> Cost:
    columns = (np.array(column, float) for column in zip(*rows, strict=True))
    gradient, mean_square, mean, square = columns
    asked, products = audit.asked, gradient @ gradient.T
    scatter = np.asarray(sample_variance(mean_square, np.diagonal(products), asked.batch))
    shuffled = _drawn(products, scatter, 1 / asked.minibatch - 1 / asked.batch)
    formula = None
    if audit.variance_penalty.value is not None:
        added = squared_weights(audit.updates) - 1 / asked.batch
        formula = penalty(_drawn(products, scatter, added), shuffled)
    return Cost(formula, penalty(Drawn(mean @ mean.T, square), shuffled))


def _drawn(
    products: Float[np.ndarray, "k k"], scatter: Float[np.ndarray, " k"], added: float
) -> Drawn:
    """Return mini-batches around G_B that add so much S²."""
    return Drawn(products, np.diagonal(products) + added * scatter)
