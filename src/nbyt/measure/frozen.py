"""Independent batches of a frozen stage, as its training would meet them."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.weights import fragment_advantages
from nbyt.layout import Layout
from nbyt.objective.ppo import Batch
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.stage import Stage
from nbyt.train.settings import PPOSettings

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
    """So many batches, no two of which share an env; all envs are at random phases.

    Advantages are raw: whoever uses a batch normalises them as it needs.
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
    """The envs' steps without their order in time: sample t * N + n is step t of env n."""
    flat = partial(_flat, envs=envs)
    observation, action, value = flat(pool.observation), flat(pool.action), flat(pool.value)
    own = flat(advantage.astype(np.float32))
    log_prob = _log_prob(stage.policy, stage.params, observation, action)
    return Batch(observation, action, log_prob, value, own, value + own, jnp.ones_like(own))


def _flat(array: Shaped[np.ndarray, "L n ..."], envs: slice) -> Shaped[Array, "B ..."]:
    return jnp.asarray(array[:, envs].reshape(-1, *array.shape[2:]))


@partial(jax.jit, static_argnames="policy")
def _log_prob(
    policy: ActorCritic, params: Params, observation: jax.Array, action: jax.Array
) -> Float[Array, " B"]:
    return policy.head.log_prob(policy.parameters(params, observation), action)
