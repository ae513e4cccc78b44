"""What a mini-batch of 256 costs by the size of the buffer: it should cost the same from any."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.timing.rounds import median, ratios
from nbyt.collect.replay import HostReplay, empty, read
from nbyt.minibatch.replay import Filled, draw
from nbyt.training.dqn import row_of

MINIBATCH = 256
CAPACITIES = (1_000, 10_000, 100_000, 1_000_000)
WAYS = ("uniform", "distinct", "stratified", "sequential")
_TIMES = 300
_OBSERVATION = jax.ShapeDtypeStruct((4,), jnp.float32)


def sampling(*, rounds: int) -> list[dict[str, Any]]:
    """For each buffer and way: microseconds a mini-batch, and the ratio to the smallest size."""
    lines = []
    for place, buffers in (("device", _device), ("host", _host)):
        readers = {capacity: buffers(capacity) for capacity in CAPACITIES}
        for way in WAYS:
            taken = _rounds(way, readers, rounds)
            for capacity, seconds in taken.items():
                ratio = median(ratios(seconds, taken[CAPACITIES[0]]))
                lines.append(
                    {
                        "buffer": place,
                        "sampling": way,
                        "capacity": capacity,
                        "microseconds": 1e6 * float(np.median(seconds)),
                        "ratio": ratio.as_dict(),
                    }
                )
    return lines


def _rounds(way: str, readers: dict[int, Any], rounds: int) -> dict[int, list[float]]:
    """Seconds of a mini-batch in each round; the capacities take turns."""
    taken: dict[int, list[float]] = {capacity: [] for capacity in readers}
    generator = np.random.default_rng(0)
    for _ in range(rounds):
        for capacity, reader in readers.items():
            # A ring that has been written over, as it is for most of a run.
            filled = Filled(capacity + capacity // 3, capacity)
            began = time.perf_counter()
            for _ in range(_TIMES):
                jax.block_until_ready(reader(draw(way, filled, MINIBATCH, 1, generator)))
            taken[capacity].append((time.perf_counter() - began) / _TIMES)
    return taken


def _device(capacity: int) -> Any:
    replay = empty(capacity, row_of(_OBSERVATION))
    compiled = jax.jit(read)
    return lambda places: compiled(replay, places)


def _host(capacity: int) -> Any:
    replay = HostReplay(capacity, row_of(_OBSERVATION))
    # Written once, so that every page of it is really there.
    for rows in jax.tree.leaves(replay.rows):
        rows[...] = 1
    return replay.read
