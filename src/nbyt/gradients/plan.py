"""How a pool is cut so that measuring it fits in memory, whatever the pool and the network."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import sparse

from nbyt.errors import UsageError
from nbyt.gradients.spec import GradientSpec
from nbyt.rng import numpy_stream

# Sketches: short stand-ins for long vectors that keep their inner products in expectation.
#
# Every coordinate is added, with a random sign, to one of the sketch's random places. The inner
# product of two sketches has the vectors' own as its mean; several independent groups show how far
# it strays, and that spread goes into every interval.

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


_LEAST_CHAINS = 4
_LEAST_PLACES = 64
_LONGEST_LAG = 512
_BYTES = 4


@dataclass(frozen=True)
class Footprint:
    """What measuring a network takes: bytes for each row of a slab, and numbers of its vectors.

    vectors: of one set of advantages, all objectives together. chains: most of them in a slab.
    slab_bytes: what a slab takes at most, however much memory there is.
    """

    row_bytes: int
    vectors: int
    chains: int = 8
    slab_bytes: int = 2**62


@dataclass(frozen=True)
class SlabPlan:
    """Chains and steps of a slab, the lags looked at, and the sketch's places (0: none needed)."""

    chains: int
    steps: int
    lags: tuple[int, ...]
    places: int
    seed: int = 0

    def blocks(self, chains: int) -> Iterator[slice]:
        """The chains in blocks that differ by one at most, none larger than a slab's."""
        count = -(-chains // self.chains)
        for place in range(count):
            yield slice(place * chains // count, (place + 1) * chains // count)


def plan_for(
    foot: Footprint, chains: int, spec: GradientSpec, memory: int, seed: int = 0
) -> SlabPlan:
    """A plan whose program and vectors each take about half of `memory` bytes at most."""
    rows = max(1, min(memory // 2, foot.slab_bytes) // foot.row_bytes)
    allowed = max(1, memory // 2 // foot.row_bytes)
    most = min(foot.chains, chains)
    steps = _slab_steps(spec, rows, most)
    at_once = max(min(_LEAST_CHAINS, chains), min(most, rows // steps))
    if at_once * steps > 2 * allowed and steps > 1:
        need = 2 * at_once * steps * foot.row_bytes
        raise UsageError(
            f"{at_once} chains x {steps} steps of this network do not fit in "
            f"{memory / 2**20:.0f} MiB",
            where="memory",
            fix=f"allow {need / 2**20:.0f} MiB with --memory, or ask for steps that divide "
            "each other",
        )
    lags = tuple(2**k for k in range(10) if 2**k <= min(steps // 2, _LONGEST_LAG))
    return SlabPlan(at_once, steps, lags, _places(foot, chains, spec, memory // 2), seed)


def _slab_steps(spec: GradientSpec, rows: int, chains: int) -> int:
    """Steps of a slab: the most that fit, out of those that fragments either fill or are filled by.

    If none fits, the fewest.
    """
    whole = [steps for steps in range(1, spec.measured + 1) if spec.measured % steps == 0]
    even = [s for s in whole if not any(length % s and s % length for length in spec.steps)]
    return max((s for s in even if s * chains <= rows), default=even[0])


def vector_bytes(foot: Footprint, chains: int, spec: GradientSpec, plan: SlabPlan) -> int:
    """Bytes of all chains' vectors, as they are or sketched."""
    if not plan.places:
        return written_bytes(foot, chains, spec)
    return _sets(spec) * chains * _objectives(spec) * GROUPS * plan.places * _BYTES


def written_bytes(foot: Footprint, chains: int, spec: GradientSpec) -> int:
    """Bytes of the vectors of so many chains, written out for every objective."""
    return _sets(spec) * chains * foot.vectors * _BYTES


def _places(foot: Footprint, chains: int, spec: GradientSpec, memory: int) -> int:
    """Places of a sketch's group so that all chains' vectors fit; 0 if they fit as they are."""
    if written_bytes(foot, chains, spec) <= memory:
        return 0
    return max(
        _LEAST_PLACES, memory // (_sets(spec) * chains * _objectives(spec) * _BYTES * GROUPS)
    )


def _sets(spec: GradientSpec) -> int:
    """Vectors of each objective that every chain has."""
    return len(spec.steps) * len(spec.lambdas) + spec.sums


def _objectives(spec: GradientSpec) -> int:
    """Gradients that are measured by themselves."""
    return 3 if spec.joined else 2
