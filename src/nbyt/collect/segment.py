"""What a pool is to be, and the segments it is put together from."""

from typing import NamedTuple

import numpy as np

from nbyt.collect.device import STAGGER_LIMIT


class PoolPlan(NamedTuple):
    """What to collect.

    steps: of each chain. ahead: how far a side branch goes past a time limit, and `gamma` its
    discount. synchronised: all chains begin at a reset, as a fresh run's envs do. reward_scale:
    what rewards are divided by where the critic was trained on scaled ones. envs: most host envs
    that run at once. round: further pools of the same seed are other chains.
    """

    chains: int
    steps: int
    ahead: int
    gamma: float
    seed: int
    synchronised: bool = False
    reward_scale: float | None = None
    envs: int = 64
    vector: str = "sync"
    round: int = 0


class Segment(NamedTuple):
    """Rows of the chains `chains` from step `time` on, by the names of a pool's arrays."""

    chains: slice
    time: int
    rows: dict[str, np.ndarray]


def pieces(steps: int, longest: int) -> tuple[int, int]:
    """(count, length) of equal pieces that cover `steps`, so that one program serves them all."""
    count = -(-steps // longest)
    return count, -(-steps // count)


def burn_in(time_limit: int | None) -> int:
    """Steps before a chain may count: an episode's, or 1,000 where it is longer or endless."""
    return min(time_limit or STAGGER_LIMIT, STAGGER_LIMIT)
