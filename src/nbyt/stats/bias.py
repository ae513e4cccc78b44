"""Squared bias of the gradient, whole and by cause."""

from dataclasses import dataclass

from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.length import squared_length
from nbyt.stats.products import Products

NO_SPLIT = "the parts of the bias are measured on synchronised starts only"


@dataclass(frozen=True)
class BiasParts:
    """|E(S-P)|² and |E(P-R)|²: what the advantages do, and what the phase of the episode does.

    The two vectors add to the bias; their squared lengths need not add to its squared length.
    """

    advantage: Estimate
    phase: Estimate


def bias_sq(products: Products) -> Estimate:
    """|E G - G*|², paired on the same chains: what they share drops out before it is squared."""
    return squared_length(products.difference)


def bias_parts(products: Products) -> BiasParts:
    """The two parts of the squared bias, undetermined where starts were not synchronised."""
    grams = (products.advantage_part, products.phase_part)
    found = [
        undetermined(NO_SPLIT, products.chains) if gram is None else squared_length(gram)
        for gram in grams
    ]
    return BiasParts(*found)
