"""Where the noise of a gradient comes from, measured by cloning the simulator.

A step's advantage is drawn anew from the same state and action, and from the state that it led to.
What the draws have in common is known at that point, what they do not is luck still to come. Every
part is estimated without bias.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from nbyt.collect import PartProgress
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import EnvError, EnvUsageError, UsageError
from nbyt.gradients.clones import ClonePlan, Clones, Discount, cost, device_clones
from nbyt.gradients.host_clones import host_clones, why_not
from nbyt.gradients.products import Layer, gram, grouped, layers, many_sums, touched
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.stats.sources import SourceBlocks, SourceEstimates, source_estimates

Parts = dict[str, Float[Array, ""]]  # by the names of SourceBlocks

OBJECTIVES = ("actor", "critic")
LEAST_ROLLOUTS = 4

# Products of steps, and numbers in gradients, that a block may hold at once.
_PRODUCTS = 2**24
_NUMBERS = 2**26


class _Advantages(NamedTuple):
    """The advantages of `Clones`, rollouts first."""

    own: Float[Array, "R T"]
    first: Float[Array, "R T"]
    second: Float[Array, "R T"]
    onward: Float[Array, "R T"]
    echo: Float[Array, "R T"]


def measure_sources(
    env: DeviceEnv | HostEnv,
    policy: ActorCritic,
    params: Params,
    *,
    steps: int,
    gamma: float,
    lam: float,
    rollouts: int,
    seed: int,
    mean: float = 0.0,
    spread: float = 1.0,
    reward_scale: float | None = None,
    progress: PartProgress = lambda made, total: None,
) -> dict[str, SourceEstimates]:
    """Measure the sources of the actor's and the critic's noise, for one env's rollout.

    At least `rollouts` rollouts are made, in equal blocks. mean, spread: constants that the
    actor's advantages are standardised with. reward_scale: as in a pool's plan. `progress` hears
    of env steps made and in all. Luck that is in rare events (a fall, a goal) needs many rollouts:
    few of them may see none, and an interval cannot know what was never seen.
    """
    _require(env, steps, rollouts, spread)
    block = _block_size(params, steps, rollouts)
    discount = Discount(gamma, lam, reward_scale)
    plan = ClonePlan(-(-rollouts // block), block, steps, discount, seed)
    found: list[dict[str, Parts]] = []
    for made in _clones(env, policy, params, plan):
        parts = block_sources(policy, params, made, gamma * lam, mean, spread)
        found.append(jax.device_get(parts))
        _require_finite(env.id, found[-1], seed)
        progress(*(cost(steps, count * block) for count in (len(found), plan.blocks)))
    return {name: source_estimates(_beside([one[name] for one in found])) for name in OBJECTIVES}


def _clones(
    env: DeviceEnv | HostEnv, policy: ActorCritic, params: Params, plan: ClonePlan
) -> Iterator[Clones]:
    if isinstance(env, HostEnv):
        return host_clones(env, policy, params, plan)
    return device_clones(env, policy, params, plan)


@partial(jax.jit, static_argnames=("policy",))
def block_sources(
    policy: ActorCritic,
    params: Params,
    made: Clones,
    decay: float,
    mean: float,
    spread: float,
) -> dict[str, Parts]:
    """Estimate the sources of actor and critic from one block; decay is gamma lam."""
    turned = jax.tree.map(lambda x: x.swapaxes(0, 1), made)
    flat = [x.reshape(-1, *x.shape[2:]) for x in (turned.observation, turned.action)]
    rows = grouped(layers(policy, params, flat[0], flat[1], OBJECTIVES), len(turned.own))
    raw = _Advantages(*(getattr(turned, name) for name in _Advantages._fields))
    scaled = _Advantages(*((x - mean) / spread for x in raw))
    return {
        name: _sources(touched(rows, (name,)), name, own, turned.ended, decay)
        for name, own in (("actor", scaled), ("critic", raw))
    }


def _sources(
    rows: list[Layer], part: str, made: _Advantages, ended: Bool[Array, "R T"], decay: float
) -> Parts:
    """Estimate the sources of one gradient from one block.

    Luck after the step at time t enters through its advantage and, carried back, through those of
    the episode's earlier steps: by e_t = sum_{s<t} (gamma lam)^(t - s) f_s. Hence
    T^2 Var(noise) = sum_t E (|f_t|^2 + 2 f_t . e_t) Var(A_t | s_t, a_t), and the luck that is the
    env's answer at time t counts |f_t + e_t|^2. This follows from E[A_t | s_t, a_t] being all that
    the past knows of A_t; unlike |noise|^2 of whole rollouts it has no cross terms to average out.
    """
    samples = jnp.stack([made.own, made.first, made.second])
    rollouts, steps = made.own.shape
    gradients = many_sums(rows, {part: samples / steps})
    own, first, second = gradients - gradients.mean(axis=1, keepdims=True)
    sampling = _covariance(first, second)
    square, shared, traced = _squares(gram(rows, part, part), ended, decay)
    spread = jnp.var(samples, axis=0, ddof=1)
    # Two answers, compared under one luck and again under another: the product has no noise of
    # its own where the answers are alike.
    answers = (made.own - made.echo) * (made.onward - made.first) / 2
    total = rollouts * steps**2
    return {
        "sampling": sampling,
        "coupling": _covariance(own, first + second) - 2 * sampling,
        "trajectory": jnp.sum(square * spread) / total,
        "shared_luck": jnp.sum(2 * shared * spread) / total,
        "environment": jnp.sum(traced * answers) / total,
        "own_step": jnp.sum(square * answers) / total,
    }


def _covariance(a: Float[Array, "R P"], b: Float[Array, "R P"]) -> Float[Array, ""]:
    return jnp.sum(a * b) / (a.shape[0] - 1)


def _squares(
    grams: Float[Array, "R T T"], ended: Bool[Array, "R T"], decay: float
) -> tuple[Float[Array, "R T"], Float[Array, "R T"], Float[Array, "R T"]]:
    """Return |f_t|^2, f_t . e_t and |f_t + e_t|^2, where e_t = c_{t-1} (e_{t-1} + f_{t-1})."""
    time, episode = jnp.arange(grams.shape[-1]), jnp.cumsum(ended, axis=-1) - ended
    back = time[:, None] - time[None, :]
    same = (episode[:, :, None] == episode[:, None, :]) & (back > 0)
    shared = jnp.sum(grams * jnp.where(same, decay ** jnp.maximum(back, 0), 0.0), axis=-1)
    square = jnp.diagonal(grams, axis1=-2, axis2=-1)
    inputs = ((square + 2 * shared).T, jnp.where(ended, 0.0, decay).T)
    _, traced = jax.lax.scan(_trace, jnp.zeros(len(grams)), inputs)
    return square, shared, traced.T


def _trace(before: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
    added, carry = row
    traced = before + added
    return carry**2 * traced, traced


def _beside(found: list[Parts]) -> SourceBlocks:
    return SourceBlocks(**{name: np.array([one[name] for one in found]) for name in found[0]})


def _block_size(params: Params, steps: int, rollouts: int) -> int:
    """Return rollouts in a block: half the root of all, so that there are many blocks.

    A block of 2 doubles the error that the mean adds, few blocks widen the interval; and a block
    must fit in memory.
    """
    size = sum(leaf.size for leaf in jax.tree.leaves((params.actor, params.critic, params.torso)))
    room = min(_PRODUCTS // steps**2, _NUMBERS // (3 * size))
    return max(2, min(int(rollouts**0.5 / 2), room))


def _require(env: DeviceEnv | HostEnv, steps: int, rollouts: int, spread: float) -> None:
    reason = why_not(env)
    if reason is not None:
        raise EnvUsageError(reason, where=env.id, fix="leave the sources out for this env")
    if steps < 1 or rollouts < LEAST_ROLLOUTS:
        raise UsageError(
            f"{rollouts} rollouts of {steps} steps cannot be measured",
            where="sources",
            fix=f"use 1 step or more and {LEAST_ROLLOUTS} rollouts or more; 64 give fair intervals",
        )
    if not spread > 0:
        raise UsageError(f"advantages cannot be divided by {spread}", where="spread", fix="use 1")


def _require_finite(id: str, found: dict[str, Parts], seed: int) -> None:
    if not all(np.isfinite(x).all() for one in found.values() for x in one.values()):
        raise EnvError(
            f"env '{id}' gave a reward or an observation that is not a finite number",
            where=f"seed {seed}",
            fix=f"run `nbyt check-env {id} --seed {seed}` to see it",
        )
