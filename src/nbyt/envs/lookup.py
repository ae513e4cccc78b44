"""From an env id to an environment.

`tabular:`, `gymnax:`, `gym:` and `envpool:` name a suite; `package.module:name` is code of the
user's, imported only because the user wrote it on the command line or in a call.
"""

import difflib
from dataclasses import dataclass, replace
from typing import Any

from gymnasium import Env
from gymnasium.spaces import Space

from nbyt.envs.checks.device import step_faults
from nbyt.envs.gymnasium_suite import GymnasiumEnv
from nbyt.envs.protocol import DeviceEnv, HostEnv, HostEnvs, Transition
from nbyt.envs.tabular import TabularEnv
from nbyt.envs.user_code import calling_user_code, imported
from nbyt.errors import EnvError, EnvUsageError, described

# A user's own env under the name that the user typed.
#
# The object has an `id` of its own, which finds nothing. What is written into plans, stages and
# tasks for other processes must find the env again, and only the typed name does.

# What no compiled program could go on with; the rest is for check-env to tell.
_UNTRAINABLE = ("state_structure", "observation_shape", "reward_type")


def named(name: str, env: DeviceEnv | HostEnv) -> DeviceEnv | HostEnv:
    """Give an env the id that finds it."""
    if isinstance(env, TabularEnv):  # stays one, because exact calculations need its tables
        return replace(env, id=name)
    if isinstance(env, GymnasiumEnv):
        return env.renamed(name)
    # Not isinstance of HostEnv: that would build an env to look at its properties.
    hosted = callable(getattr(env, "start", None))
    return NamedHostEnv(name, env) if hosted else NamedDeviceEnv(name, env)


@dataclass(frozen=True)
class _Named:
    id: str
    env: Any

    @property
    def observation_space(self) -> Space:
        """The space of one env's observations."""
        return self.env.observation_space

    @property
    def action_space(self) -> Space:
        """The space of one env's actions."""
        return self.env.action_space

    @property
    def time_limit(self) -> int | None:
        """The step at which an episode is truncated."""
        return self.env.time_limit


class NamedDeviceEnv(_Named):
    """A device env of the user's; what it raises while JAX traces it is an EnvError."""

    def reset(self, key: Any) -> tuple[Any, Any]:
        """A start state and its observation."""
        try:
            return self.env.reset(key)
        except Exception as error:
            raise self._raised(error, "reset") from error

    def step(self, key: Any, state: Any, action: Any) -> Transition:
        """The transition that `action` makes from `state`; no reset."""
        try:
            made = self.env.step(key, state, action)
            faults = list(step_faults(state, made, self.observation_space))
        except Exception as error:
            raise self._raised(error, "step") from error
        for fault in faults:
            if fault.code in _UNTRAINABLE:
                raise self._failed(fault.message, "step")
        return Transition(*made)

    def _raised(self, error: Exception, doing: str) -> EnvError:
        return self._failed(f"it raised {described(error)}", doing)

    def _failed(self, what: str, doing: str) -> EnvError:
        return EnvError(
            f"env '{self.id}': {what}",
            where=f"in {doing}, while JAX traced it",
            fix=f"run `nbyt check-env {self.id}` to see all it breaks",
        )


class NamedHostEnv(_Named):
    """A host env of the user's."""

    @property
    def copyable(self) -> bool:
        """Whether the simulator's state can be saved and put back."""
        return self.env.copyable

    @property
    def autoreset(self) -> str:
        """When envs are reset."""
        return getattr(self.env, "autoreset", "unknown")

    def start(self, envs: int, *, vector: str = "sync") -> HostEnvs:
        """N running environments."""
        return self.env.start(envs, vector=vector)

    def start_one(self) -> Env | None:
        """A single Gymnasium env, or None where there is no such thing."""
        return self.env.start_one()


SUITES = ("tabular", "gymnax", "gym", "envpool")


def resolve(env: Any) -> DeviceEnv | HostEnv:
    """The environment that an id names; an environment passes through."""
    if not isinstance(env, str):
        return _from_object(env, where=type(env).__name__)
    suite, colon, name = env.partition(":")
    if suite in SUITES and colon:
        return _require(_find(suite, name), env)
    if colon:
        return _from_object(import_code(env), where=env, name=env)
    for suite in ("tabular", "gymnax", "gym"):
        found = _find(suite, env)
        if found is not None:
            return found
    return _require(None, env)


def _find(suite: str, name: str) -> DeviceEnv | HostEnv | None:
    # Suites are imported when asked for: each costs seconds or is an extra.
    if suite == "tabular":
        from nbyt.envs import tabular

        return tabular.find(name)
    if suite == "gymnax":
        from nbyt.envs import gymnax_suite

        return gymnax_suite.find(name)
    if suite == "gym":
        from nbyt.envs import gymnasium_suite

        return gymnasium_suite.find(name)
    from nbyt.envs import envpool_suite

    return envpool_suite.find(name)


def _require(found: DeviceEnv | HostEnv | None, env: str) -> DeviceEnv | HostEnv:
    if found is not None:
        return found
    near = difflib.get_close_matches(env.rpartition(":")[2], _known(), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise EnvUsageError(
        f"no environment is called '{env}'",
        where="env",
        fix=f"{hint}ids are tabular:, gymnax:, gym: or envpool: and a name, or package.module:make",
    )


def _known() -> list[str]:
    import gymnasium

    from nbyt.envs import gymnax_suite

    return sorted({*gymnasium.registry, *gymnax_suite.names()})


def import_code(env: str) -> Any:
    """What the id of a user's own env names; None for an env of a suite."""
    suite, colon, _ = env.partition(":")
    if suite in SUITES or not colon:
        return None
    return imported(
        env,
        where="env",
        fix="give package.module:name of a function that makes an env",
        error=EnvUsageError,
    )


def _from_object(thing: Any, *, where: str, name: str = "") -> DeviceEnv | HostEnv:
    """The env that a thing is or makes. name: what the user typed, which finds it again."""
    if not isinstance(thing, type) and isinstance(thing, DeviceEnv | HostEnv):
        return named(name, thing) if name else thing
    if not callable(thing):
        raise EnvUsageError(
            f"'{where}' is not an environment nor a function that makes one",
            where="env",
            fix="name a function without arguments that returns a Gymnasium env",
        )
    from nbyt.envs import gymnasium_suite

    with calling_user_code(lambda error: _raised(where, error)):
        made = thing()
    if isinstance(made, DeviceEnv | HostEnv):
        return named(name, made) if name else made
    if not isinstance(made, Env):
        raise EnvUsageError(
            f"'{where}' returned {type(made).__name__}, not an environment",
            where="env",
            fix="return a gymnasium.Env, or an object with nbyt's DeviceEnv protocol",
        )
    return gymnasium_suite.from_factory(where, thing, made)


def _raised(where: str, error: BaseException) -> EnvUsageError:
    return EnvUsageError(f"'{where}' raised {described(error)}", where="env", fix="fix the factory")
