"""How fast an environment steps. What it says meanwhile is checked too: these are many steps."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nbyt.envs.checks.values import all_sound, observation_faults, reward_faults
from nbyt.envs.faults import Fault
from nbyt.envs.protocol import HostStep
from nbyt.errors import EnvError

_SECONDS = 0.2  # how long each speed is measured
_SCAN = 64  # steps of one compiled call when the speed of a device env is measured

Speed = tuple[float, list[Fault]]  # steps per second, and what was wrong on the way
Speeds = tuple[dict[int, float], list[Fault]]


def speeds(measure: Callable[[int], Speed], counts: tuple[int, ...]) -> Speeds:
    """The speed with each number of envs; none at all from the first fault on."""
    found = {}
    for envs in counts:
        found[envs], faults = measure(envs)
        if faults:
            return {}, faults
    return found, []


def host_speed(env: Any, envs: int, seed: int) -> Speed:
    """The speed of N host envs that take one action over and over."""
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
    """The speed of N device envs, in one compiled program."""
    import jax

    from nbyt.envs.checks.device import rows_of, sampled, value_faults

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
    """Steps per second, looking at every answer while the clock stands still."""
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
    """What is wrong with the numbers of one step of N envs."""
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
    """What follows the number of a step, so that it can be found again."""
    return f" of the speed test (env {at} of {envs}, seed {seed})"


def _rate(call: Callable[[], object], steps: int) -> float:
    """Steps per second of `call`, repeated for a fixed time after one call to warm up."""
    call()
    began, calls = time.perf_counter(), 0
    while time.perf_counter() - began < _SECONDS:
        call()
        calls += 1
    return calls * steps / (time.perf_counter() - began)
