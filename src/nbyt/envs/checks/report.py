"""Does an environment keep its promises? All that it breaks, at once, and how fast it is."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nbyt.envs.checks import host
from nbyt.envs.checks.speed import device_speed, host_speed, speeds
from nbyt.envs.checks.trace import record
from nbyt.envs.faults import Fault
from nbyt.envs.protocol import DeviceEnv, HostEnv, HostEnvs, HostStep
from nbyt.envs.spaces import words
from nbyt.errors import NbytError
from nbyt.numbers import COUNT
from nbyt.rng import require_seed


@dataclass(frozen=True)
class Report:
    """What an env is, how fast it steps, and every promise it breaks."""

    id: str
    kind: str
    observation: str
    action: str
    autoreset: str
    time_limit: int | None
    copyable: bool
    steps_per_second: dict[int, float] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check(
    env: DeviceEnv | HostEnv,
    *,
    seed: int = 0,
    steps: int = 200,
    speeds: tuple[int, ...] = (1, 8, 64),
) -> Report:
    """The report on an env: run twice with `seed`, then timed with each number of envs in `speeds`.

    Speeds are measured only for an env without faults; what is wrong on the way is a fault too.
    """
    seed, steps = require_seed(seed), COUNT.check(steps, "steps")
    speeds = tuple(COUNT.check(count, "speeds") for count in speeds)
    # Not isinstance: that would build an env whose constructor may be the fault to report.
    if callable(getattr(env, "start", None)):
        return _check_host(env, seed, steps, speeds)
    return _check_device(env, seed, steps, speeds)


def _check_host(env: Any, seed: int, steps: int, counts: tuple[int, ...]) -> Report:
    def make() -> Any:
        one = env.start_one()
        return _FirstRow(env) if one is None else one

    first = record(make, seed, steps)
    faults = host.judge(first, record(make, seed, steps))
    notes = host.notes(first, record(make, seed + 1, 1))
    timed, late = ({}, []) if faults else speeds(lambda n: host_speed(env, n, seed), counts)
    return Report(
        id=env.id,
        kind="host",
        observation=words(first.observation_space),
        action=words(first.action_space),
        autoreset=getattr(env, "autoreset", "unknown"),
        time_limit=_fact(env, "time_limit"),
        copyable=bool(_fact(env, "copyable")),
        steps_per_second=timed,
        faults=[*faults, *late],
        notes=notes,
    )


def _check_device(env: Any, seed: int, steps: int, counts: tuple[int, ...]) -> Report:
    from nbyt.envs.checks import device

    faults, notes = device.judge(env, seed, steps)
    timed, late = ({}, []) if faults else speeds(lambda n: device_speed(env, n, seed), counts)
    return Report(
        id=env.id,
        kind="device",
        observation=words(env.observation_space),
        action=words(env.action_space),
        autoreset="none, the collector resets",
        time_limit=env.time_limit,
        copyable=True,
        steps_per_second=timed,
        faults=[*faults, *late],
        notes=notes,
    )


def _fact(env: Any, name: str) -> Any:
    try:
        return getattr(env, name)
    except NbytError:  # the env cannot be built, which is among the faults already
        return None


class _FirstRow:
    """One env of a suite that has only vectors, in the shape of a single Gymnasium env."""

    def __init__(self, env: Any) -> None:
        self.observation_space = env.observation_space
        self.action_space = env.action_space
        self._envs: HostEnvs = env.start(1)
        self._last: HostStep | None = None

    def reset(self, *, seed: int | None = None) -> tuple[Any, dict]:
        """The first observation: of a new run with a seed, of the next episode without."""
        if seed is not None:
            return self._envs.reset([seed])[0], {}
        if isinstance(self._last, HostStep) and not self._resets_in_place():
            self._last = self._envs.step(np.array([self.action_space.sample()]))
        assert self._last is not None
        return self._last.observation[0], {}

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict]:
        """The five values of a Gymnasium step, from row 0."""
        step = self._last = self._envs.step(np.array([action]))
        ended = step.terminated[0] or step.truncated[0]
        rows = step.final_observation if ended else step.observation
        assert rows is not None
        return rows[0], step.reward[0], step.terminated[0], step.truncated[0], {}

    def close(self) -> None:
        """Release the vector."""
        self._envs.close()

    def _resets_in_place(self) -> bool:
        # In the next-step way the final observation *is* the observation of that step.
        return self._last is not None and self._last.final_observation is not self._last.observation
