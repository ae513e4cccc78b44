"""Does an environment keep its promises? All that it breaks, at once, and how fast it is."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nbyt.envs import check_host
from nbyt.envs.check_host import record
from nbyt.envs.protocol import DeviceEnv, HostEnv, HostEnvs, HostStep
from nbyt.envs.spaces import Fault, all_sound, observation_faults, reward_faults, words
from nbyt.errors import EnvError, NbytError
from nbyt.numbers import COUNT, SEED

_SECONDS = 0.2  # how long each speed is measured
_SCAN = 64  # steps of one compiled call when the speed of a device env is measured

Speed = tuple[float, list[Fault]]  # steps per second, and what was wrong on the way
Speeds = tuple[dict[int, float], list[Fault]]


def speeds(measure: Callable[[int], Speed], counts: tuple[int, ...]) -> Speeds:
    """Measure the speed with each number of envs; stop at the first fault."""
    found = {}
    for envs in counts:
        found[envs], faults = measure(envs)
        if faults:
            return {}, faults
    return found, []


def host_speed(env: Any, envs: int, seed: int) -> Speed:
    """Measure the speed of N host envs that take one action over and over."""
    try:
        running = env.start(envs)
        try:
            return _timed(env, running, envs, seed)
        finally:
            running.close()
    except EnvError as error:
        place = f"{error.where}; " if error.where else ""
        message = f"{error.message} ({place}speed test, seeds from {seed} on)"
        return 0.0, [Fault("step_raises", message, "fix the env; the message is its own")]


def device_speed(env: Any, envs: int, seed: int) -> Speed:
    """Measure the speed of N device envs, in one compiled program."""
    import jax

    from nbyt.envs.check_device import rows_of, sampled, value_faults

    actions = sampled(env.action_space, seed, _SCAN)

    @jax.jit
    def run(keys: Any) -> Any:
        # The sums keep XLA from dropping a step whose answers nobody reads.
        return jax.vmap(lambda key: [row.sum() for row in rows_of(env, key, actions)])(keys)

    keys = jax.random.split(jax.random.key(seed), envs)
    sums = np.array(jax.block_until_ready(run(keys)[:2]), float)
    for at in np.flatnonzero(~np.isfinite(sums).all(axis=0)):
        rows = tuple(np.asarray(row) for row in rows_of(env, keys[at], actions))
        faults = list(value_faults(rows, env.observation_space, _place(int(at), envs, seed)))
        if faults:
            return 0.0, faults
    return _rate(lambda: jax.block_until_ready(run(keys)), envs * _SCAN), []


def _timed(env: Any, running: Any, envs: int, seed: int) -> Speed:
    """Measure steps per second, checking every answer while the clock stands still."""
    space, seeds = env.observation_space, list(range(seed, seed + envs))
    places = [_place(at, envs, one) for at, one in enumerate(seeds)]
    faults = list(_row_faults(running.reset(seeds), space, [f"reset 0{one}" for one in places]))
    env.action_space.seed(seed)
    action = np.array([env.action_space.sample() for _ in range(envs)])
    spent, number = 0.0, 0
    while spent < _SECONDS and not faults:
        began = time.perf_counter()
        step = running.step(action)
        # The first step warms up.
        spent += time.perf_counter() - began if number else 0.0
        faults = list(_step_faults(step, space, [f"step {number}{one}" for one in places]))
        number += 1
    return ((number - 1) * envs / spent if spent else 0.0), faults


def _step_faults(step: HostStep, space: Any, places: list[str]) -> Iterator[Fault]:
    yield from _row_faults(step.observation, space, places)
    if step.final_observation is not None:
        ended = np.flatnonzero(step.terminated | step.truncated)
        last = [places[at] for at in ended]
        yield from _row_faults(step.final_observation[ended], space, last)
    if not np.isfinite(step.reward).all():
        yield from reward_faults(list(zip(places, step.reward.tolist(), strict=True)))


def _row_faults(rows: np.ndarray, space: Any, places: list[str]) -> Iterator[Fault]:
    if not all_sound(rows, space):
        yield from observation_faults(list(zip(places, rows, strict=True)), space)


def _place(at: int, envs: int, seed: int) -> str:
    return f" of the speed test (env {at} of {envs}, seed {seed})"


def _rate(call: Callable[[], object], steps: int) -> float:
    """Measure steps per second of `call`, repeated for a fixed time after one call to warm up."""
    call()
    began, calls = time.perf_counter(), 0
    while time.perf_counter() - began < _SECONDS:
        call()
        calls += 1
    return calls * steps / (time.perf_counter() - began)


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
    """Check an env: run it twice with `seed`, then time it with each number of envs in `speeds`.

    Speeds are measured only for an env without faults; what is wrong on the way is a fault too.
    """
    seed, steps = SEED.check(seed, "seed"), COUNT.check(steps, "steps")
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
    faults = check_host.judge(first, record(make, seed, steps))
    notes = check_host.notes(first, record(make, seed + 1, 1))
    counts = getattr(env, "speeds", None) or counts
    timed, late = ({}, []) if faults else speeds(lambda n: host_speed(env, n, seed), counts)
    notes += getattr(env, "notes", [])
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
    from nbyt.envs import check_device

    faults, notes = check_device.judge(env, seed, steps)
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
        """Return the first observation: of a new run with a seed, of the next episode without."""
        if seed is not None:
            return self._envs.reset([seed])[0], {}
        if isinstance(self._last, HostStep) and not self._resets_in_place():
            self._last = self._envs.step(np.array([self.action_space.sample()]))
        assert self._last is not None
        return self._last.observation[0], {}

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict]:
        """Return the five values of a Gymnasium step, from row 0."""
        step = self._last = self._envs.step(np.array([action]))
        ended = step.terminated[0] or step.truncated[0]
        rows = step.final_observation if ended else step.observation
        assert rows is not None
        return rows[0], step.reward[0], step.terminated[0], step.truncated[0], {}

    def close(self) -> None:
        self._envs.close()

    def _resets_in_place(self) -> bool:
        # In the next-step way the final observation *is* the observation of that step.
        return self._last is not None and self._last.final_observation is not self._last.observation
