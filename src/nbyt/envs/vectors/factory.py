"""A user's own vector env: found by the parameter `num_envs` of its factory, or by what it makes.

A function with a parameter `num_envs` is called with N for every layout. One without arguments that
returns a vector env has a fixed N: it is called once, layouts have N envs or fewer, and with fewer
the rest is stepped and not looked at.
"""

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

from gymnasium.spaces import Space

from nbyt.envs.protocol import HostEnvs
from nbyt.envs.spaces import require_supported
from nbyt.envs.user_code import calling_user_code
from nbyt.envs.vectors.kinds import Vector, adapted, is_vector
from nbyt.envs.vectors.running import RunningVector, Turns
from nbyt.errors import EnvError, EnvUsageError, described

# What a factory is asked for first: one that gives another number has a fixed N.
_ASKED = 2
# Numbers of envs whose speed is worth knowing.
_SPEEDS = (1, 64, 1024)


class VectorFactory:
    """A vector env that has been found; equal only to itself.

    factory: called with num_envs=N, or without arguments. made: what it has returned already.
    """

    copyable = False

    def __init__(self, env_id: str, factory: Callable[..., Any], made: Any = None) -> None:
        self.id = env_id
        self._factory = factory
        self._notes: list[str] = []
        self._made = made if made is None else self._adapted(made)
        self._takes_envs = made is None and takes_num_envs(factory)
        self._turns = Turns()

    @property
    def observation_space(self) -> Space:
        """Return the space of one env's observations, as rows of one array."""
        return self._facts.observation_space

    @property
    def action_space(self) -> Space:
        """Return the space of one env's actions, counted from 0."""
        return self._facts.action_space

    @property
    def time_limit(self) -> int | None:
        """Return the step at which an episode is truncated, as far as the env says."""
        return self._facts.limit

    @property
    def autoreset(self) -> str:
        """Say when envs are reset."""
        return f"{self._facts.autoreset}; {self._facts.kind}"

    @property
    def fixed_envs(self) -> int | None:
        """Return N if it is no choice; None if any N can be had."""
        return self._facts.envs if self._is_fixed else None

    @property
    def most_envs(self) -> int:
        """Return the most envs that a layout can have."""
        return self.fixed_envs or 2**31

    @property
    def speeds(self) -> tuple[int, ...]:
        """Return the numbers of envs whose speed is worth knowing."""
        fixed = self.fixed_envs
        return _SPEEDS if fixed is None else (fixed,)

    @property
    def notes(self) -> list[str]:
        """List what a user should know, as far as it has been seen."""
        if self.fixed_envs is None:
            return list(self._notes)
        fixed = (
            f"N is fixed at {self.fixed_envs:,}: layouts have so many envs or fewer; with fewer, "
            "all are stepped and the rest is not looked at"
        )
        return [fixed, *self._notes]

    def start(self, envs: int, *, vector: str = "sync", step_seconds: float = 60.0) -> HostEnvs:
        """Start N envs; both values of `vector` mean the env's own way of stepping."""
        if envs < 1 or vector not in ("sync", "async"):
            raise EnvUsageError(f"{envs} envs of '{self.id}' cannot be started as '{vector}'")
        require_supported(self.observation_space, self.action_space, where=self.id)
        if self.fixed_envs is not None and envs > self.fixed_envs:
            raise too_many(self.id, envs, self.fixed_envs)
        kept = self._facts if self._is_fixed else None
        running = self._build(envs) if kept is None else kept
        if running.envs < envs:
            running.close()
            raise too_many(self.id, envs, running.envs)
        turns = None if kept is None else self._turns
        return RunningVector(self.id, running, envs, turns=turns, step_seconds=step_seconds)

    def start_one(self) -> None:
        """Return None: a vector env has no single one."""
        return None

    @cached_property
    def _facts(self) -> Vector:
        """Return a running env that was asked for two; one with a fixed N stays."""
        if self._made is not None:
            return self._made
        running = self._build(_ASKED if self._takes_envs else None)
        if self._takes_envs and running.envs == _ASKED:
            with calling_user_code(lambda error: self._not_built(error)):
                running.close()
        return running

    @property
    def _is_fixed(self) -> bool:
        return not self._takes_envs or self._facts.envs != _ASKED

    def _build(self, envs: int | None) -> Vector:
        given = {} if envs is None else {"num_envs": envs}
        with calling_user_code(lambda error: self._not_built(error)):
            return self._adapted(self._factory(**given))

    def _adapted(self, made: Any) -> Vector:
        if not is_vector(made):
            raise EnvUsageError(
                f"'{self.id}' takes num_envs and returned {type(made).__name__}, not a vector env",
                where="env",
                fix="return a gymnasium.vector.VectorEnv, a Stable-Baselines3 VecEnv, or an object "
                "with num_envs, reset() and step(actions) on batches; a function that makes a "
                "single env takes no num_envs",
            )
        vector = adapted(made)
        vector.notes = self._notes  # what one running env shows is true of all
        return vector

    def _not_built(self, error: BaseException) -> Exception:
        if isinstance(error, EnvUsageError | EnvError):
            return error
        fix = "build the env once by hand to see its traceback"
        return EnvUsageError(f"env '{self.id}' cannot be built: {described(error)}", fix=fix)


def takes_num_envs(factory: Callable[..., Any]) -> bool:
    """Return True if a factory has a parameter `num_envs`: it makes vector envs."""
    try:
        return "num_envs" in inspect.signature(factory).parameters
    except (TypeError, ValueError):  # some built-in callables do not tell
        return False


def too_many(env_id: str, envs: int, fixed: int) -> EnvUsageError:
    """Return the error of a layout with more envs than a vector env has."""
    return EnvUsageError(
        f"{envs:,} envs of '{env_id}' cannot be started: it has {fixed:,}, and that is no choice",
        where="envs",
        fix=f"use {fixed:,} envs or fewer, or give a function that takes num_envs",
    )
