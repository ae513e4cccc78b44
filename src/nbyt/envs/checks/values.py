"""Checks on what an env said: observations, rewards and flags, each with its place."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete

from nbyt.envs.spaces import Fault
from nbyt.errors import shown

Seen = Sequence[tuple[str, Any]]  # (where, value) in the order they were seen


def observation_faults(seen: Seen, space: Any) -> Iterator[Fault]:
    """At most one fault of each kind; nothing for spaces that are refused as a whole."""
    if not isinstance(space, Box | Discrete):
        return
    arrays = []
    for where, value in seen:
        array = _numbers(value)
        if array is None:
            yield Fault(
                "observation_type",
                f"the observation of {where} is {_short(value)}, not numbers",
                "return a NumPy array, or an int for a Discrete space",
            )
            return
        arrays.append((where, array))
    yield from _first(_shape(where, array, space) for where, array in arrays)
    yield from _first(_dtype(where, array, space) for where, array in arrays)
    yield from _first(_finite(where, array) for where, array in arrays)
    yield from _first(_bounds(where, array, space) for where, array in arrays)


def all_sound(rows: np.ndarray, space: Any) -> bool:
    """Whether every row is an observation of the space; quick, where there are many rows."""
    low, high = _limits(space)
    if rows.shape[1:] != space.shape or not np.isfinite(rows).all():
        return False
    return bool(((low <= rows) & (rows <= high)).all())


def reward_faults(seen: Seen) -> Iterator[Fault]:
    """A reward that is not one number, or not a finite one."""
    yield from _first(_reward_type(where, reward) for where, reward in seen)
    yield from _first(_reward_finite(where, reward) for where, reward in seen)


def flag_faults(name: str, seen: Seen) -> Iterator[Fault]:
    """A `terminated` or `truncated` that is not one boolean."""
    yield from _first(_flag(name, where, flag) for where, flag in seen)


def _first(faults: Iterator[Fault | None]) -> Iterator[Fault]:
    found = next((fault for fault in faults if fault), None)
    if found:
        yield found


def _shape(where: str, array: np.ndarray, space: Any) -> Fault | None:
    if array.shape == space.shape:
        return None
    return Fault(
        "observation_shape",
        f"the observation of {where} has shape {array.shape}, its space has {space.shape}",
        "return what the space says, or correct observation_space",
    )


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
    return Fault(
        "observation_nonfinite",
        f"the observation of {where} has {array[bad].ravel()[0]} at index {_index(bad)}",
        "find the division or the overflow in the env; do not hide it with nan_to_num",
    )


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
    """The least and the greatest that the space allows."""
    if isinstance(space, Box):
        return space.low, space.high
    return np.asarray(space.start), np.asarray(space.start + space.n - 1)


def _reward_type(where: str, reward: Any) -> Fault | None:
    array = None if reward is None else _numbers(reward)
    if array is not None and array.shape == ():
        return None
    return Fault(
        "reward_type",
        f"the reward of {where} is {_short(reward)}, not one number",
        "return float(reward)",
    )


def _reward_finite(where: str, reward: Any) -> Fault | None:
    array = _numbers(reward)
    if array is None or np.isfinite(array).all():
        return None
    return Fault(
        "reward_nonfinite",
        f"the reward of {where} is {_short(reward)}",
        "find the division or the logarithm in the env",
    )


def _flag(name: str, where: str, flag: Any) -> Fault | None:
    if isinstance(flag, bool | np.bool_):
        return None
    if isinstance(flag, np.ndarray) and flag.shape == () and flag.dtype == np.bool_:
        return None
    return Fault(
        f"{name}_type",
        f"`{name}` of {where} is {_short(flag)}, not a boolean",
        f"return bool({name})",
    )


def _numbers(value: Any) -> np.ndarray | None:
    """The value as an array of numbers; None for anything that is not numbers as it stands."""
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
