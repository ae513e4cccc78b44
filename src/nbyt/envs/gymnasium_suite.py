"""Gymnasium's registered envs (`gym:Hopper-v5`) and a user's own factory (`package.module:make`).

Finding is cheap: the env is built for the first time when its spaces are asked for.
"""

import importlib
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

import gymnasium
from gymnasium import Env
from gymnasium.spaces import Space
from gymnasium.wrappers import TimeLimit

from nbyt.envs.local import LocalEnvs, Place
from nbyt.envs.protocol import HostEnvs
from nbyt.envs.spaces import require_supported, zero_based
from nbyt.envs.user_code import calling_user_code
from nbyt.errors import EnvError, EnvUsageError, described

_ATARI_FIX = (
    "Atari needs ale-py, which is GPL-2.0 and so no part of nbyt: install it yourself "
    "(pip install ale-py)"
)


class GymnasiumEnv:
    """A Gymnasium env that has been found but not started; equal only to itself.

    factory: called once per env. first: an env that it has already built.
    """

    autoreset = "same step"

    def __init__(self, env_id: str, factory: Callable[[], Env], first: Env | None = None) -> None:
        self.id = env_id
        self._factory, self._first = factory, first

    def renamed(self, env_id: str) -> "GymnasiumEnv":
        """Return the same env under another id."""
        return GymnasiumEnv(env_id, self._factory)

    @cached_property
    def observation_space(self) -> Space:
        """Return the space of one env's observations, counted from 0."""
        return self._spaces[0]

    @cached_property
    def action_space(self) -> Space:
        """Return the space of one env's actions, counted from 0."""
        return self._spaces[1]

    @cached_property
    def time_limit(self) -> int | None:
        """Return the step at which Gymnasium's TimeLimit truncates an episode."""
        return self._facts[2]

    @cached_property
    def copyable(self) -> bool:
        """Return True if the simulator's state can be saved and put back."""
        return self._facts[3]

    def start(
        self,
        envs: int,
        *,
        vector: str = "sync",
        autoreset: str = "same",
        step_seconds: float = 60.0,
        place: Place | None = None,
    ) -> HostEnvs:
        """Start N envs: in a loop here ("sync") or in a process each ("async").

        autoreset "next" leaves Gymnasium's filler rows in, masked by `valid`. step_seconds is how
        long an env may take over one step; in one process that needs the main thread. place: where
        the loop writes the number of the env at work.
        """
        if envs < 1:
            raise EnvUsageError(
                f"{envs} envs of '{self.id}' cannot be started", fix="use 1 or more"
            )
        if vector not in ("sync", "async") or autoreset not in ("same", "next"):
            raise EnvUsageError(
                f"no vector '{vector}' with autoreset '{autoreset}'",
                fix='vector is "sync" or "async", autoreset is "same" or "next"',
            )
        self._spaces  # noqa: B018 (an env that cannot be built or served is refused here)
        makers: list[Callable[[], Env]] = [partial(_build, self._factory)] * envs
        if vector == "sync" and autoreset == "same":
            return LocalEnvs(self.id, makers, step_seconds=step_seconds, place=place)
        from nbyt.envs.gymnasium_vector import VectorEnvs

        return VectorEnvs(
            self.id,
            makers,
            processes=vector == "async",
            autoreset=autoreset,
            step_seconds=step_seconds,
        )

    def start_one(self) -> Env:
        """Build a single Gymnasium env; its spaces may be ones that `start` refuses."""
        first, self._first = self._first, None
        with calling_user_code(lambda error: _not_built(self.id, error)):
            return _build(self._factory) if first is None else zero_based(first)

    @cached_property
    def _spaces(self) -> tuple[Space, Space]:
        observed, acted, *_ = self._facts
        require_supported(observed, acted, where=self.id)
        return observed, acted

    @cached_property
    def _facts(self) -> tuple[Space, Space, int | None, bool]:
        from nbyt.envs.copying import copyable

        env = self.start_one()
        try:
            observed: Any = getattr(env, "observation_space", None)
            acted: Any = getattr(env, "action_space", None)
            return observed, acted, time_limit(env), copyable(env)
        finally:
            _close_quietly(env)  # a close that fails is no news about the spaces


def find(name: str) -> GymnasiumEnv | None:
    """Find the env that Gymnasium registers as `name`; None if it does not know it.

    `module:id` imports the module first, as gymnasium.make does, so that it can register the id.
    """
    module, _, registered = name.rpartition(":")
    if module:
        with calling_user_code(lambda error: _not_built(f"gym:{name}", error)):
            importlib.import_module(module)
    try:
        gymnasium.spec(registered)
    except gymnasium.error.DeprecatedEnv as error:
        raise EnvUsageError(str(error), where=f"gym:{name}", fix="use the newer version") from error
    except gymnasium.error.Error:
        if registered.startswith("ALE/"):
            raise EnvUsageError(f"no env 'gym:{name}'", fix=_ATARI_FIX) from None
        return None
    except Exception as error:
        raise _not_built(f"gym:{name}", error) from error
    return GymnasiumEnv(f"gym:{name}", partial(_registered, name))


def _close_quietly(env: Env) -> None:
    """Close an env; whether it can be closed is no matter here."""
    with suppress(EnvError), calling_user_code(lambda error: EnvError(described(error))):
        env.close()


def names() -> list[str]:
    """List the ids that `find` knows now, for suggestions."""
    return sorted(gymnasium.registry)


def time_limit(env: Env) -> int | None:
    """Return the smallest limit of the TimeLimit wrappers around an env, None without one.

    The spec's max_episode_steps is not asked: `env.unwrapped` keeps it and does not obey it.
    """
    limits = []
    layer = env
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, TimeLimit):
            limits.append(layer._max_episode_steps)
        layer = layer.env
    return min(limits, default=None)


def _registered(name: str) -> Env:
    # Without the passive checker: it slows every step, and envs.check does its work once.
    return gymnasium.make(name, disable_env_checker=True)


def _build(factory: Callable[[], Env]) -> Env:
    env = factory()
    if not isinstance(env, Env):
        raise TypeError(f"the factory returned {type(env).__name__}, not a gymnasium.Env")
    return zero_based(env)


def _not_built(env_id: str, error: BaseException) -> EnvUsageError:
    text = described(error)
    return EnvUsageError(f"env '{env_id}' cannot be built: {text}", fix=_remedy(text.lower()))


def _remedy(text: str) -> str:
    if "mujoco" in text and "robotics" not in text:
        return "pip install 'nbyt[mujoco]'; Gymnasium's v4 and v5 ids work with it"
    if "atari" in text or "ale_py" in text or "ale-py" in text:
        return _ATARI_FIX
    if "box2d" in text:
        return "pip install swig 'gymnasium[box2d]'"
    if "robotics" in text:
        return "use the v5 id of the same env"
    return "build the env once by hand to see its traceback"
