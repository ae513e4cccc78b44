"""What transitions of a buffer belong to: an episode, and the state that they begin in."""

import numpy as np
from jaxtyping import Int

from nbyt.objective.dqn import Transitions

# Cells of continuous states, in standard deviations of each coordinate.
CELL = 0.5


def episodes(rows: Transitions) -> Int[np.ndarray, " n"]:
    """The number of each transition's episode, of one env's transitions in their order.

    A new one begins after a termination, and where an observation is not the one that came before:
    there a time limit cut the episode. A cut whose reset gives the very same state is not seen.
    """
    count = len(rows.reward)
    before, after = (x.reshape(count, -1) for x in (rows.next_observation, rows.observation))
    begins = rows.terminated[:-1] | (before[:-1] != after[1:]).any(axis=1)
    return np.concatenate([[0], np.cumsum(begins)])


def states(rows: Transitions) -> Int[np.ndarray, " n"]:
    """The number of each row's state: exact for whole numbers, else the cell that it lies in."""
    seen = np.asarray(rows.observation).reshape(len(rows.reward), -1)
    if not np.array_equal(seen, np.round(seen)):
        scale = seen.std(axis=0)
        seen = np.round(seen / (CELL * np.where(scale > 0, scale, 1.0)))
    return np.unique(seen, axis=0, return_inverse=True)[1].reshape(-1)
