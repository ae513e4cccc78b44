"""Environments of gymnax, on the device. The only file that imports gymnax."""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
from gymnasium.spaces import Discrete, Space

from nbyt.envs.protocol import Transition
from nbyt.envs.spaces import require_supported
from nbyt.errors import EnvUsageError, MissingExtraError

# gymnax imports matplotlib and seaborn at the top of a few files, which takes two seconds. While
# `deferred` is active those names are stand-ins that import the real package on first use.

_PLOTTING = ("matplotlib", "matplotlib.pyplot", "matplotlib.colors", "seaborn")


@contextmanager
def deferred(names: tuple[str, ...] = _PLOTTING) -> Iterator[None]:
    """Put stand-ins for those of `names` that are not imported yet; take them out afterwards."""
    missing = [name for name in names if name not in sys.modules]
    stand_ins = {name: _stand_in(name) for name in missing}
    for name, module in stand_ins.items():
        parent, _, child = name.rpartition(".")
        if parent in stand_ins:
            setattr(stand_ins[parent], child, module)
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]


def _stand_in(name: str) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = []  # a package, so that its submodules may be imported from it

    def load(attribute: str) -> Any:
        return getattr(importlib.import_module(name), attribute)

    module.__getattr__ = load  # type: ignore[method-assign]
    return module


try:
    with deferred():
        import gymnax
        from gymnax.environments.spaces import gymnax_space_to_gym_space
except ImportError as error:
    raise MissingExtraError("gymnax", "gymnax") from error


class GymnaxEnv:
    """A gymnax environment as a `DeviceEnv`, with its default parameters unless some are changed.

    Its own `step` resets and merges; `step_env` and `is_truncated` keep the end of an episode, its
    kind and its last observation apart.
    """

    def __init__(self, name: str, env: Any, **changes: float) -> None:
        words = ", ".join(f"{setting}={value:g}" for setting, value in changes.items())
        self.id = f"gymnax:{name}({words})" if changes else f"gymnax:{name}"
        self._name, self._env = name, env
        self._settings = _replaced(env.default_params, changes, self.id)
        self.observation_space = _space(env.observation_space(self._settings))
        self.action_space = _space(env.action_space(self._settings))
        self.time_limit: int | None = int(self._settings.max_steps_in_episode)
        require_supported(self.observation_space, self.action_space, where=self.id)

    def reset(self, key: jax.Array) -> tuple[Any, jax.Array]:
        """Return a start state and its observation."""
        observation, state = self._env.reset_env(key, self._settings)
        return _strong(state), self._observation(observation)

    def step(self, key: jax.Array, state: Any, action: jax.Array) -> Transition:
        """Return the transition that `action` causes; no reset."""
        observation, state, reward, terminated, _ = self._env.step_env(
            key, state, action, self._settings
        )
        terminated = jnp.asarray(terminated, bool).reshape(())
        truncated = jnp.asarray(self._env.is_truncated(state, self._settings)).reshape(())
        return Transition(
            _strong(state),
            self._observation(observation),
            jnp.asarray(reward, jnp.float32).reshape(()),
            terminated,
            truncated & ~terminated,
        )

    def changed(self, **changes: float) -> "GymnaxEnv":
        """Return the env with some of gymnax's parameters changed, the others as by default."""
        return GymnaxEnv(self._name, self._env, **changes)

    def _observation(self, observation: jax.Array) -> jax.Array:
        dtype = jnp.int32 if isinstance(self.observation_space, Discrete) else jnp.float32
        return jnp.asarray(observation, dtype).reshape(self.observation_space.shape)


def names() -> list[str]:
    """List the ids of gymnax."""
    return list(gymnax.registered_envs)


@lru_cache(maxsize=64)
def find(name: str) -> GymnaxEnv | None:
    """Find the gymnax env of that name, or None; one object a name, so that programs are shared."""
    if name not in gymnax.registered_envs:
        return None
    try:
        env, _ = gymnax.make(name)
    except Exception as error:  # MNISTBandit downloads its images when it is built
        message = f"gymnax cannot build '{name}': {type(error).__name__}: {error}"
        fix = "an env that downloads data needs a network the first time"
        raise EnvUsageError(message, where=f"gymnax:{name}", fix=fix) from error
    return GymnaxEnv(name, env)


def _replaced(settings: Any, changes: dict[str, float], where: str) -> Any:
    known = [field.name for field in fields(settings)]
    unknown = sorted(set(changes) - set(known))
    if unknown:
        message = f"no parameter is called {', '.join(unknown)}"
        raise EnvUsageError(message, where=where, fix=f"one of: {', '.join(known)}")
    return settings.replace(**changes)


def _space(space: Any) -> Space:
    return gymnax_space_to_gym_space(space)


def _strong(state: Any) -> Any:
    """Remove weak types from a state: a Python 0 in it would compile a second program."""
    cast: Callable[[Any], jax.Array] = lambda leaf: jnp.asarray(leaf, jnp.asarray(leaf).dtype)  # noqa: E731
    return jax.tree.map(cast, state)
