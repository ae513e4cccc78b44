"""Gradients as vectors, and every statistic by its definition: loops over chains and pairs.

The package sees inner products only. Here the vectors themselves are kept, so that each formula
can be written down as the mathematics has it, and be recomputed from scratch without a chain.
"""

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from hypothesis import strategies as st

from nbyt.stats import Products


@dataclass(frozen=True)
class Vectors:
    """Contributions [chain, fragment, step, parameter], references [chain, parameter], blocks."""

    contributions: np.ndarray
    references: np.ndarray
    blocks: np.ndarray

    @property
    def fragments(self) -> np.ndarray:
        return self.contributions.mean(2)

    @property
    def means(self) -> np.ndarray:
        return self.fragments.mean(1)

    @property
    def chains(self) -> int:
        return len(self.blocks)

    def without(self, chain: int) -> "Vectors":
        kept = [c for c in range(self.chains) if c != chain]
        return self.taking(kept)

    def taking(self, chains: list[int]) -> "Vectors":
        return Vectors(self.contributions[chains], self.references[chains], self.blocks[chains])

    def times(self, factor: float) -> "Vectors":
        return replace(
            self, contributions=self.contributions * factor, references=self.references * factor
        )

    def products(self, sketch: np.ndarray | None = None) -> Products:
        """What the engine hands over; with a sketch [group, rows, parameter], of the sketches."""
        exact = np.eye(self.contributions.shape[-1])[None]
        grams = exact if sketch is None else sketch
        short, reference = (
            np.einsum("grp,np->gnr", grams, v) for v in (self.means, self.references)
        )
        return Products(
            steps=self.contributions.shape[2],
            square=(self.fragments**2).sum(-1).mean(1)[None],
            step_square=(self.contributions**2).sum(-1).mean((1, 2))[None],
            step_pairs=self._step_pairs()[None],
            partners=(self.blocks[:, None] == self.blocks).sum(1) - 1,
            means=short @ short.swapaxes(1, 2),
            cross=short @ reference.swapaxes(1, 2),
            reference=reference @ reference.swapaxes(1, 2),
        )

    def _step_pairs(self) -> np.ndarray:
        found = np.zeros(self.chains)
        for n in range(self.chains):
            mates = (self.blocks == self.blocks[n]) & (np.arange(self.chains) != n)
            together = self.contributions[mates].sum(0)
            found[n] = np.sum(self.contributions[n] * together, axis=-1).mean()
        return found


def over_pairs(first: np.ndarray, second: np.ndarray) -> float:
    """Mean of <first_n, second_m> over n != m."""
    pairs = list(permutations(range(len(first)), 2))
    return sum(float(first[n] @ second[m]) for n, m in pairs) / len(pairs)


def variance(v: Vectors) -> float:
    """V(T): mean squared length of a fragment, less the squared mean."""
    lengths = [float(g @ g) for chain in v.fragments for g in chain]
    return sum(lengths) / len(lengths) - over_pairs(v.means, v.means)


def individual(v: Vectors) -> float:
    """Mean over steps of the variance of a step, over T."""
    steps = v.contributions.shape[2]
    lengths = (v.contributions**2).sum(-1).mean()
    pairs = [
        (v.contributions[n] * v.contributions[m]).sum(-1).mean()
        for n, m in permutations(range(v.chains), 2)
        if v.blocks[n] == v.blocks[m]
    ]
    return float(lengths - np.mean(pairs)) / steps


def bias_sq(v: Vectors) -> float:
    difference = v.means - v.references
    return over_pairs(difference, difference)


def rho(v: Vectors, envs: int) -> float:
    length = over_pairs(v.means, v.means) + variance(v) / envs
    return over_pairs(v.means, v.references) / np.sqrt(length)


def bias_factor(v: Vectors) -> float:
    x = over_pairs(v.means, v.references)
    return x * abs(x) / (over_pairs(v.means, v.means) * over_pairs(v.references, v.references))


def alignment(v: Vectors, envs: int) -> float:
    return rho(v, envs) * abs(rho(v, envs)) / over_pairs(v.references, v.references)


def jackknife(v: Vectors, statistic) -> np.ndarray:
    """The statistic of the full sample and without each chain, recomputed from scratch."""
    return np.array([statistic(v), *(statistic(v.without(c)) for c in range(v.chains))])


def random_vectors(
    chains: int, fragments: int, steps: int, parameters: int, seed: int, signal: float = 1.0
) -> Vectors:
    """Contributions correlated in time around a common mean, references around nearly the same."""
    generator = np.random.default_rng(seed)
    noise = generator.normal(size=(chains, fragments, steps, parameters))
    mean = signal * generator.normal(size=parameters)
    contributions = mean + noise + 0.5 * noise[:, :, :1]
    references = 1.1 * mean + 0.3 * generator.normal(size=(chains, parameters))
    references += contributions.mean((1, 2)) - mean
    return Vectors(
        contributions, references, np.arange(chains) // 4 if chains > 8 else np.zeros(chains)
    )


@st.composite
def vectors(draw, least: int = 3, signal: float = 1.0) -> Vectors:
    """Any small number of chains, fragments, steps and parameters."""
    sizes = [draw(st.integers(least, 9)), *(draw(st.integers(1, 4)) for _ in range(3))]
    return random_vectors(*sizes, seed=draw(st.integers(0, 10**6)), signal=signal)


def noisier(v: Vectors, noise: float, seed: int = 9) -> Vectors:
    """The same chains and reference, seen by a layout with more noise in every contribution."""
    extra = np.random.default_rng(seed).normal(size=v.contributions.shape)
    return Vectors(v.contributions + noise * extra, v.references, v.blocks)
