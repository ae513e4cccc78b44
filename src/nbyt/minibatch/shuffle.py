"""Shuffle-and-chop: every sample exactly once an epoch, a fresh uniform shuffle each epoch."""

import numpy as np
from jaxtyping import Int

from nbyt.layout import Layout


def shuffle_and_chop(
    layout: Layout, generator: np.random.Generator
) -> Int[np.ndarray, "gradient_steps minibatch"]:
    """Indices of every mini-batch of one update, in order.

    Drawn on the host: a true uniform permutation there costs a fraction of a sort on the device,
    and it is drawn while the device is still busy with the update before.
    """
    epochs = [generator.permutation(layout.batch) for _ in range(layout.epochs)]
    return np.concatenate(epochs).astype(np.int32).reshape(-1, layout.minibatch)
