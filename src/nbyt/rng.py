"""Named random streams.

A draw is found by its role and its index, never by its place in a queue: adding a draw somewhere
shifts no other, a resumed run meets the same numbers as an unbroken one, and the streams of N
environments are a prefix of those of 2N. JAX is imported late so that NumPy users do not pay.
"""

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import jax


def stream(key: "jax.Array", role: str, index: "int | jax.Array" = 0) -> "jax.Array":
    """Return the JAX key of `role` number `index` under `key`."""
    import jax

    return jax.random.fold_in(jax.random.fold_in(key, _number(role)), index)


def streams(key: "jax.Array", role: str, count: int) -> "jax.Array":
    """Return the keys of `role` numbers 0 to count-1, as one array of keys."""
    import jax
    import jax.numpy as jnp

    return jax.vmap(lambda index: stream(key, role, index))(jnp.arange(count))


def numpy_stream(seed: int, role: str, index: int = 0) -> np.random.Generator:
    """Return the NumPy generator of `role` number `index` under `seed`."""
    return np.random.default_rng(np.random.SeedSequence([seed, _number(role), index]))


def seeds(seed: int, role: str, count: int) -> list[int]:
    """Draw 31-bit seeds for things outside JAX; the first k do not depend on `count`."""
    return [
        int(np.random.SeedSequence([seed, _number(role), index]).generate_state(1)[0] >> 1)
        for index in range(count)
    ]


def _number(role: str) -> int:
    return zlib.crc32(role.encode()) & 0x7FFFFFFF
