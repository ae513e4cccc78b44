"""Which Gymnasium spaces nbyt serves, and what to do about the others.

Observations: Box with numbers, or Discrete. Actions: Discrete, MultiDiscrete, or Box of floats with
at least one axis. Everything a policy here sees counts from 0, so spaces that start elsewhere are
shifted where the env is built (`zero_based`) and nowhere else.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Box, Discrete, MultiDiscrete, Space
from gymnasium.wrappers import TransformAction, TransformObservation

from nbyt.errors import EnvUsageError, shown


class Fault(NamedTuple):
    """What is broken (a stable code and a sentence with the values) and what to do about it."""

    code: str
    message: str
    fix: str


_FLATTEN_OBSERVATION = "wrap the env in gymnasium.wrappers.FlattenObservation"
_FLATTENED = ("Dict", "Tuple", "MultiBinary", "MultiDiscrete", "OneOf")
_TRANSFORM_ACTION = "wrap the env in gymnasium.wrappers.TransformAction with action_space="
_FLATTEN_ACTION = f"{_TRANSFORM_ACTION}gymnasium.spaces.utils.flatten_space(...) and its unflatten"
_ACTION_FIXES = {
    "MultiBinary": f"{_TRANSFORM_ACTION}MultiDiscrete([2] * n) and the identity",
    "Dict": _FLATTEN_ACTION,
    "Tuple": _FLATTEN_ACTION,
}
# Weights of one unit of a network: beyond that no machine holds them.
_LARGEST = 10**8
_OBSERVATION_REST = "wrap the env in gymnasium.wrappers.TransformObservation, to a Box of numbers"
_ACTION_REST = (
    "wrap the env in gymnasium.wrappers.TransformAction, to Discrete, MultiDiscrete or a float Box"
)


def faults(observation_space: Any, action_space: Any) -> list[Fault]:
    """List what is wrong with an env's two spaces; empty where both are supported."""
    found = [*_observation_faults(observation_space), *_action_faults(action_space)]
    return found or [
        *_size_faults("observation", observation_space),
        *_size_faults("action", action_space),
    ]


def require_supported(observation_space: Any, action_space: Any, *, where: str) -> None:
    """Raise an EnvUsageError that names every unsupported space and its wrapper."""
    found = faults(observation_space, action_space)
    if found:
        message = "; ".join(fault.message for fault in found)
        raise EnvUsageError(message, where=where, fix="; ".join(fault.fix for fault in found))


def words(space: Any) -> str:
    """Describe a space in a few words: kind, shape, type, and bounds where all are alike."""
    if not isinstance(space, Box):
        return str(space)
    low, high = np.unique(space.low), np.unique(space.high)
    bounds = f" from {low[0]:g} to {high[0]:g}" if len(low) == len(high) == 1 else ""
    return f"Box {list(space.shape)} {space.dtype}{bounds}"


def zero_based(env: Env) -> Env:
    """Return the same env with Discrete and MultiDiscrete spaces counted from 0."""
    return _zero_based_observation(_zero_based_action(env))


def _observation_faults(space: Any) -> list[Fault]:
    numeric = isinstance(space, Box) and (
        np.issubdtype(space.dtype, np.number) or space.dtype == np.bool_
    )
    if numeric or isinstance(space, Discrete):
        return []
    name = type(space).__name__
    message = f"observation space {_text(space)} is not served (Box and Discrete are)"
    fix = _FLATTEN_OBSERVATION if name in _FLATTENED else _OBSERVATION_REST
    return [Fault("observation_space", message, fix)]


def _action_faults(space: Any) -> list[Fault]:
    if isinstance(space, Discrete):
        return []
    if isinstance(space, MultiDiscrete):
        # A grid of choices would need a policy head per cell; one axis covers every real env.
        flat = space.nvec.ndim == 1
    else:
        real = isinstance(space, Box) and np.issubdtype(space.dtype, np.floating)
        flat = real and len(space.shape) > 0
    if flat:
        return []
    message = (
        f"action space {_text(space)} is not served (Discrete, MultiDiscrete and a float Box with "
        "at least one axis are)"
    )
    fix = _ACTION_FIXES.get(type(space).__name__, _ACTION_REST)
    return [Fault("action_space", message, fix)]


def _size_faults(name: str, space: Any) -> list[Fault]:
    """Refuse a space that no network could have as its input or output."""
    count = int(space.n) if isinstance(space, Discrete) else math.prod(space.shape)
    if count <= _LARGEST:
        return []
    message = f"{name} space {_text(space)} has {count:,} numbers, more than {_LARGEST:,}"
    return [Fault(f"{name}_space", message, "wrap the env so that it has fewer")]


def _text(space: Any) -> str:
    text = str(space) if isinstance(space, Space) else f"{space!r} (not a Gymnasium space)"
    return text if len(text) <= 120 else text[:117] + "..."


def _zero_based_action(env: Env) -> Env:
    space = getattr(env, "action_space", None)
    if isinstance(space, Discrete) and space.start != 0:
        counted: Space = Discrete(int(space.n))
    elif isinstance(space, MultiDiscrete) and space.start.any():
        counted = MultiDiscrete(space.nvec)
    else:
        return env
    start = space.start
    return TransformAction(env, lambda action: action + start, counted)


