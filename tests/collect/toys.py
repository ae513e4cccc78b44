"""Environments and policies whose rollouts can be said in advance."""

from functools import cache
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete

from nbyt.envs import tabular
from nbyt.policy.actor_critic import ActorCritic, Params, build
from nbyt.policy.networks import parse_network


@cache
def random_tables(limit: int | None = 4) -> tabular.TabularEnv:
    """A random MDP of 6 states and 2 actions, with deaths and a short time limit."""
    generator = np.random.default_rng(0)
    transition = generator.dirichlet(np.full(6, 0.5), (6, 2))
    reward = generator.normal(size=transition.shape)
    terminated = np.broadcast_to(np.arange(6) == 5, transition.shape)
    start = generator.dirichlet(np.ones(6))
    return tabular.from_arrays(transition, reward, terminated, start, time_limit=limit)


@cache
def coin(chance: float, *, limit: int | None = None) -> tabular.TabularEnv:
    """Pays 1 a step and ends after each with that chance: a return is its episode's length."""
    transition = np.full((2, 2, 2), [1 - chance, chance])
    terminated = np.broadcast_to(np.array([False, True]), (2, 2, 2))
    return tabular.from_arrays(transition, np.ones((2, 2, 2)), terminated, [1, 0], time_limit=limit)


def hurried(function: Any, **options: Any) -> Any:
    """The function compiled in a hurry: these few calls need no fast program."""
    hurry = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
    return jax.jit(function, compiler_options=hurry, **options)


def actor_critic(env: Any, network: str = "8", seed: int = 0) -> tuple[ActorCritic, Params]:
    """A policy for an env with parameters large enough to matter."""
    policy = build(env.observation_space, env.action_space, parse_network(network))
    leaves, tree = jax.tree.flatten(policy.init(None))
    generator = np.random.default_rng(seed)
    drawn = [jnp.asarray(generator.normal(size=x.shape) / 2, jnp.float32) for x in leaves]
    return policy, jax.tree.unflatten(tree, drawn)


class Clock(gymnasium.Env):
    """Shows the steps since its reset; never ends by itself."""

    observation_space = Box(0, np.inf, (1,), np.float32)
    action_space = Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.full(1, self.steps, np.float32), 1.0, False, False, {}


class Coin(Clock):
    """Ends after each step with chance 1/5 and pays 1: an episode's return is its length."""

    def step(self, action):
        observation, reward, _, truncated, info = super().step(action)
        return observation, reward, bool(self.np_random.random() < 0.2), truncated, info


class Fork(Clock):
    """Even seeds give one step, odd seeds an episode that never ends."""

    def reset(self, *, seed: int | None = None, options: Any = None):
        if seed is not None:
            self.short = seed % 2 == 0
        return super().reset(seed=seed)

    def step(self, action):
        observation, reward, _, truncated, info = super().step(action)
        return observation, reward, self.short, truncated, info
