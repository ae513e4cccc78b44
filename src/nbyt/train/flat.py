"""Optimisers over one flat vector of all layers, where that is faster."""

from typing import Any

import jax
import optax

# One flat vector means a handful of operations a step instead of a dozen a layer; from about so
# many weights on, putting it together costs several times what that saves.
_FEW_WEIGHTS = 20_000


def flat_if_small(
    steps: optax.GradientTransformation, weights: Any
) -> optax.GradientTransformation:
    """The optimiser, over one flat vector if the weights are few."""
    small = sum(leaf.size for leaf in jax.tree.leaves(weights)) <= _FEW_WEIGHTS
    return optax.flatten(steps) if small else steps
