"""Sketches: short stand-ins for long vectors that keep their inner products in expectation.

Every coordinate is added, with a random sign, to one of the sketch's random places. The inner
product of two sketches has the vectors' own as its mean; several independent groups show how far
it strays, and that spread goes into every interval.
"""

import numpy as np
from jaxtyping import Float
from scipy import sparse

from nbyt.rng import numpy_stream

GROUPS = 8


class Sketch:
    """Maps vectors of `size` to 8 groups of `places` numbers each."""

    def __init__(self, size: int, places: int, seed: int) -> None:
        self._maps = [_map(size, places, numpy_stream(seed, "sketch", g)) for g in range(GROUPS)]

    def __call__(self, vectors: Float[np.ndarray, "... P"]) -> Float[np.ndarray, "G ... m"]:
        """The sketches of each group."""
        flat = vectors.reshape(-1, vectors.shape[-1])
        shape = (*vectors.shape[:-1], -1)
        return np.stack([np.asarray(flat @ one).reshape(shape) for one in self._maps])


def _map(size: int, places: int, generator: np.random.Generator) -> sparse.csr_array:
    signs = generator.choice(np.array([-1.0, 1.0], np.float32), size)
    columns = generator.integers(0, places, size)
    return sparse.csr_array((signs, (np.arange(size), columns)), shape=(size, places))
