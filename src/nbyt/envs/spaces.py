"""Which Gymnasium spaces nbyt serves, and what to do about the others.

Observations: Box with numbers, or Discrete. Actions: Discrete, MultiDiscrete, or Box of floats with
at least one axis. Everything a policy here sees counts from 0, so spaces that start elsewhere are
shifted where the env is built (`zero_based`) and nowhere else.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Box, Discrete, MultiDiscrete, Space
from gymnasium.wrappers import TransformAction, TransformObservation

from nbyt.errors import EnvUsageError


class Fault(NamedTuple):
    """What is broken (a stable code and a sentence with the values) and what to do about it."""

    code: str
    message: str
    fix: str


_FLATTEN_OBSERVATION = "wrap the env in gymnasium.wrappers.FlattenObservation"
_OBSERVATION_FIXES = {
    "Dict": _FLATTEN_OBSERVATION,
    "Tuple": _FLATTEN_OBSERVATION,
    "MultiBinary": _FLATTEN_OBSERVATION,
    "MultiDiscrete": _FLATTEN_OBSERVATION,
    "OneOf": _FLATTEN_OBSERVATION,
}
_ACTION_FIXES = {
    "MultiBinary": "wrap the env in gymnasium.wrappers.TransformAction with "
    "action_space=MultiDiscrete([2] * n) and the identity",
    "Dict": "wrap the env in gymnasium.wrappers.TransformAction with "
    "action_space=gymnasium.spaces.utils.flatten_space(...) and its unflatten",
    "Tuple": "wrap the env in gymnasium.wrappers.TransformAction with "
    "action_space=gymnasium.spaces.utils.flatten_space(...) and its unflatten",
}
# Weights of one unit of a network: beyond that no machine holds them.
_LARGEST = 10**8
_OBSERVATION_REST = "wrap the env in gymnasium.wrappers.TransformObservation, to a Box of numbers"
_ACTION_REST = (
    "wrap the env in gymnasium.wrappers.TransformAction, to Discrete, MultiDiscrete or a float Box"
)


def faults(observation_space: Any, action_space: Any) -> list[Fault]:
    """What is wrong with an env's two spaces; empty where both are served."""
    found = [*_observation_faults(observation_space), *_action_faults(action_space)]
    return found or [
        *_size_faults("observation", observation_space),
        *_size_faults("action", action_space),
    ]


def require_supported(observation_space: Any, action_space: Any, *, where: str) -> None:
    """Nothing, or an EnvUsageError that names every space we do not serve and its wrapper."""
    found = faults(observation_space, action_space)
    if found:
        message = "; ".join(fault.message for fault in found)
        raise EnvUsageError(message, where=where, fix="; ".join(fault.fix for fault in found))


def words(space: Any) -> str:
    """The space in a few words: kind, shape, type, and bounds where all are alike."""
    if not isinstance(space, Box):
        return str(space)
    low, high = np.unique(space.low), np.unique(space.high)
    bounds = f" from {low[0]:g} to {high[0]:g}" if len(low) == len(high) == 1 else ""
    return f"Box {list(space.shape)} {space.dtype}{bounds}"


def zero_based(env: Env) -> Env:
    """The same env with Discrete and MultiDiscrete spaces counted from 0."""
    return _zero_based_observation(_zero_based_action(env))


def _observation_faults(space: Any) -> list[Fault]:
    numeric = isinstance(space, Box) and (
        np.issubdtype(space.dtype, np.number) or space.dtype == np.bool_
    )
    if numeric or isinstance(space, Discrete):
        return []
    name = type(space).__name__
    message = f"observation space {_text(space)} is not served (Box and Discrete are)"
    fix = _OBSERVATION_FIXES.get(name, _OBSERVATION_REST)
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
    """What is wrong with a space that no network could have as its input or output."""
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
