"""Laws of outcome tables: one outcome once, in an order that no listing changes."""

import numpy as np
import pytest

from nbyt.envs import tabular
from nbyt.envs.tabular import OutcomeTable

LISTED = [
    (0.25, 1, -1.0, False),
    (0.125, 0, 2.0, True),
    (0.25, 0, 5.0, False),
    (0.0, 1, 9.0, False),
    (0.125, 0, 2.0, True),
    (0.25, 0, 5.0, True),
]
ORDERED = [(0.25, 0, 2.0, True), (0.25, 0, 5.0, False), (0.25, 0, 5.0, True), (0.25, 1, -1, False)]


def made(*listed) -> OutcomeTable:
    """The table of two states, of which the second has one outcome."""
    outcomes = {0: {0: listed}, 1: {0: [(1.0, 1, 0.5, True)]}}
    return tabular.from_outcomes(outcomes, [1.0, 0.0]).outcomes


@pytest.mark.parametrize("seed", range(4))
def test_equal_outcomes_are_one_in_whatever_order_they_are_listed(seed) -> None:
    order = np.random.default_rng(seed).permutation(len(LISTED))
    found = made(*(LISTED[i] for i in order))
    assert list(zip(*(part[0, 0].tolist() for part in found), strict=True)) == ORDERED


def test_the_most_probable_comes_first_and_zeros_fill_the_row() -> None:
    found = made((0.2, 0, 1.0, False), (0.5, 1, 2.0, True), (0.3, 0, 3.0, False))
    assert found.probability[0, 0].tolist() == [0.5, 0.3, 0.2]
    assert [part[1, 0].tolist() for part in found] == [
        [1.0, 0.0, 0.0],
        [1, 0, 0],
        [0.5, 0.0, 0.0],
        [True, False, False],
    ]


def test_sums_by_next_state() -> None:
    found = made(*LISTED)
    np.testing.assert_allclose(found.by_state(found.probability), [[[0.75, 0.25]], [[0.0, 1.0]]])
    reward = found.by_state(found.probability * found.reward)
    np.testing.assert_allclose(reward, [[[3.0, -0.25]], [[0.0, 0.5]]])


def test_tables_and_lists_of_one_env_are_the_same() -> None:
    generator = np.random.default_rng(0)
    transition = generator.dirichlet(np.full(5, 0.3), (5, 2)).round(1)
    transition[..., 0] += 1 - transition.sum(axis=2)
    transition = np.abs(transition) / np.abs(transition).sum(axis=2, keepdims=True)
    reward = generator.integers(3, size=transition.shape).astype(float)
    ends, start = generator.random(transition.shape) < 0.3, np.full(5, 0.2)
    listed = [
        [
            list(zip(transition[s, a], range(5), reward[s, a], ends[s, a], strict=True))[::-1]
            for a in range(2)
        ]
        for s in range(5)
    ]
    mine = tabular.from_outcomes(listed, start).outcomes
    for one, other in zip(
        mine, tabular.from_arrays(transition, reward, ends, start).outcomes, strict=True
    ):
        np.testing.assert_array_equal(one, other)
