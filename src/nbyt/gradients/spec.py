"""What is asked of a pool, the weights of its steps, and how it is cut to fit in memory.

Advantages are weights: what each step of a chain counts for, at every T and lambda.

A fragment is T consecutive steps with its advantages cut at the end, so one step has another
advantage at every T. Those are single numbers, cheap to compute before any gradient is touched;
once they are known, all fragment lengths share one forward and one backward pass.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy import sparse

from nbyt.collect.pool import Pool
from nbyt.collect.rollout import fragment_sums
from nbyt.errors import UsageError
from nbyt.rng import numpy_stream

# objective -> part -> weights
Parts = dict[str, dict[str, np.ndarray]]

_CHAINS_AT_ONCE = 64


@dataclass(frozen=True)
class GradientSpec:
    """What is asked of a pool: fragment lengths, lambdas, and the objective's numbers.

    measured: steps of each chain that count; those after them only serve the reference.
    normalise: the actor's advantages get mean 0 and standard deviation 1 over the pool.
    joined: the total is a gradient of its own (a shared torso, or an entropy bonus); else it is
    actor and critic side by side, and follows from theirs.
    first_only: only the first fragment of a chain counts, the one that begins at a reset.
    bare: no reference is asked for; the mean gradient itself stands in its place.
    """

    steps: tuple[int, ...]
    lambdas: tuple[float, ...]
    measured: int
    gamma: float
    normalise: bool
    value_coefficient: float = 0.5
    entropy_coefficient: float = 0.0
    joined: bool = False
    first_only: bool = False
    bare: bool = False

    @property
    def sums(self) -> int:
        """Return the number of sums over all steps: of the endless chain, and two of the
        reference.
        """
        return 1 if self.bare else 3

    def fragments(self, steps: int) -> int:
        """Return fragments of a chain that count."""
        return 1 if self.first_only else self.measured // steps

    def counted(self, steps: int) -> Bool[np.ndarray, " L"]:
        """Return the measured steps that lie in those fragments."""
        return np.arange(self.measured) < self.fragments(steps) * steps


class AdvantageScale(NamedTuple):
    """Mean and standard deviation of the advantages at each T and lambda, and of the reference.

    0 and 1 where advantages are used as they are.
    """

    mean: Float[np.ndarray, "K M"]
    spread: Float[np.ndarray, "K M"]
    reference_mean: float
    endless_mean: float
    endless_spread: float


def scale_of(pool: Pool, spec: GradientSpec) -> AdvantageScale:
    """Return the moments over the whole pool, a few chains at a time."""
    shape = (len(spec.steps), len(spec.lambdas))
    if not spec.normalise:
        return AdvantageScale(np.zeros(shape), np.ones(shape), 0.0, 0.0, 1.0)
    sums: list[list[np.ndarray]] = []
    for first in range(0, pool.chains, _CHAINS_AT_ONCE):
        some = _chains(pool, slice(first, first + _CHAINS_AT_ONCE))
        sets = [a for row in _fragment_sets(some, spec) for a in row]
        counts = [spec.counted(steps).sum() for steps in spec.steps for _ in spec.lambdas]
        sets += [reference_advantages(some, spec.gamma)[: spec.measured], _endless(some, spec)]
        rows = [*counts, spec.measured, spec.measured]
        sums.append(
            [
                np.array([a.sum(), (a**2).sum(), k * a.shape[1]])
                for a, k in zip(sets, rows, strict=True)
            ]
        )
    total, square, count = np.sum(sums, axis=0).T
    mean = total / count
    spread = np.sqrt(np.maximum(square / count - mean**2, 0.0))
    spread[spread == 0] = 1.0  # no advantage differs from another: nothing to scale
    return AdvantageScale(
        mean[:-2].reshape(shape),
        spread[:-2].reshape(shape),
        float(mean[-2]),
        float(mean[-1]),
        float(spread[-1]),
    )


def weigh(
    pool: Pool, spec: GradientSpec, scale: AdvantageScale, chains: slice
) -> tuple[Parts, Parts]:
    """Weigh some chains' measured steps: fragments [K, M, c, L], and sums [W, c, L].

    The sums are those of the endless chain, and of the reference: what is to be divided by a
    fragment's spread, and what is not. With `first_only` the reference's two sums over just the
    steps of the fragment follow the M lambdas.
    """
    some = _chains(pool, chains)
    raw = np.stack([np.stack(row) for row in _fragment_sets(some, spec)])
    counted = np.stack([spec.counted(steps) for steps in spec.steps])[:, None, :, None]
    mean, spread = scale.mean[..., None, None], scale.spread[..., None, None]
    endless = _endless(some, spec)
    reference = reference_advantages(some, spec.gamma)[: spec.measured]
    one, none = np.ones_like(endless), np.zeros_like(endless)
    sums = (
        np.stack([reference - scale.reference_mean, none]),
        np.stack([none, reference]),
        np.stack([none, one]),
    )
    first = (
        (endless - scale.endless_mean) / scale.endless_spread,
        endless,
        one,
    )
    whole = [np.stack([a, *b])[: spec.sums] for a, b in zip(first, sums, strict=True)]
    fragment = [(raw - mean) / spread * counted, raw, np.broadcast_to(counted, raw.shape)]
    if spec.first_only:
        fragment = [
            np.concatenate([a, b * counted], axis=1) for a, b in zip(fragment, sums, strict=True)
        ]
    return _chain_first(_objectives(spec, *fragment)), _chain_first(_objectives(spec, *whole))


def fragment_advantages(
    pool: Pool, gamma: float, lam: float, steps: int, rows: int
) -> Float[np.ndarray, "L n"]:
    """Return GAE of the first `rows` steps' fragments of T steps; 0 after the last whole fragment.

    A_t = delta_t + gamma lam A_{t+1} within a fragment and an episode.
    """
    delta, decay = (x[:rows] for x in _terms(pool, gamma, lam))
    advantage = np.zeros((rows, pool.chains))
    sums = fragment_sums(delta, decay, steps)
    advantage[: len(sums)] = sums
    return advantage


def reference_advantages(pool: Pool, gamma: float) -> Float[np.ndarray, "L n"]:
    """Return advantages that wait for all rewards (lambda 1), past time limits if possible."""
    onward = pool._replace(next_value=pool.next_value_untruncated)
    return fragment_advantages(onward, gamma, 1.0, pool.steps, pool.steps)


def _terms(pool: Pool, gamma: float, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Return delta, and the factor of the next step's advantage: 0 where an episode ends."""
    delta = pool.reward.astype(float) + gamma * pool.next_value - pool.value
    return delta, gamma * lam * ~(pool.terminated | pool.truncated)


