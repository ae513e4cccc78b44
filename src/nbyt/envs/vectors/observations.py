"""Observations of a vector env as one array [N, ...], whatever the env hands out.

Dictionaries of boxes are flattened and joined in the order of their space. Isaac-style envs give a
dictionary whose part "policy" (or "obs") is what the policy sees.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from gymnasium.spaces.utils import flatten_space

# What the policy sees, where an env also hands out what only its critic may.
_FOR_POLICY = ("policy", "obs")


class Packing:
    """How observations of a space become rows; `space` is that of the rows."""

    def __init__(self, given: Space) -> None:
        part = next((name for name in _FOR_POLICY if _has(given, name)), None)
        self._part = part if isinstance(given, Dict) else None
        inner = given[self._part] if isinstance(given, Dict) and self._part else given
        boxes = isinstance(inner, Dict) and all(isinstance(one, Box) for one in inner.values())
        self._parts = tuple(inner) if isinstance(inner, Dict) and boxes else ()
        self._start = int(inner.start) if isinstance(inner, Discrete) else 0
        self.space: Space = inner
        if self._parts:
            self.space = flatten_space(inner)
        elif isinstance(inner, Discrete):
            self.space = Discrete(int(inner.n))

    def rows(self, observation: Any) -> np.ndarray:
        """Return the rows, of a type of their own and in memory of their own."""
        seen = self._inner(observation)
        if self._parts:
            columns = [array(seen[name]) for name in self._parts]
            flat = [one.reshape(len(one), -1) for one in columns]
            return np.concatenate(flat, axis=1, dtype=self.space.dtype)
        rows = np.array(array(seen), dtype=self.space.dtype)
        return rows - self._start if self._start else rows

    def row(self, observation: Any) -> np.ndarray:
        """Return the observation of one env."""
        seen = self._inner(observation)
        if isinstance(seen, Mapping):
            return self.rows({name: array(one)[None] for name, one in seen.items()})[0]
        return self.rows(array(seen)[None])[0]

    def _inner(self, observation: Any) -> Any:
        """Return what the policy sees; dictionaries of tensors need not be `dict`s."""
        is_whole = self._part is not None and not hasattr(observation, "shape")
        is_tree = self._part is not None and hasattr(observation, "keys")
        return observation[self._part] if is_whole or is_tree else observation


def array(values: Any) -> np.ndarray:
    """Return an array of any library, on any device, as NumPy's; on the CPU nothing is copied."""
    if hasattr(values, "detach"):
        return values.detach().cpu().numpy()
    return np.asarray(values)


def seen_space(observation: Any) -> Space:
    """Return a space for rows of observations of an env that does not name one."""
    if not hasattr(observation, "shape") or hasattr(observation, "keys"):
        return Dict({name: seen_space(observation[name]) for name in [*observation.keys()]})
    rows = array(observation)
    return Box(-np.inf, np.inf, rows.shape[1:], np.float32)


def counted_from(space: Any) -> Any:
    """Return what to add to actions counted from 0, and 0 where that is nothing."""
    if isinstance(space, Discrete | MultiDiscrete):
        return space.start
    return 0


def zero_based(space: Any) -> Any:
    """Return the action space with its choices counted from 0."""
    if isinstance(space, Discrete):
        return Discrete(int(space.n))
    return MultiDiscrete(space.nvec) if isinstance(space, MultiDiscrete) else space


def _has(space: Space, name: str) -> bool:
    return isinstance(space, Dict) and name in space.spaces
