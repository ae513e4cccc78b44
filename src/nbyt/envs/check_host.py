"""Checks on a host environment: two runs with one seed, judged by one small function a promise."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.spaces import Space

from nbyt.envs import spaces
from nbyt.envs.spaces import Fault, flag_faults, observation_faults, reward_faults
from nbyt.envs.user_code import TimeUpError
from nbyt.errors import NbytError, described


@dataclass(frozen=True)
class Kept:
    """A copy of an answer, and the answer itself to see whether the env changes it later."""

    copied: Any
    original: Any


@dataclass
class Trace:
    """What an env said in one run, each answer with its place.

    actions: the place, the action as it was given, and the same object after the step.
    """

    observation_space: Any = None
    action_space: Any = None
    resets: list[tuple[str, Kept]] = field(default_factory=list)
    steps: list[tuple[str, Kept]] = field(default_factory=list)
    actions: list[tuple[str, Any, Any]] = field(default_factory=list)
    raised: list[Fault] = field(default_factory=list)
    ends: int = 0


def record(make: Callable[[], Any], seed: int, steps: int) -> Trace:
    """Record one run of up to `steps` steps with sampled actions, and all its errors."""
    trace = Trace()
    env = _attempt(trace, "constructor", "the constructor", make)
    if env is None:
        return trace
    trace.observation_space = getattr(env, "observation_space", None)
    trace.action_space = getattr(env, "action_space", None)
    if _reset(trace, env, seed) and isinstance(trace.action_space, Space):
        sampler = copy.deepcopy(trace.action_space)
        sampler.seed(seed)
        for number in range(steps):
            if not _step(trace, env, sampler.sample(), number):
                break
    _attempt(trace, "close_raises", "close()", env.close)
    return trace


def is_step(answer: Any) -> bool:
    """Return True if an answer of `step` has the five values."""
    return isinstance(answer, tuple) and len(answer) == 5


def _attempt(trace: Trace, code: str, what: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (KeyboardInterrupt, TimeUpError):
        raise
    except BaseException as error:
        message = f"{what} raised {_own(error)}"
        trace.raised.append(Fault(code, message, "fix the env; the message is its own"))
        return None


def _reset(trace: Trace, env: Any, seed: int | None) -> bool:
    where = f"reset {len(trace.resets)}"
    try:
        answer = env.reset() if seed is None else env.reset(seed=seed)
    except TypeError as error:
        if seed is None or "seed" not in described(error):
            return _reset_raised(trace, where, error)
        trace.raised.append(
            Fault(
                "reset_seed",
                f"reset(seed={seed}) is not accepted: {described(error)}",
                "def reset(self, *, seed=None, options=None): super().reset(seed=seed)",
            )
        )
        return _reset(trace, env, None)
    except (KeyboardInterrupt, TimeUpError):
        raise
    except BaseException as error:
        return _reset_raised(trace, where, error)
    trace.resets.append((where, _kept(answer)))
    return True


def _reset_raised(trace: Trace, where: str, error: BaseException) -> bool:
    message = f"{where} raised {_own(error)}"
    trace.raised.append(Fault("reset_raises", message, "fix reset; it is called after every end"))
    return False


def _step(trace: Trace, env: Any, action: Any, number: int) -> bool:
    where = f"step {number}"
    given = copy.deepcopy(action)
    try:
        answer = env.step(action)
    except (KeyboardInterrupt, TimeUpError):
        raise
    except BaseException as error:
        code = "step_raises" if trace.steps else "action_rejected"
        message = f"{where} raised {_own(error)}, with the sampled action {given}"
        fix = "accept every action of action_space" if number == 0 else "fix the env"
        trace.raised.append(Fault(code, message, fix))
        return False
    trace.actions.append((where, given, action))
    trace.steps.append((where, _kept(answer)))
    if not is_step(answer):
        return False
    if _true(answer[2]) or _true(answer[3]):
        trace.ends += 1
        return _reset(trace, env, None)
    return True


def _own(error: BaseException) -> str:
    """Describe what the env raised; nbyt's own error would advise to run this very check."""
    own = error.__cause__ if isinstance(error, NbytError) and error.__cause__ else error
    if isinstance(own, NbytError):
        return f"{type(own).__name__}: {own.message}"
    return described(own)


def _kept(answer: Any) -> Kept:
    try:
        return Kept(copy.deepcopy(answer), answer)
    except Exception:  # an info with a lock or a window in it; observations are still there
        head = answer[:4] if isinstance(answer, tuple) else answer
        return Kept((*copy.deepcopy(head), {}) if is_step(answer) else answer, answer)


def _true(flag: Any) -> bool:
    return bool(np.all(flag)) if isinstance(flag, bool | int | np.generic | np.ndarray) else False


