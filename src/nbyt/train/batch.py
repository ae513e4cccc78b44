"""From a rollout to a batch: advantages, normalisation, and the check for NaN."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from nbyt.collect.rollout import Rollout, next_value
from nbyt.objective.advantage import explained_variance, gae
from nbyt.objective.ppo import Batch, Coefficients, normalised
from nbyt.policy import normalise
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.train.settings import PPOSettings


class RewardScale(NamedTuple):
    """Moments of the discounted return, and each env's discounted return so far."""

    moments: normalise.RunningMoments
    discounted: Float[Array, " N"]


class BatchNumbers(NamedTuple):
    """What a batch tells about itself.

    fault: the first row (t * N + n) with a number that is not finite, or -1, and its action.
    dropped: the share of rows left out for that.
    """

    explained_variance: jax.Array
    fault: jax.Array
    fault_action: jax.Array
    dropped: jax.Array


class PreparedBatch(NamedTuple):
    """A batch and the moments that have seen it (they count from the next rollout on)."""

    batch: Batch
    observation: normalise.RunningMoments | None
    scale: RewardScale | None
    numbers: BatchNumbers


def prepare_batch(
    policy: ActorCritic,
    settings: PPOSettings,
    params: Params,
    rollout: Rollout,
    scale: RewardScale | None,
    coefficients: Coefficients,
) -> PreparedBatch:
    """The batch of a rollout."""
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
        explained_variance(batch.value, batch.target, batch.valid),
        jnp.where(bad.any(), first, -1),
        batch.action[first],
        bad.mean(),
    )
    if settings.normalise_advantages == "batch":
        batch = batch._replace(advantage=normalised(batch))
    return PreparedBatch(batch, moments, scale, numbers)


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
    """Rows of experience with a reward, observation or following value that is not finite."""
    seen = jnp.isfinite(rollout.reward) & jnp.isfinite(next_value(rollout))
    if jnp.issubdtype(rollout.observation.dtype, jnp.floating):
        axes = tuple(range(2, rollout.observation.ndim))
        seen &= jnp.isfinite(rollout.observation).all(axis=axes)
    return ~seen & rollout.valid


def _without(rollout: Rollout, bad: Bool[Array, "T N"]) -> Rollout:
    """The rollout with bad rows made harmless and marked as no experience."""
    clean = {
        name: _finite(getattr(rollout, name))
        for name in ("observation", "log_prob", "value", "reward", "final_value", "last_value")
    }
    return rollout._replace(**clean, valid=rollout.valid & ~bad)


def _finite(x: jax.Array) -> jax.Array:
    return jnp.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0)


def _scaled(
    scale: RewardScale, rollout: Rollout, gamma: jax.Array
) -> tuple[RewardScale, Float[Array, "T N"]]:
    """Rewards divided by the spread of discounted returns, and the moments brought up to date."""
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
