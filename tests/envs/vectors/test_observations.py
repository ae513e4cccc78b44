"""Laws of packing: every number of what an env hands out, once, in the order of its space."""

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
from gymnasium.spaces.utils import flatten
from gymnasium.vector.utils import batch_space

from nbyt.envs.vectors.observations import Packing, counted_from, seen_space, zero_based

BOX = Box(-1, 1, (2, 3), np.float32)


def test_a_box_stays_as_it_is_in_memory_of_its_own() -> None:
    packing, given = Packing(BOX), np.ones((5, 2, 3), np.float32)
    rows = packing.rows(given)
    given[:] = 7
    assert packing.space == BOX
    np.testing.assert_array_equal(rows, np.ones((5, 2, 3)))


def test_a_dictionary_is_flattened_as_gymnasium_does_it() -> None:
    space = Dict({"b": BOX, "a": Box(0, 1, (4,), np.float32)})
    packing, batch = Packing(space), batch_space(space, 5)
    batch.seed(0)
    many = batch.sample()
    rows = packing.rows(many)
    assert packing.space.shape == rows.shape[1:] == (10,)
    for env in range(5):
        one = {name: many[name][env] for name in space}
        np.testing.assert_array_equal(rows[env], flatten(space, one))
        np.testing.assert_array_equal(packing.row(one), rows[env])


@pytest.mark.parametrize("name", ["policy", "obs"])
def test_what_only_the_critic_sees_is_left_out(name: str) -> None:
    packing = Packing(Dict({"critic": Box(0, 1, (9,)), name: BOX}))
    given = {"critic": np.zeros((5, 9)), name: np.ones((5, 2, 3))}
    assert packing.space == BOX
    np.testing.assert_array_equal(packing.rows(given), np.ones((5, 2, 3)))
    np.testing.assert_array_equal(packing.rows(given[name]), np.ones((5, 2, 3)))


def test_choices_are_counted_from_0() -> None:
    packing = Packing(Discrete(5, start=10))
    assert packing.space == Discrete(5)
    assert packing.rows(np.array([10, 14])).tolist() == [0, 4]
    assert packing.row(np.int64(12)) == 2
    assert zero_based(Discrete(3, start=-1)) == Discrete(3)
    assert counted_from(Discrete(3, start=-1)) == -1
    several = MultiDiscrete([2, 3], start=[1, 5])
    assert zero_based(several) == MultiDiscrete([2, 3]) and list(counted_from(several)) == [1, 5]
    assert zero_based(BOX) is BOX and counted_from(BOX) == 0


def test_an_env_without_spaces_shows_what_it_hands_out() -> None:
    assert seen_space(np.zeros((5, 2, 3))).shape == (2, 3)
    parts = seen_space({"a": np.zeros((5, 2)), "b": np.zeros((5, 1))})
    assert {name: one.shape for name, one in parts.spaces.items()} == {"a": (2,), "b": (1,)}
