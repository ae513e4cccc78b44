"""Policies of every kind, and pools made of noise: the engine must not care what an env means."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from nbyt.collect.pool import Pool
from nbyt.policy.actor_critic import ActorCritic, Params, build
from nbyt.policy.networks import parse_network

_VECTOR = spaces.Box(-1, 1, (3,))
_IMAGE = spaces.Box(0, 1, (6, 5, 2))
_CONTINUOUS = spaces.Box(-1, 1, (2,))


@dataclass(frozen=True)
class Case:
    """A policy with random weights, and how to draw what it sees and does."""

    policy: ActorCritic
    params: Params

    def rows(self, count: int, seed: int) -> tuple[Any, Any]:
        """Observations and actions."""
        generator = np.random.default_rng(seed)
        if self.policy.kind == "index":
            seen = generator.integers(0, self.policy.shape[0], count).astype(np.int32)
        else:
            seen = generator.normal(size=(count, *self.policy.shape)).astype(np.float32)
        parameters = self.policy.parameters(self.params, jnp.asarray(seen))
        noise = self.policy.head.noise(jax.random.key(seed), (count,))
        return seen, np.asarray(self.policy.head.sample(parameters, noise))


def make_case(observation: spaces.Space, action: spaces.Space, network: str, shared: bool) -> Case:
    """A policy of some kind whose weights are all different."""
    policy = build(observation, action, parse_network(network), shared=shared)
    params = policy.init(jax.random.key(0))
    leaves, form = jax.tree.flatten(params)
    generator = np.random.default_rng(1)
    moved = [leaf + 0.3 * generator.normal(size=leaf.shape).astype(np.float32) for leaf in leaves]
    return Case(policy, jax.tree.unflatten(form, moved))


CASES = {
    "mlp": (_VECTOR, spaces.Discrete(3), "5x4", False),
    "mlp-shared": (_VECTOR, spaces.Discrete(3), "5x4", True),
    "gaussian": (_VECTOR, _CONTINUOUS, "4", False),
    "multi": (_VECTOR, spaces.MultiDiscrete([2, 3]), "4", False),
    "cnn": (_IMAGE, spaces.Discrete(3), "cnn", False),
    "cnn-shared": (_IMAGE, _CONTINUOUS, "cnn", True),
    "table": (spaces.Discrete(4), spaces.Discrete(3), "table", False),
    "index-mlp": (spaces.Discrete(4), spaces.Discrete(2), "3", False),
}


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    """Each kind of policy in turn."""
    return make_case(*CASES[request.param])


def noise_pool(case: Case, chains: int, steps: int, seed: int = 0) -> Pool:
    """A pool of random numbers, with deaths and time limits in it."""
    generator = np.random.default_rng(seed)
    shape = (steps, chains)
    seen, action = case.rows(steps * chains, seed)
    terminated = generator.random(shape) < 0.1
    truncated = (generator.random(shape) < 0.1) & ~terminated
    numbers = generator.normal(size=(4, *shape)).astype(np.float32)
    return Pool(
        seen.reshape(*shape, *seen.shape[1:]),
        action.reshape(*shape, *action.shape[1:]),
        *numbers[:2],
        np.where(terminated, 0, numbers[2]),
        np.where(terminated, 0, np.where(truncated, numbers[3], numbers[2])),
        terminated,
        truncated,
    )
