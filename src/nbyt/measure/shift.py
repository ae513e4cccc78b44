"""How far an update moves: the policy, its parameters, and what is visited under it."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Shaped

from nbyt.collect.pool import collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import UsageError
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.distributions import Categorical, Gaussian, Head
from nbyt.policy.stage import Stage


def visited(
    env: DeviceEnv | HostEnv, stage: Stage, *, chains: int, points: int, apart: int, seed: int
) -> Float[np.ndarray, "n k ..."]:
    """Observations of independent chains, each of them `points` steps that are `apart` steps apart.

    Chains begin at random phases of an episode. The same seed gives two stages the same luck.
    """
    plan = PoolPlan(chains, points * apart, 0, 1.0, seed)
    pool = collect_pool(env, stage.policy, stage.params, plan)
    return np.swapaxes(pool.observation[apart - 1 :: apart], 0, 1)


def policy_divergence(
    before: Stage, after: Stage, observation: np.ndarray
) -> Float[np.ndarray, "..."]:
    """KL(before | after) of the actions at each observation."""
    some = jnp.asarray(observation)
    return np.asarray(_divergence(before.policy, before.params, after.params, some), float)


@partial(jax.jit, static_argnums=0)
def _divergence(
    policy: ActorCritic, before: Params, after: Params, observation: Shaped[Array, "..."]
) -> Float[Array, "..."]:
    first, second = (policy.parameters(params, observation) for params in (before, after))
    return divergence(policy.head, first, second)


def divergence(
    head: Head, first: Float[Array, "... P"], second: Float[Array, "... P"]
) -> Float[Array, "..."]:
    """KL of two action distributions of one family, by their parameters."""
    if isinstance(head, Categorical):
        log = jax.nn.log_softmax(first), jax.nn.log_softmax(second)
        return jnp.sum(jnp.exp(log[0]) * (log[0] - log[1]), axis=-1)
    if isinstance(head, Gaussian):
        (mean, log_std), (other, other_log) = (jnp.split(p, 2, axis=-1) for p in (first, second))
        ratio = jnp.exp(2 * (log_std - other_log))
        apart = ((mean - other) * jnp.exp(-other_log)) ** 2
        return 0.5 * jnp.sum(ratio + apart - 1 - jnp.log(ratio), axis=-1)
    raise UsageError(
        f"no divergence for {type(head).__name__}",
        where="policy",
        fix="use an env with a Discrete or Box action space",
    )


def actor_step(before: Stage, after: Stage) -> Float[np.ndarray, " p"]:
    """What an update added to the actor's parameters."""
    first, second = (
        np.asarray(ravel_pytree((one.params.actor, one.params.torso))[0], float)
        for one in (before, after)
    )
    return second - first