def _zero_based_observation(env: Env) -> Env:
    space = getattr(env, "observation_space", None)
    if not isinstance(space, Discrete) or space.start == 0:
        return env
    start = space.start
    counted: Space = Discrete(int(space.n))
    return TransformObservation(env, lambda observation: observation - start, counted)


Seen = Sequence[tuple[str, Any]]  # (where, value) in the order they were seen


def observation_faults(seen: Seen, space: Any) -> Iterator[Fault]:
    """Find at most one fault of each kind; none for spaces that are refused as a whole."""
    if not isinstance(space, Box | Discrete):
        return
    arrays = []
    for where, value in seen:
        array = _numbers(value)
        if array is None:
            message = f"the observation of {where} is {_short(value)}, not numbers"
            fix = "return a NumPy array, or an int for a Discrete space"
            yield Fault("observation_type", message, fix)
            return
        arrays.append((where, array))
    yield from _first(_shape(where, array, space) for where, array in arrays)
    yield from _first(_dtype(where, array, space) for where, array in arrays)
    yield from _first(_finite(where, array) for where, array in arrays)
    yield from _first(_bounds(where, array, space) for where, array in arrays)


def all_sound(rows: np.ndarray, space: Any) -> bool:
    """Return True if every row is an observation of the space; fast for many rows."""
    low, high = _limits(space)
    if rows.shape[1:] != space.shape or not np.isfinite(rows).all():
        return False
    return bool(((low <= rows) & (rows <= high)).all())


def reward_faults(seen: Seen) -> Iterator[Fault]:
    """Find a reward that is not one number, or not a finite one."""
    yield from _first(_reward_type(where, reward) for where, reward in seen)
    yield from _first(_reward_finite(where, reward) for where, reward in seen)


def flag_faults(name: str, seen: Seen) -> Iterator[Fault]:
    """Find a `terminated` or `truncated` that is not one boolean."""
    yield from _first(_flag(name, where, flag) for where, flag in seen)


def _first(faults: Iterator[Fault | None]) -> Iterator[Fault]:
    found = next((fault for fault in faults if fault), None)
    if found:
        yield found


def _shape(where: str, array: np.ndarray, space: Any) -> Fault | None:
    if array.shape == space.shape:
        return None
    message = f"the observation of {where} has shape {array.shape}, its space has {space.shape}"
    fix = "return what the space says, or correct observation_space"
    return Fault("observation_shape", message, fix)


def _dtype(where: str, array: np.ndarray, space: Any) -> Fault | None:
    if np.can_cast(array.dtype, space.dtype):
        return None
    return Fault(
        "observation_dtype",
        f"the observation of {where} is {array.dtype}, its space is {space.dtype}",
        f"return observation.astype('{space.dtype}'), or wrap in gymnasium.wrappers."
        "DtypeObservation",
    )


def _finite(where: str, array: np.ndarray) -> Fault | None:
    bad = ~np.isfinite(array)
    if not bad.any():
        return None
    message = f"the observation of {where} has {array[bad].ravel()[0]} at index {_index(bad)}"
    fix = "find the division or the overflow in the env; do not hide it with nan_to_num"
    return Fault("observation_nonfinite", message, fix)


def _bounds(where: str, array: np.ndarray, space: Any) -> Fault | None:
    low, high = _limits(space)
    if array.shape != low.shape:
        return None
    outside = np.isfinite(array) & ((array < low) | (array > high))
    if not outside.any():
        return None
    at = _index(outside)
    return Fault(
        "observation_bounds",
        f"the observation of {where} has {array[outside].ravel()[0]} at index {at}, outside "
        f"[{low[outside].ravel()[0]}, {high[outside].ravel()[0]}]",
        "widen observation_space, or clip in the env",
    )


def _limits(space: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(space, Box):
        return space.low, space.high
    return np.asarray(space.start), np.asarray(space.start + space.n - 1)


def _reward_type(where: str, reward: Any) -> Fault | None:
    array = None if reward is None else _numbers(reward)
    if array is not None and array.shape == ():
        return None
    message = f"the reward of {where} is {_short(reward)}, not one number"
    return Fault("reward_type", message, "return float(reward)")


def _reward_finite(where: str, reward: Any) -> Fault | None:
    array = _numbers(reward)
    if array is None or np.isfinite(array).all():
        return None
    message = f"the reward of {where} is {_short(reward)}"
    return Fault("reward_nonfinite", message, "find the division or the logarithm in the env")


def _flag(name: str, where: str, flag: Any) -> Fault | None:
    if isinstance(flag, bool | np.bool_):
        return None
    if isinstance(flag, np.ndarray) and flag.shape == () and flag.dtype == np.bool_:
        return None
    message = f"`{name}` of {where} is {_short(flag)}, not a boolean"
    return Fault(f"{name}_type", message, f"return bool({name})")


def _numbers(value: Any) -> np.ndarray | None:
    if not isinstance(value, np.ndarray | np.generic | int | float):
        return None
    array = np.asarray(value)
    numeric = np.issubdtype(array.dtype, np.number) or array.dtype == np.bool_
    return array if numeric else None


def _index(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _short(value: Any) -> str:
    text = f"{type(value).__name__} {shown(value)}"
    return text if len(text) <= 80 else text[:77] + "..."
