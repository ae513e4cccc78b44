"""The replay buffer: what was written last is there, in its place, and nothing else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nbyt.collect.replay import HostReplay, empty, read, write
from nbyt.errors import UsageError

ROW = {"number": jax.ShapeDtypeStruct((), jnp.int32), "image": jax.ShapeDtypeStruct((2,), "uint8")}


def rows(first: int, count: int) -> dict:
    numbers = np.arange(first, first + count, dtype=np.int32)
    return {"number": numbers, "image": np.stack([numbers, numbers], 1).astype(np.uint8)}


@pytest.mark.parametrize("writes", [1, 3, 4, 5, 11])
def test_device_and_host_hold_the_last_rows(writes: int) -> None:
    capacity, count = 12, 3
    device, host = empty(capacity, ROW), HostReplay(capacity, ROW)
    for turn in range(writes):
        new = rows(1 + turn * count, count)
        device = write(device, new, jnp.int32(turn * count))
        host.write(new, turn * count)
    written = writes * count
    kept = min(written, capacity)
    places = (np.arange(written - kept, written)) % capacity
    wanted = rows(1 + written - kept, kept)
    for found in (read(device, jnp.asarray(places)), host.read(places)):
        assert np.array_equal(found["number"], wanted["number"])
        assert np.array_equal(found["image"], wanted["image"])
    never = np.setdiff1d(np.arange(capacity), places)
    assert not np.asarray(read(device, jnp.asarray(never))["number"]).any()


def test_the_host_may_write_over_the_end() -> None:
    host = HostReplay(5, ROW)
    host.write(rows(1, 4), 0)
    host.write(rows(5, 3), 4)
    assert host.rows["number"].tolist() == [6, 7, 3, 4, 5]


def test_writing_in_a_loop_copies_no_buffer() -> None:
    """The compiled loop needs room for one buffer, which it takes over, not for one more."""

    def body(turn: jax.Array, replay: object) -> object:
        return write(replay, {"x": jnp.full((4, 100), turn, jnp.float32)}, turn * 4)

    def loop(replay: object) -> object:
        return jax.lax.fori_loop(0, 10, body, replay)

    replay = empty(40_000, {"x": jax.ShapeDtypeStruct((100,), jnp.float32)})
    compiled = jax.jit(loop, donate_argnums=0).lower(replay).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < 0.01 * 40_000 * 400


@pytest.mark.parametrize("capacity", [0, -3])
def test_a_buffer_without_room_is_refused(capacity: int) -> None:
    for make in (empty, HostReplay):
        with pytest.raises(UsageError, match="holds nothing"):
            make(capacity, ROW)
