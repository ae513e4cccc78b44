"""Observations with several named parts, as one array: a pool holds nothing else."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, MultiBinary, MultiDiscrete, Space


class Packing:
    """How observations of a space lie in an array: a Dict's parts side by side, others as they are.

    Only slices and reshapes are used on the way back, so NumPy's and torch's arrays go alike, and
    under torch.func.vmap. A number of a Discrete part comes back as a float without an axis of its
    own: whoever wants to encode it casts it.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._parts: dict[str, tuple[slice, tuple[int, ...]]] = {}
        end = 0
        for name, part in space.spaces.items() if isinstance(space, Dict) else ():
            shape = tuple(part.shape or ())
            self._parts[name] = slice(end, end + prod(shape)), shape
            end += prod(shape)
        self._width = end

    @property
    def space(self) -> Space:
        """The space of packed observations, a Box or a Discrete one."""
        if isinstance(self._space, Dict):
            return Box(-np.inf, np.inf, (self._width,), np.float32)
        if isinstance(self._space, MultiBinary):
            return Box(0, 1, self._space.shape, np.int8)
        if isinstance(self._space, MultiDiscrete):
            first, last = self._space.start, self._space.start + self._space.nvec - 1
            return Box(first, last, dtype=np.int64)
        return self._space

    def pack(self, observation: Any) -> np.ndarray:
        """One array of an observation, or of many: float32 [..., D] where the space is a Dict."""
        if not isinstance(observation, Mapping):
            return np.array(observation)
        rows = []
        for name, (_, shape) in self._parts.items():
            part = np.asarray(observation[name], np.float32)
            rows.append(part.reshape((*part.shape[: part.ndim - len(shape)], prod(shape))))
        return np.concatenate(rows, axis=-1)

    def unpack(self, rows: Any) -> Any:
        """The parts by name again; what `pack` left alone stays so."""
        if not isinstance(self._space, Dict):
            return rows
        return {
            name: rows[..., place].reshape((*rows.shape[:-1], *shape))
            for name, (place, shape) in self._parts.items()
        }
