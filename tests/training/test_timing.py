"""Updates are timed: a turn of many short ones, and a part of one that is huge."""

import pytest

from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.training import timing
from nbyt.training.plan import PPOSettings
from nbyt.training.timing import update_seconds, updates_of_a_turn


@pytest.mark.parametrize(("seconds", "updates"), [(0.0, 200), (0.01, 20), (0.2, 1), (60.0, 1)])
def test_a_turn_lasts_about_as_long_whatever_an_update_takes(seconds, updates) -> None:
    assert updates_of_a_turn(seconds) == updates


@pytest.mark.parametrize(
    "layout",
    [Layout(64, 128, 64, 4), Layout(2**20, 16, 2**12, 10), Layout(1, 2**24, 2**24, 1)],
)
def test_no_more_is_tried_than_takes_a_few_seconds(layout: Layout) -> None:
    tried = timing._tried(layout)
    assert tried.batch * tried.epochs <= timing._MOST_TRIED
    assert tried.batch % tried.minibatch == 0 and tried.minibatch <= layout.minibatch
    small = layout.batch * layout.epochs <= timing._MOST_TRIED
    assert (tried == layout) == small


def test_a_huge_update_is_extrapolated_from_the_part_that_was_timed(monkeypatch) -> None:
    class Timed:
        first = 0.5

        def __init__(self, env, settings, layout, vector) -> None:
            self.batch = layout.batch

        def close(self) -> None:
            pass

    monkeypatch.setattr(timing, "TimedPPO", Timed)
    monkeypatch.setattr(timing, "_MOST_TRIED", 64)
    env = resolve("tabular:FrozenLake-v1")
    assert update_seconds(env, PPOSettings(), Layout(8, 8, 64, 1)) == 0.5
    assert update_seconds(env, PPOSettings(), Layout(16, 8, 64, 3)) == 0.5 * 6
