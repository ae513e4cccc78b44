"""Envs that start apart, and how to tell whether they do.

All envs start at a reset, so with a short T the first batches hold only beginnings of episodes, and
where episodes have a fixed length the envs stay in step for ever. A random length of the *first*
episode of each env removes that. It is reported as truncated, so that the critic's value stands in
for the rest.
"""

from typing import Any

import gymnasium
import numpy as np
from jaxtyping import Bool

from nbyt.envs.vectors.kinds import adapted, is_vector
from nbyt.errors import EnvUsageError
from nbyt.integrations.evidence import Ages
from nbyt.integrations.rules import same_age
from nbyt.numbers import SEED, STEPS
from nbyt.stats.estimate import Estimate, undetermined


class Stagger(gymnasium.Wrapper):
    """Cut the first episode of a Gymnasium env at a random step, from 1 to `limit`.

    Give every env of a vector a seed of its own.

    Examples
    --------
    >>> make = lambda k: lambda: Stagger(gymnasium.make("Pendulum-v1"), limit=200, seed=k)
    >>> envs = gymnasium.vector.SyncVectorEnv([make(k) for k in range(8)])
    """

    def __init__(self, env: gymnasium.Env, limit: int, seed: int) -> None:
        super().__init__(env)
        self._left = int(_cuts(limit, seed, 1)[0])

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step, and cut the first episode where its time has come."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self._left > 0:
            self._left -= 1
            truncated = bool(truncated or (self._left == 0 and not terminated))
            if terminated or truncated:
                self._left = 0  # the first episode has ended
        return observation, reward, terminated, truncated, info


def stagger_vec_env(vec_env: Any, limit: int, seed: int = 0) -> Any:
    """Return a Stable-Baselines3 VecEnv around another that cuts each env's first episode.

    The inner one must reset single envs by `env_method("reset", indices=[...])`, as DummyVecEnv and
    SubprocVecEnv do.
    """
    from nbyt.integrations.sb3.package import module

    cuts = _cuts(limit, seed, vec_env.num_envs)

    class StaggeredVecEnv(module("common.vec_env").VecEnvWrapper):  # type: ignore[misc]
        """Cuts the first episode of each env at a random step."""

        def reset(self) -> Any:
            return self.venv.reset()

        def step_wait(self) -> Any:
            observations, rewards, dones, infos = self.venv.step_wait()
            cuts[:] -= 1
            cuts[dones] = 0  # this first episode has ended by itself
            for env in np.flatnonzero((cuts == 0) & ~dones):
                infos[env]["terminal_observation"] = observations[env].copy()
                infos[env]["TimeLimit.truncated"] = True
                observations[env] = self.venv.env_method("reset", indices=[int(env)])[0][0]
                dones[env] = True
            return observations, rewards, dones, infos

    return StaggeredVecEnv(vec_env)


def stagger_batched(env: Any, limit: int | None = None, seed: int = 0) -> None:
    """Set the first episodes of an Isaac-style env to random steps, through episode_length_buf.

    Call it after `reset()`. limit: `env.max_episode_length` by default.
    """
    counted = getattr(env, "episode_length_buf", None)
    longest = limit or getattr(env, "max_episode_length", None)
    if counted is None or longest is None:
        raise EnvUsageError(
            f"{type(env).__name__} has no episode_length_buf and max_episode_length",
            where="env",
            fix="give the env both: the steps of each env's episode, and the longest",
        )
    counted.copy_(counted.new_tensor(_cuts(int(longest), seed, int(env.num_envs)) - 1))


def same_starts(ends: Bool[np.ndarray, "T N"]) -> Estimate:
    """Estimate the share of pairs of envs that are at the same step of an episode.

    ends: whether an episode ended with each step. It is taken over the steps after every env has
    ended once, as nobody knows where an env is before; near 0 where envs are independent, 1 where
    all reset together.

    Examples
    --------
    >>> together = np.zeros((100, 8), bool)
    >>> together[9::10] = True
    >>> print(same_starts(together))
    1.0 [1.0, 1.0]
    """
    ends = np.asarray(ends, bool)
    envs = ends.shape[1]
    if envs < 3 or not ends.any(axis=0).all():
        return undetermined("too few envs, or some whose episode never ended", envs)
    ages, carried = [], Ages()
    begun = np.zeros((1, envs), bool)
    for row in ends:
        ages.append(carried.after(begun, row))
        begun = row[None]
    first = int(ends.argmax(axis=0).max())
    known = np.stack(ages[first:])
    return same_age(known[:: max(1, len(known) // 1000)])


def synchronised(env: Any, *, steps: int = 1000, seed: int = 0) -> Estimate:
    """Step a running vector env with random actions, and estimate `same_starts` of what it does.

    env: a Gymnasium vector env, a VecEnv, or an Isaac-style env. It is reset first.
    """
    steps, seed = STEPS.check(steps, "steps"), SEED.check(seed, "seed")
    if not is_vector(env):
        raise EnvUsageError(
            f"{type(env).__name__} is not a vector env",
            where="env",
            fix="give a gymnasium.vector.VectorEnv, a VecEnv, or an env with num_envs",
        )
    vector = adapted(env)
    vector.reset([seed + k for k in range(vector.envs)])
    vector.action_space.seed(seed)
    ends = []
    for _ in range(steps):
        actions = np.array([vector.action_space.sample() for _ in range(vector.envs)])
        made = vector.step(actions)
        ends.append((made.terminated | made.truncated) & made.valid)
    return same_starts(np.stack(ends))


def _cuts(limit: int, seed: int, count: int) -> np.ndarray:
    """Return after how many steps first episodes are cut."""
    limit = STEPS.check(limit, "limit")
    return np.random.default_rng(SEED.check(seed, "seed")).integers(1, limit + 1, count)
