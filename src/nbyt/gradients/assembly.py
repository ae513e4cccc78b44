"""Turn the sums of a pool into the inner products that the statistics take."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from nbyt.gradients.engine import ChainSums, PoolSums
from nbyt.gradients.weights import GradientSpec
from nbyt.stats.products import Products

OBJECTIVES = ("actor", "critic", "total")


def products_of(
    found: PoolSums,
    spec: GradientSpec,
    objective: str,
    k: int,
    m: int,
    settled: PoolSums | None = None,
) -> Products:
    """Products of one objective at the k-th T and m-th lambda.

    settled: the sums of chains at random phases, where `found` is of chains that begin at a
    reset; the reference is then theirs.
    """
    if objective == "total" and not spec.joined:
        actor = products_of(found, spec, "actor", k, m, settled)
        critic = products_of(found, spec, "critic", k, m, settled)
        return _side_by_side(actor, critic, spec.value_coefficient)
    own, spread = found.objectives[objective], float(found.scale.spread[k, m])
    means = own.vectors[:, k, m].astype(float)
    home = own if settled is None else settled.objectives[objective]
    reference = means if spec.bare else _reference(home.whole[:, 1:], spread)
    products = Products(
        spec.steps[k],
        own.square[k, m][None],
        own.step_square[k, m][None],
        own.step_pairs[k, m][None],
        found.partners,
        _gram(means, means),
        _gram(means, reference),
        _gram(reference, reference),
    )
    if settled is None:
        return products
    here = _reference(own.vectors[:, k, len(spec.lambdas) :], spread)
    advantage, phase = means - here, here - reference
    return replace(
        products, advantage_part=_gram(advantage, advantage), phase_part=_gram(phase, phase)
    )


def endless_gram(own: ChainSums) -> Float[np.ndarray, "n n"]:
    """Inner products of the chains' mean contributions with advantages that are never cut."""
    mean = own.whole[:, 0].astype(float)
    return _gram(mean, mean).mean(axis=0)


def _reference(summands: np.ndarray, spread: float) -> Float[np.ndarray, "G n m"]:
    return summands[:, 0].astype(float) / spread + summands[:, 1]


def _gram(a: np.ndarray, b: np.ndarray) -> Float[np.ndarray, "G n n"]:
    return a @ b.swapaxes(-1, -2)


def _side_by_side(actor: Products, critic: Products, coefficient: float) -> Products:
    """Products of two gradients in different parameters, the second times its coefficient."""
    names = ["square", "step_square", "step_pairs", "means", "cross", "reference"]
    names += [] if actor.phase_part is None else ["advantage_part", "phase_part"]
    summed = {name: getattr(actor, name) + coefficient**2 * getattr(critic, name) for name in names}
    return replace(actor, **summed)
