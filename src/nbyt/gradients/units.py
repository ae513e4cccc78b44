"""Many chains as fewer units: the statistics compare all with all, so their number is bounded.

A unit is the mean of a few chains. Units are as independent of each other as chains are, and a few
hundred of them tell an error as well as thousands would.
"""

from typing import Any

import numpy as np
from jaxtyping import Int

from nbyt.gradients.engine import CHAIN_AXES, ChainSums, PoolSums

MOST = 256
# Sums over partners: a unit has the partners of all its chains.
_SUMMED = ("step_pairs", "endless_pairs")


class Units:
    """Accumulate the sums of more and more chains, measured at one scale.

    Chain i goes to unit i modulo `most`. Chains that were partners in a block are neighbours, so
    they never meet in a unit.
    """

    def __init__(self, most: int = MOST) -> None:
        self.chains, self._most = 0, most
        self._last: Any = None
        self._sums: dict[str, dict[str, np.ndarray]] = {}
        self._partners = np.zeros(0, int)

    def add(self, found: PoolSums) -> None:
        """Take the next chains in, no more than there are units."""
        count = len(found.partners)
        assert count <= self._most, "chains of one pool would meet in a unit"
        units = (self.chains + np.arange(count)) % self._most
        for name, own in found.objectives.items():
            sums = self._sums.setdefault(name, {})
            for field, array in own._asdict().items():
                sums[field] = _added(sums.get(field), array, units, CHAIN_AXES[field])
        self._partners = _added(self._partners, found.partners, units, 0)
        self.chains, self._last = self.chains + count, found

    @property
    def sums(self) -> PoolSums:
        """Return the sums of all chains so far, by unit."""
        sizes = np.bincount(np.arange(self.chains) % self._most)
        objectives = {name: _means(sums, sizes) for name, sums in self._sums.items()}
        return self._last._replace(objectives=objectives, partners=self._partners)


def _added(
    sums: np.ndarray | None, array: np.ndarray, units: Int[np.ndarray, " n"], axis: int
) -> np.ndarray:
    """The units' sums with another row of chains; units that are new begin with it."""
    if sums is None:
        return array
    missing = max(0, int(units.max()) + 1 - sums.shape[axis])
    wider = [(0, missing if place == axis else 0) for place in range(sums.ndim)]
    grown = np.pad(sums, wider)
    np.moveaxis(grown, axis, 0)[units] += np.moveaxis(array, axis, 0)
    return grown


def _means(sums: dict[str, np.ndarray], sizes: Int[np.ndarray, " units"]) -> ChainSums:
    if sizes.max() == 1:
        return ChainSums(**sums)
    fields = {}
    for name, total in sums.items():
        axis = CHAIN_AXES[name]
        shape = [-1 if place == axis else 1 for place in range(total.ndim)]
        by = 1 if name in _SUMMED else sizes.reshape(shape).astype(total.dtype)
        fields[name] = total / by
    return ChainSums(**fields)
