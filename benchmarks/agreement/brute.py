"""Brute force: fresh rollouts of T steps, each differentiated by itself with jax.grad.

Nothing of the gradient engine or of the pool's statistics is used: the objective is the one that
PPO trains with, and its replicates are independent. Deaths are rare and carry most of a short
rollout's variance, so short rollouts need many replicates.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from nbyt.collect.device import collect, stagger, start
from nbyt.collect.rollout import Rollout, gae
from nbyt.collect.segment import burn_in
from nbyt.envs.protocol import DeviceEnv
from nbyt.policy.actor_critic import ActorCritic, Params, Stage
from nbyt.rng import stream
from nbyt.training.losses import Batch, Coefficients, actor_loss, critic_loss

OBJECTIVES = ("actor", "critic")


class Sums(NamedTuple):
    """Sums over one block of independent replicates of a rollout of T steps.

    gradient: of the replicates' gradients. square: of their squared norms. individual: the sum
    over the T steps of tr Var(g_t) / T², from the block's replicates alone.
    """

    gradient: Float[np.ndarray, " P"]
    square: float
    individual: float


class Found(NamedTuple):
    """An estimate and its standard error."""

    value: float
    error: float


def blocks(
    env: DeviceEnv, stage: Stage, steps: int, *, count: int, size: int, seed: int
) -> Iterator[dict[str, Sums]]:
    """`count` blocks of `size` replicates, all independent, by objective."""
    known = stage.facts["settings"]
    # Clipping is idle at ratio 1; the critic's coefficient is left out, as in its own gradient.
    numbers = (known["gamma"], known["lambda"], known["clip"], 1.0, 0.0, 1.0)
    coefficients = Coefficients(*map(jnp.float32, numbers))
    for place in range(count):
        key = stream(stream(jax.random.key(seed), "agreement.steps", steps), "block", place)
        runner = start(env, size, key)
        runner = stagger(env, stage.policy, stage.params, runner, key, burn_in(env.time_limit))
        rollout = _rollout(env, stage.policy, stage.params, runner, key, steps)
        yield {
            name: _sums(*_gradients(stage.policy, stage.params, rollout, coefficients, name))
            for name in OBJECTIVES
        }


def _sums(gradients: jax.Array, individual: jax.Array) -> Sums:
    exact = np.asarray(gradients, float)
    return Sums(exact.sum(axis=0), float(np.sum(exact**2)), float(individual))


@partial(jax.jit, static_argnames=("env", "policy", "steps"))
def _rollout(
    env: DeviceEnv, policy: ActorCritic, params: Params, runner: Any, key: jax.Array, steps: int
) -> Rollout:
    return collect(env, policy, params, runner, stream(key, "rollout"), steps)[1]


@partial(jax.jit, static_argnames=("policy", "objective"))
def _gradients(
    policy: ActorCritic,
    params: Params,
    rollout: Rollout,
    coefficients: Coefficients,
    objective: str,
) -> tuple[Float[Array, "R P"], Float[Array, ""]]:
    """Each replicate's gradient, and the sum over steps of the steps' variances, over T²."""
    rows = sample_rows(rollout, gae(rollout, coefficients.gamma, coefficients.lam))
    descend = partial(descent, policy, params, coefficients, objective)
    replicates = jax.tree.map(lambda x: x.swapaxes(0, 1), rows)
    whole = jax.vmap(descend)(replicates)

    def step_variance(row: Batch) -> jax.Array:
        single = jax.vmap(descend)(jax.tree.map(lambda x: x[:, None], row))
        return jnp.sum(jnp.var(single, axis=0, ddof=1))

    return whole, jnp.sum(jax.lax.map(step_variance, rows)) / len(rollout.reward) ** 2


def sample_rows(rollout: Rollout, advantage: Float[Array, "T R"]) -> Batch:
    """The rollout as samples, time and env still apart."""
    return Batch(
        rollout.observation,
        rollout.action,
        rollout.log_prob,
        rollout.value,
        advantage,
        rollout.value + advantage,
        rollout.valid.astype(jnp.float32),
    )


def descent(
    policy: ActorCritic, params: Params, coefficients: Coefficients, objective: str, rows: Batch
) -> Float[Array, " P"]:
    """Minus the gradient of the mean loss over the rows, as one vector."""

    def loss(own: Any) -> jax.Array:
        moved = params._replace(**{objective: own})
        if objective == "actor":
            return actor_loss(policy, moved, rows, coefficients)[0]
        return critic_loss(policy, moved, rows, coefficients, value_clip=False)[0]

    return -flat(jax.grad(loss)(getattr(params, objective)))


def flat(own: Any) -> Float[Array, " P"]:
    """One network's parameters in the order of the probe's vectors: layer by layer, bias last."""
    layers = [[layer["w"], layer["b"][None]] for layer in own["layers"]]
    layers.append([own["head"]["w"].T, own["head"]["b"][None]])
    layers += [[own["log_std"]]] if "log_std" in own else []
    return jnp.concatenate([array.reshape(-1) for layer in layers for array in layer])


def estimates(
    made: list[Sums], size: int, directions: Float[np.ndarray, "D P"]
) -> dict[str, list[Found]]:
    """tr Cov G and its two parts, |E G|², and E G along the directions, from blocks of `size`.

    |E G|² comes from products of different replicates. Errors come from leaving out one block.
    """
    found: dict[str, list[np.ndarray]] = {}
    for place in range(-1, len(made)):
        kept = [one for number, one in enumerate(made) if number != place]
        for name, value in _estimates(kept, size, directions).items():
            found.setdefault(name, []).append(np.atleast_1d(value))
    return {name: _jackknife(np.array(values)) for name, values in found.items()}


def _estimates(
    made: list[Sums], size: int, directions: Float[np.ndarray, "D P"]
) -> dict[str, np.ndarray | float]:
    count = size * len(made)
    total = np.sum([one.gradient for one in made], axis=0)
    square = sum(one.square for one in made)
    length = (total @ total - square) / (count * (count - 1))
    variance = square / count - length
    individual = sum(one.individual for one in made) / len(made)
    return {
        "variance": variance,
        "individual": individual,
        "covariance": variance - individual,
        "|E G|²": length,
        "along": directions @ total / count,
    }


def _jackknife(values: Float[np.ndarray, "1+blocks D"]) -> list[Found]:
    """The full estimate, and the error that leaving blocks out shows."""
    full, without = values[0], values[1:]
    error = np.sqrt((len(without) - 1) * without.var(axis=0))
    return [Found(float(a), float(b)) for a, b in zip(full, error, strict=True)]
