"""A user's own env under the name that the user typed.

The object has an `id` of its own, which finds nothing. What is written into plans, stages and tasks
for other processes must find the env again, and only the typed name does.
"""

from dataclasses import dataclass, replace
from typing import Any

from gymnasium import Env
from gymnasium.spaces import Space

from nbyt.envs.checks.device import step_faults
from nbyt.envs.gymnasium_suite import GymnasiumEnv
from nbyt.envs.protocol import DeviceEnv, HostEnv, HostEnvs, Transition
from nbyt.envs.tabular import TabularEnv
from nbyt.errors import EnvError, described

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
