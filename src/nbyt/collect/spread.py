"""One piece of work for many seeds: a part of them on every device, one after the other there.

A CPU's cores are then all busy, the program is compiled once for all of them, and what comes of a
seed is the same to the last bit whichever seeds keep it company.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

# XLA unrolls a loop of one turn and then rounds otherwise; a lone seed runs beside its copy.
_FEWEST = 2
_SHARED = PartitionSpec("seeds")


def spread(rows: Sequence[Any], mesh: Mesh) -> Any:
    """The seeds' trees stacked and shared out; the first again until every device has as many."""
    devices = mesh.devices.size
    each = max(_FEWEST, -(-len(rows) // devices))
    full = [*rows, *[rows[0]] * (each * devices - len(rows))]
    stacked = jax.tree.map(lambda *leaves: _stacked(leaves), *full)
    return jax.device_put(stacked, NamedSharding(mesh, _SHARED))


def mesh_for(seeds: int) -> Mesh:
    """The devices that so many seeds can keep busy."""
    return Mesh(np.array(jax.devices()[:seeds]), ("seeds",))


def each_seed(work: Callable[[Any], Any], rows: Any, mesh: Mesh) -> Any:
    """work(own) for every seed of what `spread` made."""

    def part(own: Any) -> Any:
        return jax.lax.map(work, own)

    return jax.shard_map(part, mesh=mesh, in_specs=_SHARED, out_specs=_SHARED, check_vma=False)(
        rows
    )


def _stacked(leaves: Sequence[Any]) -> Any:
    """By NumPy: JAX would compile a program for every shape."""
    if jnp.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_stacked([jax.random.key_data(one) for one in leaves]))
    return np.stack([np.asarray(one) for one in leaves])
