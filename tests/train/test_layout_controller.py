"""Steering: one step at a time towards what looks agree on; where they do not, it stays."""

import numpy as np
import pytest

from nbyt.train.adaptive import LayoutController, controller_for

LENGTHS = (1, 2, 4, 8)


def _looks(means, *, count=24, noise=1.0, seed=0):
    generator = np.random.default_rng(seed)
    common = generator.normal(size=(count, 1))  # what makes a whole rollout hard
    return np.asarray(means) + common + noise * generator.normal(size=(count, len(means)))


@pytest.mark.parametrize(("means", "goes_to"), [((0, 0, 3, 0), 2), ((9, 9, 0, 0), 3)])
def test_it_goes_one_step_towards_a_neighbour_that_is_ahead(means, goes_to):
    turn = LayoutController().decide(_looks(means), 3, 24, LENGTHS)
    assert turn.place == goes_to
    assert bool(turn.reason) == (goes_to != 3)


def test_the_reason_names_both_lengths_and_the_looks():
    reason = LayoutController().decide(_looks((0, 0, 3, 0)), 3, 24, LENGTHS).reason
    assert "after 4 steps" in reason and "after 8" in reason and "24 looks" in reason


@pytest.mark.parametrize(("count", "since"), [(11, 11), (24, 11)])
def test_few_looks_change_nothing(count, since):
    assert (
        LayoutController().decide(_looks((0, 0, 9, 0), count=count), 3, since, LENGTHS).place == 3
    )


def test_noise_alone_seldom_moves_it():
    moved = [
        LayoutController().decide(_looks((0, 0, 0, 0), seed=seed), 2, 24, LENGTHS).place != 2
        for seed in range(1000)
    ]
    # Two neighbours, each ahead by two standard errors in 2.5 to 3 of 100 cases.
    assert 0.02 < np.mean(moved) < 0.09


def test_looks_of_long_ago_do_not_count():
    before, now = _looks((0, 0, 9, 0), count=100), _looks((0, 0, -9, 0))
    assert LayoutController().decide(np.vstack([before, now]), 3, 24, LENGTHS).place == 3


def test_longer_runs_look_back_further():
    assert controller_for(100).window == 24
    assert controller_for(10_000).window == 500
