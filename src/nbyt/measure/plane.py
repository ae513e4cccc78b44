"""A picture of bias and noise: batch gradients of the actor and the true one, in a plane.

The plane holds the true gradient G* (first axis) and the mean gradient of a layout (second axis:
what of it is not along G*). Half of the chains decide where it lies; the other half is shown in
it, so that no chain draws itself closer to the truth than it is.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from nbyt.collect import Progress
from nbyt.collect.pool import Pool
from nbyt.collect.segment import PoolPlan
from nbyt.gradients.engines import Engine
from nbyt.gradients.spec import AdvantageScale, fragment_advantages, reference_advantages
from nbyt.measure.frozen_policy import FrozenPolicy
from nbyt.measure.request import Request, Resources
from nbyt.rng import numpy_stream

# Rounds of a measurement count from 0; chains for the picture are never among those measured.
_ROUND = 1 << 20
_ROWS = 1 << 15
_POINTS = 80


def draw_plane(
    frozen_policy: FrozenPolicy,
    request: Request,
    scale: AdvantageScale,
    steps: tuple[int, ...],
    resources: Resources,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Draw batch gradients for each T, in units of the true gradient's length.

    scale: of the advantages at each of the request's T, at its first lambda.
    """
    pool, engine = _pool(frozen_policy, request, resources, progress), frozen_policy.engine
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
        deciding = [_gradient(engine, pool, weight, slice(0, half)) for weight in (goal, own)]
        along, across, size = _axes(*deciding)
        shown = _projections(engine, pool, [along, across], slice(half, None))[:, :counted]
        fragments = (shown * own[:, half:]).reshape(2, -1, length, own.shape[1] - half).mean(2)
        found.append(_drawn(fragments.reshape(2, -1) / size, request, length))
    return found


def _pool(
    frozen_policy: FrozenPolicy, request: Request, resources: Resources, progress: Progress
) -> Pool:
    plan = PoolPlan(
        request.chains,
        request.chain_steps + request.ahead,
        request.ahead,
        request.gamma,
        request.seed,
        reward_scale=frozen_policy.facts.get("reward_scale"),
        envs=resources.envs,
        vector=resources.vector,
        round=_ROUND,
    )
    return frozen_policy.collect(
        plan, lambda done, total: progress("chains of the picture", done, total)
    )


def _axes(
    reference: Float[np.ndarray, " P"], mean: Float[np.ndarray, " P"]
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return unit vectors along the reference and along the rest of the mean; its length."""
    size = max(float(np.linalg.norm(reference)), 1e-30)
    along = reference / size
    rest = mean - (along @ mean) * along
    return along, rest / max(float(np.linalg.norm(rest)), 1e-30), size


def _drawn(
    fragments: Float[np.ndarray, "2 fragments"], request: Request, steps: int
) -> dict[str, Any]:
    """Return batches of N fragments each, drawn from those that there are."""
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
    """Return cuts in time such that all chains' rows of one are few enough for one pass."""
    width = len(range(*chains.indices(pool.chains)))
    step = max(1, _ROWS // width)
    return [slice(first, min(first + step, rows)) for first in range(0, rows, step)]


def _gradient(
    engine: Engine, pool: Pool, weight: Float[np.ndarray, "L n"], chains: slice
) -> Float[np.ndarray, " P"]:
    total: Any = 0.0
    for time in _pieces(pool, chains, len(weight)):
        own = {"actor": weight[time, chains].reshape(-1)}
        total = total + engine.gradient(*_steps(pool, time, chains), own).astype(float)
    return total / weight[:, chains].size


def _projections(
    engine: Engine, pool: Pool, directions: list[np.ndarray], chains: slice
) -> Float[np.ndarray, "2 L n"]:
    found = []
    for time in _pieces(pool, chains, pool.steps):
        seen = _steps(pool, time, chains)
        found.append([engine.along(*seen, one) for one in directions])
    scores = np.concatenate([np.asarray(part) for part in found], axis=1)
    return scores.reshape(2, pool.steps, -1)


def _steps(pool: Pool, time: slice, chains: slice) -> tuple[np.ndarray, np.ndarray]:
    """Return observations and actions, step after step in one row."""
    some = (pool.observation[time, chains], pool.action[time, chains])
    return some[0].reshape(-1, *some[0].shape[2:]), some[1].reshape(-1, *some[1].shape[2:])
