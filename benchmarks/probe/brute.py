"""Brute force: for every layout, R batches of N x T fresh steps and their gradients.

The envs of a batch stand at random phases of an episode, as a long run's do. Between two batches
they go on for `gap` steps: an episode's worth makes replicates independent. Without a gap, batches
of a short T hold the same stretch of an episode and count for less than R replicates; that is
timed too, as the least that brute force could cost.
"""

import time
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from benchmarks.agreement.brute import descent, sample_rows
from nbyt.collect.device import Runner, advance, collect, stagger, start, step_inputs
from nbyt.collect.rollout import gae
from nbyt.collect.segment import burn_in
from nbyt.envs.protocol import DeviceEnv
from nbyt.policy.actor_critic import Stage
from nbyt.rng import stream
from nbyt.stats.estimate import Estimate
from nbyt.stats.intervals import positive
from nbyt.training.losses import Batch, Coefficients

OBJECTIVES = ("actor", "critic", "total")
# Envs that step together: batches of few envs run side by side, until there are so many.
_TOGETHER = 2048
_LANES = 64


class Layout:
    """Batches of N x T, a few side by side; what is compiled is kept."""

    def __init__(self, env: DeviceEnv, stage: Stage, envs: int, steps: int, *, gap: int) -> None:
        self.envs, self.steps, self._gap = envs, steps, gap
        self._env, self._stage, self._made = env, stage, 0
        self.lanes = max(1, min(_TOGETHER // envs, _LANES))
        known = stage.facts["settings"]
        self._coefficient = known["value_coefficient"]
        numbers = (known["gamma"], known["lambda"], known["clip"], 1.0, 0.0, 1.0)
        self._coefficients = Coefficients(*map(jnp.float32, numbers))
        runner, key = start(env, self.lanes * envs, self._key("start")), self._key("start")
        first = burn_in(env.time_limit)
        self._runner = stagger(env, stage.policy, stage.params, runner, key, first)

    def gradients(self, count: int) -> dict[str, Float[np.ndarray, "R P"]]:
        """The gradients of the next batches: `count` of them, or a few more."""
        found = []
        for _ in range(-(-count // self.lanes)):
            self._made += 1
            self._runner, some = _batches(
                self._env,
                self._stage.policy,
                self._stage.params,
                self._runner,
                self._key("batch"),
                self._coefficients,
                self.envs,
                self.steps,
                self._gap,
            )
            found.append(some)
        made = {name: np.concatenate([np.asarray(one[name]) for one in found]) for name in found[0]}
        # Separate networks: the total is the actor's and the critic's side by side.
        made["total"] = np.concatenate([made["actor"], self._coefficient * made["critic"]], axis=1)
        return made

    def seconds(self, count: int) -> float:
        """Seconds that one of the next batches takes, over `count` of them."""
        began = time.perf_counter()
        made = len(self.gradients(count)["actor"])
        return (time.perf_counter() - began) / made

    def _key(self, role: str) -> jax.Array:
        own = stream(jax.random.key(0), "brute", self.steps)
        return stream(own, role, self._made)


def interval(gradients: Float[np.ndarray, "R P"]) -> Estimate:
    """Their variance, with the interval that the probe would give it: R replicates for chains."""
    exact, count = gradients.astype(float), len(gradients)
    distance = np.sum((exact - exact.mean(axis=0)) ** 2, axis=1)
    total = distance.sum()
    without = (total - count / (count - 1) * distance) / (count - 2)
    return positive(np.array([total / (count - 1), *without]), count)


@partial(jax.jit, static_argnames=("env", "policy", "envs", "steps", "gap"))
def _batches(
    env: DeviceEnv,
    policy: Any,
    params: Any,
    runner: Runner,
    key: jax.Array,
    coefficients: Coefficients,
    envs: int,
    steps: int,
    gap: int,
) -> tuple[Runner, dict[str, Float[Array, "lanes P"]]]:
    """One batch in every lane: gap, rollout, advantages, and the gradients of both losses."""
    if gap:
        inputs = step_inputs(policy, stream(key, "gap"), gap, runner.episode_return.shape[0])
        walk = partial(_walk, env, policy, params)
        runner = jax.lax.scan(walk, runner, inputs)[0]
    runner, rollout, _ = collect(env, policy, params, runner, key, steps)
    rows = sample_rows(rollout, gae(rollout, coefficients.gamma, coefficients.lam))
    lanes = jax.tree.map(lambda x: _by_lane(x, envs), rows)

    def one(rows: Batch) -> dict[str, jax.Array]:
        return {name: descent(policy, params, coefficients, name, rows) for name in OBJECTIVES[:2]}

    return runner, jax.lax.map(one, lanes)


def _walk(
    env: DeviceEnv, policy: Any, params: Any, runner: Runner, inputs: Any
) -> tuple[Runner, None]:
    return advance(env, policy, params, runner, inputs)[0], None


def _by_lane(x: jax.Array, envs: int) -> jax.Array:
    """[T, lanes N, ...] as [lanes, T N, ...]."""
    split = x.reshape(x.shape[0], -1, envs, *x.shape[2:])
    return split.swapaxes(0, 1).reshape(split.shape[1], -1, *x.shape[2:])