def _fragment_sets(pool: Pool, spec: GradientSpec) -> list[list[np.ndarray]]:
    """Return advantages [L, n] at every T and lambda, 0 where they do not count."""
    return [
        [
            fragment_advantages(pool, spec.gamma, lam, steps, spec.measured)
            * spec.counted(steps)[:, None]
            for lam in spec.lambdas
        ]
        for steps in spec.steps
    ]


def _endless(pool: Pool, spec: GradientSpec) -> Float[np.ndarray, "L n"]:
    """Return advantages at the first lambda with no cut but the pool's end, far behind."""
    lam = spec.lambdas[0]
    return fragment_advantages(pool, spec.gamma, lam, pool.steps, pool.steps)[: spec.measured]


def objective_parts(spec: GradientSpec) -> dict[str, dict[str, float]]:
    """Return the parts of each objective that is measured by itself, with their coefficients."""
    found = {"actor": {"actor": 1.0}, "critic": {"critic": 1.0}}
    if spec.joined:
        found["total"] = {"actor": 1.0, "critic": spec.value_coefficient}
        if spec.entropy_coefficient:
            found["total"]["entropy"] = spec.entropy_coefficient
    return found


def _objectives(
    spec: GradientSpec, actor: np.ndarray, critic: np.ndarray, entropy: np.ndarray
) -> Parts:
    weights = {"actor": actor, "critic": critic, "entropy": entropy}
    return {
        name: {part: coefficient * weights[part] for part, coefficient in parts.items()}
        for name, parts in objective_parts(spec).items()
    }


def _chains(pool: Pool, chains: slice) -> Pool:
    """Return some chains of the pool; their observations stay where they are."""
    return Pool(*(array[:, chains] for array in pool))


def _chain_first(parts: Parts) -> Parts:
    return {
        objective: {
            part: np.ascontiguousarray(w.swapaxes(-1, -2), np.float32) for part, w in own.items()
        }
        for objective, own in parts.items()
    }


GROUPS = 8


class Sketch:
    """Short stand-ins for long vectors that keep their inner products in expectation.

    Every coordinate is added, with a random sign, to one of the random places of each of 8 groups.
    The spread over groups shows how far an inner product strays; it goes into every interval.
    """

    def __init__(self, size: int, places: int, seed: int) -> None:
        self._maps = [_map(size, places, numpy_stream(seed, "sketch", g)) for g in range(GROUPS)]

    def __call__(self, vectors: Float[np.ndarray, "... P"]) -> Float[np.ndarray, "G ... m"]:
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
        """Return the chains in blocks that differ by one at most, none larger than a slab's."""
        count = -(-chains // self.chains)
        for place in range(count):
            yield slice(place * chains // count, (place + 1) * chains // count)


def plan_for(
    foot: Footprint, chains: int, spec: GradientSpec, memory: int, seed: int = 0
) -> SlabPlan:
    """Plan slabs so that program and vectors each take at most about half of `memory` bytes."""
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
    """Choose the most steps that fit, of those that fragments fill or are filled by.

    If none fits, the fewest.
    """
    whole = [steps for steps in range(1, spec.measured + 1) if spec.measured % steps == 0]
    even = [s for s in whole if not any(length % s and s % length for length in spec.steps)]
    return max((s for s in even if s * chains <= rows), default=even[0])


def vector_bytes(foot: Footprint, chains: int, spec: GradientSpec, plan: SlabPlan) -> int:
    """Return bytes of all chains' vectors, as they are or sketched."""
    if not plan.places:
        return written_bytes(foot, chains, spec)
    return _sets(spec) * chains * _plan_objectives(spec) * GROUPS * plan.places * _BYTES


def written_bytes(foot: Footprint, chains: int, spec: GradientSpec) -> int:
    """Return bytes of the vectors of so many chains, written out for every objective."""
    return _sets(spec) * chains * foot.vectors * _BYTES


def _places(foot: Footprint, chains: int, spec: GradientSpec, memory: int) -> int:
    """Return places of a sketch's group so that all vectors fit; 0 if they fit as they are."""
    if written_bytes(foot, chains, spec) <= memory:
        return 0
    return max(
        _LEAST_PLACES, memory // (_sets(spec) * chains * _plan_objectives(spec) * _BYTES * GROUPS)
    )


def _sets(spec: GradientSpec) -> int:
    """Return vectors of each objective that every chain has."""
    return len(spec.steps) * len(spec.lambdas) + spec.sums


def _plan_objectives(spec: GradientSpec) -> int:
    return 3 if spec.joined else 2
