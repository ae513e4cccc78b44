"""A picture of bias and noise: batch gradients of the actor beside the true one, in a plane.

The plane holds the true gradient G* (first axis) and the mean gradient of a layout (second axis:
what of it is not along G*). Half of the chains decide where it lies; the other half is shown in
it, so that no chain draws itself closer to the truth than it is.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.weights import Scale, fragment_advantages, reference_advantages
from nbyt.measure.chains import Progress, Resources
from nbyt.measure.request import Request
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.stage import Stage
from nbyt.rng import numpy_stream

# Rounds of a measurement count from 0; chains for the picture are never among those measured.
_ROUND = 1 << 20
_ROWS = 1 << 15
_POINTS = 80


def draw_plane(
    env: DeviceEnv | HostEnv,
    stage: Stage,
    request: Request,
    scale: Scale,
    steps: tuple[int, ...],
    resources: Resources,
    progress: Progress,
) -> list[dict[str, Any]]:
    """For each T: mean, spread and some batch gradients, in units of the true gradient's length.

    scale: of the advantages at each of the request's T, at its first lambda.
    """
    pool = _pool(env, stage, request, resources, progress)
    half = pool.chains // 2
    rows = request.chain_steps
    reference = reference_advantages(pool, request.gamma)[:rows]
    found = []
    for length in steps:
        place = request.steps.index(length)
        mean, spread = scale.mean[place, 0], scale.spread[place, 0]
        counted = rows // length * length
        advantage = fragment_advantages(pool, request.gamma, request.lambdas[0], length, rows)
        own = ((advantage - mean) / spread)[:counted]
        goal = (reference / spread)[:counted]
        deciding = _gradients(stage, pool, [goal, own], slice(0, half))
        along, across, size = _axes(*deciding)
        shown = _projections(stage, pool, [along, across], slice(half, None))[:, :counted]
        fragments = (shown * own[:, half:]).reshape(2, -1, length, own.shape[1] - half).mean(2)
        found.append(_drawn(fragments.reshape(2, -1) / size, request, length))
    return found


def _pool(
    env: DeviceEnv | HostEnv,
    stage: Stage,
    request: Request,
    resources: Resources,
    progress: Progress,
) -> Pool:
    plan = PoolPlan(
        request.chains,
        request.chain_steps + request.ahead,
        request.ahead,
        request.gamma,
        request.seed,
        reward_scale=stage.facts.get("reward_scale"),
        envs=resources.envs,
        vector=resources.vector,
        round=_ROUND,
    )
    return collect_pool(
        env,
        stage.policy,
        stage.params,
        plan,
        lambda done, total: progress("chains of the picture", done, total),
    )


def _axes(reference: Any, mean: Any) -> tuple[Any, Any, float]:
    """Unit vectors along the reference, and along what of the mean is across it; its length."""
    size = float(np.sqrt(_dot(reference, reference)))
    along = jax.tree.map(lambda x: x / max(size, 1e-30), reference)
    part = _dot(along, mean)
    rest = jax.tree.map(lambda m, a: m - part * a, mean, along)
    width = float(np.sqrt(_dot(rest, rest)))
    return along, jax.tree.map(lambda x: x / max(width, 1e-30), rest), max(size, 1e-30)


def _dot(first: Any, second: Any) -> float:
    products = jax.tree.map(lambda a, b: jnp.vdot(a, b), first, second)
    return float(sum(jax.tree.leaves(products)))


def _drawn(
    fragments: Float[np.ndarray, "2 fragments"], request: Request, steps: int
) -> dict[str, Any]:
    """Batches of N fragments each, drawn from those that there are."""
    envs = request.batch // steps
    generator = numpy_stream(request.seed, "plane", steps)
    count = fragments.shape[1]
    # The mean of many fragments from few needs their counts only.
    draws = generator.multinomial(envs, np.full(count, 1 / count), _POINTS)
    spread = np.cov(fragments) / envs
    return {
        "envs": envs,
        "steps": steps,
        "mean": fragments.mean(1).tolist(),
        "covariance": spread.tolist(),
        "points": (draws @ fragments.T / envs).tolist(),
    }


def _pieces(pool: Pool, chains: slice, rows: int) -> list[slice]:
    """Cuts in time such that all chains' rows of one are few enough for one pass."""
    width = len(range(*chains.indices(pool.chains)))
    step = max(1, _ROWS // width)
    return [slice(first, min(first + step, rows)) for first in range(0, rows, step)]


def _gradients(stage: Stage, pool: Pool, weights: list[np.ndarray], chains: slice) -> list[Any]:
    """The mean over steps of weight times score, as a tree like the parameters."""
    rows = len(weights[0])
    sums: list[Any] = [None] * len(weights)
    for time in _pieces(pool, chains, rows):
        seen = pool.observation[time, chains], pool.action[time, chains]
        for place, weight in enumerate(weights):
            part = _weighted(stage.policy, stage.params, *seen, weight[time, chains])
            sums[place] = part if sums[place] is None else jax.tree.map(jnp.add, sums[place], part)
    count = weights[0][:, chains].size
    return [jax.tree.map(lambda x: x / count, one) for one in sums]


def _projections(
    stage: Stage, pool: Pool, directions: list[Any], chains: slice
) -> Float[np.ndarray, "2 L n"]:
    """Every step's score along each direction."""
    found = []
    for time in _pieces(pool, chains, pool.steps):
        seen = pool.observation[time, chains], pool.action[time, chains]
        found.append([_along(stage.policy, stage.params, one, *seen) for one in directions])
    return np.concatenate([np.asarray(part) for part in found], axis=1)


@partial(jax.jit, static_argnums=0)
def _weighted(
    policy: ActorCritic, params: Params, observation: Any, action: Any, weight: Any
) -> Any:
    def total(actor: Any) -> jax.Array:
        return jnp.sum(jnp.asarray(weight) * _log_prob(policy, params, actor, observation, action))

    return jax.grad(total)((params.actor, params.torso))


@partial(jax.jit, static_argnums=0)
def _along(
    policy: ActorCritic, params: Params, direction: Any, observation: Any, action: Any
) -> jax.Array:
    def log_prob(actor: Any) -> jax.Array:
        return _log_prob(policy, params, actor, observation, action)

    return jax.jvp(log_prob, ((params.actor, params.torso),), (direction,))[1]


def _log_prob(
    policy: ActorCritic, params: Params, actor: Any, observation: Any, action: Any
) -> jax.Array:
    own = params._replace(actor=actor[0], torso=actor[1])
    return policy.head.log_prob(
        policy.parameters(own, jnp.asarray(observation)), jnp.asarray(action)
    )