def judge(first: Trace, second: Trace) -> list[Fault]:
    """List every fault of two runs that should be the same."""
    found = list(first.raised)
    for check in _CHECKS:
        found.extend(check(first, second))
    return list(dict.fromkeys(found))


def notes(trace: Trace, other_seed: Trace) -> list[str]:
    """List things a user may want to know that are not faults."""
    said = []
    if trace.steps and not trace.ends:
        said.append(f"no episode ended in {len(trace.steps)} random steps")
    starts = [_observation(run.resets[0][1]) for run in (trace, other_seed) if run.resets]
    if len(starts) == 2 and _same(*starts):
        said.append("the first observation does not depend on the seed")
    return said


def _observation(kept: Kept) -> Any:
    answer = kept.copied
    return answer[0] if isinstance(answer, tuple) and answer else answer


def _observations(trace: Trace) -> list[tuple[str, Any]]:
    return [(where, _observation(kept)) for where, kept in [*trace.resets, *trace.steps]]


def _column(trace: Trace, index: int) -> list[tuple[str, Any]]:
    answers = [(where, kept.copied) for where, kept in trace.steps]
    return [(where, answer[index]) for where, answer in answers if is_step(answer)]


def _check_spaces(first: Trace, second: Trace) -> Iterator[Fault]:
    if any(fault.code == "constructor" for fault in first.raised):
        return
    yield from spaces.faults(first.observation_space, first.action_space)
    pairs = (first.observation_space, first.action_space)
    if pairs != (second.observation_space, second.action_space):
        message = "two envs of the same make have different spaces"
        yield Fault("spaces_differ", message, "build the spaces from constants")


def _check_reset_result(first: Trace, second: Trace) -> Iterator[Fault]:
    for where, kept in first.resets:
        answer = kept.copied
        if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], dict):
            continue
        message = f"{where} returned {_kind(answer)}, not (observation, info)"
        yield Fault("reset_result", message, "return observation, {}")
        return


def _check_step_result(first: Trace, second: Trace) -> Iterator[Fault]:
    for where, kept in first.steps:
        if not is_step(kept.original):
            message = f"{where} returned {_kind(kept.original)}, not 5 values"
            fix = "return observation, reward, terminated, truncated, info"
            yield Fault("step_result", message, fix)
            return


def _check_info(first: Trace, second: Trace) -> Iterator[Fault]:
    for where, info in _column(first, 4):
        if not isinstance(info, dict):
            yield Fault("info_type", f"info of {where} is {_kind(info)}", "return a dict")
            return


def _check_numbers(first: Trace, second: Trace) -> Iterator[Fault]:
    yield from observation_faults(_observations(first), first.observation_space)
    yield from reward_faults(_column(first, 1))
    yield from flag_faults("terminated", _column(first, 2))
    yield from flag_faults("truncated", _column(first, 3))


def _check_aliasing(first: Trace, second: Trace) -> Iterator[Fault]:
    for where, kept in [*first.resets, *first.steps]:
        original = kept.original[0] if isinstance(kept.original, tuple) else kept.original
        if isinstance(original, np.ndarray) and not _same(original, _observation(kept)):
            message = f"the array returned by {where} was changed by a later step"
            yield Fault("observation_aliased", message, "return observation.copy()")
            return


def _check_action_kept(first: Trace, second: Trace) -> Iterator[Fault]:
    for where, given, action in first.actions:
        if not _same(given, action):
            message = f"{where} wrote into the action it was given"
            yield Fault("action_changed", message, "copy the action before changing it")
            return


def _check_seeding(first: Trace, second: Trace) -> Iterator[Fault]:
    columns = [(_observations(first), _observations(second))]
    columns += [(_column(first, i), _column(second, i)) for i in (1, 2, 3)]
    for once, again in columns:
        for (where, value), (_, other) in zip(once, again, strict=False):
            if not _same(value, other):
                message = f"two runs with the same seed and actions differ at {where}"
                fix = "draw only from self.np_random, and seed it with super().reset(seed=seed)"
                yield Fault("seeding", message, fix)
                return


_CHECKS = (
    _check_spaces,
    _check_reset_result,
    _check_step_result,
    _check_info,
    _check_numbers,
    _check_aliasing,
    _check_action_kept,
    _check_seeding,
)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape:
        return False
    numeric = np.issubdtype(a.dtype, np.inexact) and np.issubdtype(b.dtype, np.inexact)
    return bool(np.array_equal(a, b, equal_nan=numeric))


def _kind(value: Any) -> str:
    return f"{len(value)} values" if isinstance(value, tuple) else type(value).__name__
