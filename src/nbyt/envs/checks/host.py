"""Checks on a host environment: two runs with one seed, judged by one small function a promise."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nbyt.envs import spaces
from nbyt.envs.checks.trace import Kept, Trace, is_step
from nbyt.envs.checks.values import flag_faults, observation_faults, reward_faults
from nbyt.envs.faults import Fault


def judge(first: Trace, second: Trace) -> list[Fault]:
    """Every fault of two runs that should be the same."""
    found = list(first.raised)
    for check in _CHECKS:
        found.extend(check(first, second))
    return list(dict.fromkeys(found))


def notes(trace: Trace, other_seed: Trace) -> list[str]:
    """Things a user may want to know that are no faults."""
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


def _check_observations(first: Trace, second: Trace) -> Iterator[Fault]:
    yield from observation_faults(_observations(first), first.observation_space)


def _check_rewards(first: Trace, second: Trace) -> Iterator[Fault]:
    yield from reward_faults(_column(first, 1))


def _check_flags(first: Trace, second: Trace) -> Iterator[Fault]:
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
    _check_observations,
    _check_rewards,
    _check_flags,
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
