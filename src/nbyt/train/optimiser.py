"""The part that all optimisers share: clipping, and one flat vector where that is faster."""

from typing import Any

import jax
import optax

# One flat vector means a handful of operations a step instead of a dozen a layer; above this many
# weights, putting the vector together costs several times what that saves.
_FEW_WEIGHTS = 20_000


def clipped(
    optimiser: optax.GradientTransformation, max_grad_norm: float, weights: Any
) -> optax.GradientTransformation:
    """Return the optimiser behind a clip of the gradient's norm, for weights of these shapes."""
    steps = optax.chain(optax.clip_by_global_norm(max_grad_norm), optimiser)
    small = sum(leaf.size for leaf in jax.tree.leaves(weights)) <= _FEW_WEIGHTS
    return optax.flatten(steps) if small else steps
