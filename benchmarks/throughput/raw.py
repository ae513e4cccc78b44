"""Stepping environments alone: what our adapters cost, or save, against the suites themselves."""

import time
import warnings
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from benchmarks.timing.lines import Line, compare
from benchmarks.timing.rounds import interleave
from nbyt.envs import HostEnv, resolve

ENVPOOL_TARGET = 0.80
_TASK = "CartPole-v1"
_ACTIONS = 1024


class Stepper:
    """N running envs, stepped with actions drawn beforehand."""

    def __init__(self, envs: Any, size: int) -> None:
        self._envs, self.size, self._at = envs, size, 0
        self._actions = np.random.default_rng(0).integers(0, 2, (_ACTIONS, size))

    def go(self, units: int) -> float:
        """Seconds that the next `units` steps of all N envs took."""
        began = time.perf_counter()
        for _ in range(units):
            self._envs.step(self._actions[self._at])
            self._at = (self._at + 1) % _ACTIONS
        return time.perf_counter() - began


def raw(*, rounds: int, seconds: float) -> list[Line]:
    """EnvPool and Gymnasium's vector env, each against our adapter of it."""
    lines = []
    for size in (64, 512):
        contenders = {"adapter": _ours("envpool", size), "EnvPool": _envpool(size)}
        speeds = interleave(contenders, rounds=rounds, seconds=seconds)
        lines.append(compare(f"N={size}", speeds, "adapter", "EnvPool", ENVPOOL_TARGET))
    for size in (8, 64):
        contenders = {"sync": _ours("gym", size), "SyncVectorEnv": _gymnasium(size)}
        speeds = interleave(contenders, rounds=rounds, seconds=seconds)
        lines.append(compare(f"N={size}", speeds, "sync", "SyncVectorEnv", None))
    return lines


def _envpool(size: int) -> Stepper:
    import envpool

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pool = envpool.make(_TASK, "gymnasium", num_envs=size, env_seed=list(range(size)))
        pool.reset()
    return Stepper(pool, size)


def _ours(suite: str, size: int) -> Stepper:
    env = resolve(f"{suite}:{_TASK}")
    assert isinstance(env, HostEnv), "both suites are on the host"
    envs = env.start(size, vector="sync")
    envs.reset(list(range(size)))
    return Stepper(envs, size)


def _gymnasium(size: int) -> Stepper:
    make = partial(gymnasium.make, _TASK, disable_env_checker=True)
    envs = SyncVectorEnv([make] * size, autoreset_mode=AutoresetMode.SAME_STEP)
    envs.reset(seed=list(range(size)))
    return Stepper(envs, size)
