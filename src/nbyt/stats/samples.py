"""Samples: how often each chain counts. The full sample, one chain left out, or chains redrawn."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Replicates = Float[np.ndarray, " samples"]


@dataclass(frozen=True)
class Samples:
    """A weight for every chain and every sketch group, sample by sample.

    An average over chains or over pairs of chains becomes an array over the samples, and any
    function of averages becomes the same NumPy expression on such arrays.
    """

    chains: Float[np.ndarray, "samples n"]
    groups: Float[np.ndarray, "samples G"]

    def mean(self, values: Float[np.ndarray, "_ n"]) -> Replicates:
        """The mean over chains in every sample: Σ_a w_a v_a / Σ_a w_a."""
        sums = np.asarray(values, float) @ self.chains.T
        return self.over_groups(sums / self.chains.sum(-1))

    def mean_of_pairs(self, gram: Float[np.ndarray, "_ n n"]) -> Replicates:
        """The mean over pairs of different chains: Σ_{a≠b} w_a w_b K_ab / Σ_{a≠b} w_a w_b.

        A chain is never paired with itself, nor with its own copy in a redrawn sample. So the
        expectation is the product of the chains' means, however a chain depends on itself.
        A redrawn sample of one chain only has no pair: nan.
        """
        kernel = np.asarray(gram, float).copy()
        chain = np.arange(kernel.shape[-1])
        kernel[:, chain, chain] = 0.0
        sums = np.sum((self.chains @ kernel) * self.chains, axis=-1)
        pairs = self.chains.sum(-1) ** 2 - np.sum(self.chains**2, axis=-1)
        return self.over_groups(sums / np.where(pairs > 0, pairs, np.nan))

    def over_groups(self, values: Float[np.ndarray, "_ samples"]) -> Replicates:
        """The mean over sketch groups in every sample. Exact products have one, which is all."""
        if len(values) == 1:
            return values[0]
        return np.sum(values.T * self.groups, axis=-1) / self.groups.sum(-1)


def leave_one_out(chains: int, groups: int = 1) -> Samples:
    """The full sample, then every sample without one chain, then every one without one group."""
    left_out = np.ones((1 + chains, chains))
    left_out[1:] -= np.eye(chains)
    if groups == 1:
        return Samples(left_out, np.ones((1 + chains, 1)))
    sketches = np.ones((groups, groups)) - np.eye(groups)
    return Samples(
        np.vstack([left_out, np.ones((groups, chains))]),
        np.vstack([np.ones((1 + chains, groups)), sketches]),
    )


def redrawn(chains: int, draws: int, generator: np.random.Generator, groups: int = 1) -> Samples:
    """Samples of the same size, drawn with replacement from the whole chains (bootstrap).

    Sketch groups are redrawn too, so that the spread over draws holds the error of the sketch.
    """
    return Samples(_multinomial(chains, draws, generator), _multinomial(groups, draws, generator))


def _multinomial(
    count: int, draws: int, generator: np.random.Generator
) -> Float[np.ndarray, "draws count"]:
    return generator.multinomial(count, np.full(count, 1 / count), draws).astype(float)
