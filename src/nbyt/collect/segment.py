"""The plan of a pool, and the segments it is assembled from."""

from math import ceil, log
from typing import NamedTuple

import numpy as np

from nbyt.collect.device import STAGGER_LIMIT
from nbyt.envs.protocol import HostEnvs, HostStep

# A reference waits until what is still to come weighs this little, or so many steps at most.
_FORGOTTEN = 0.01
_LONGEST_AHEAD = 5_000


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
    """Return (count, length) of equal pieces that cover `steps`, so that one program serves all."""
    count = -(-steps // longest)
    return count, -(-steps // count)


def burn_in(time_limit: int | None) -> int:
    """Return the steps before a chain counts: an episode's, at most 1,000."""
    return min(time_limit or STAGGER_LIMIT, STAGGER_LIMIT)


def horizon(gamma: float) -> int:
    """Return the steps after which a reward counts for no more than 1 %, 5,000 at most."""
    if gamma <= 0:
        return 1
    if gamma >= 1:
        return _LONGEST_AHEAD
    return min(_LONGEST_AHEAD, ceil(log(_FORGOTTEN) / log(gamma) - 1e-9))


# What a policy computes for an env may depend, in the last bits, on how many envs are computed
# together. A part that stands in its group's places, the others filled with anything, is computed
# as in the group; so chains that are collected in parts are the same bytes as those collected at
# once.


class PartEnvs:
    """A group of envs of which only those at the places `rows` run; the others copy the first."""

    def __init__(self, running: HostEnvs, rows: range, envs: int) -> None:
        self._running, self._rows, self.envs = running, slice(rows.start, rows.stop), envs
        self.restarts = getattr(running, "restarts", True)

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Reset the envs that run, each with the seed of its place."""
        return self._spread(self._running.reset(seeds[self._rows]))

    def step(self, action: np.ndarray) -> HostStep:
        made = self._running.step(action[self._rows])
        final = made.final_observation
        return HostStep(
            self._spread(made.observation),
            self._spread(made.reward),
            self._spread(made.terminated),
            self._spread(made.truncated),
            self._spread(made.valid),
            None if final is None else self._spread(final),
        )

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        rows = self._rows
        return self._spread(self._running.restart(mask[rows], observation[rows]))

    def close(self) -> None:
        self._running.close()

    def _spread(self, rows: np.ndarray) -> np.ndarray:
        whole = np.repeat(rows[:1], self.envs, axis=0)
        whole[self._rows] = rows
        return whole


def parts_of(plan: PoolPlan, count: int) -> list[range]:
    """Split the chains of a pool into about `count` parts, in order; none spans two groups."""
    together = min(plan.envs, plan.chains)
    size = max(1, -(-plan.chains // count))
    parts = []
    for first in range(0, plan.chains, together):
        last = min(first + together, plan.chains)
        parts += [range(k, min(k + size, last)) for k in range(first, last, size)]
    return parts
