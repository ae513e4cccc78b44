"""Laws of the cost model: it finds what was put in, and its intervals grow with misfit."""

from pathlib import Path

import numpy as np
import pytest

from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.store.files import COSTS
from nbyt.store.run import Folder
from nbyt.training import costs
from nbyt.training.costs import Costs, costs_from, measure_costs, update_seconds, updates_of_a_turn
from nbyt.training.plan import PPOSettings


def _timed(law, noise=0.0, rounds=5):
    generator = np.random.default_rng(0)
    return {
        (2048 // steps, steps): [
            law(steps) * np.exp(noise * generator.normal()) for _ in range(rounds)
        ]
        for steps in (1, 16, 128, 1024)
    }


def _seconds(timed, steps):
    return Costs(timed).seconds([(2048 // t, t) for t in steps])


def test_the_law_that_was_timed_is_found_between_the_splits() -> None:
    found = _seconds(_timed(lambda t: 0.2 + 0.001 * t), (1, 64, 512))
    assert [one.value for one in found] == pytest.approx([0.201, 0.264, 0.712])


def test_noise_and_misfit_widen_the_interval() -> None:
    sharp, noisy, bent = (
        _seconds(timed, (64,))[0]
        for timed in (
            _timed(lambda t: 0.2 + 0.001 * t),
            _timed(lambda t: 0.2 + 0.001 * t, noise=0.1),
            _timed(lambda t: 0.2 + 0.01 * t**0.5),
        )
    )
    widths = [np.log(one.high / one.low) for one in (sharp, noisy, bent)]
    assert widths[0] < 1e-6 < widths[1] and widths[2] > 0.05
    assert noisy.low < 0.264 < noisy.high


def test_no_layout_takes_less_than_no_time() -> None:
    found = _seconds(_timed(lambda t: 0.3 - 0.0001 * t), (1, 2048))
    assert all(one.low > 0 for one in found)


def test_a_larger_batch_costs_more_where_two_were_timed() -> None:
    timed = {(n, t): [0.01 + 0.001 * t + 1e-4 * n * t] * 3 for n, t in ((8, 8), (1, 64), (64, 64))}
    timed[512, 8] = [0.01 + 0.008 + 0.4096] * 3
    found = Costs(timed).seconds([(16, 64)])[0]
    assert found.value == pytest.approx(0.01 + 0.064 + 0.1024, rel=1e-6)


def test_a_slow_round_slows_all_layouts_and_leaves_their_order_alone() -> None:
    slow = np.array([1.0, 3.0, 1.2, 2.0, 1.5])
    timed = {(2048 // t, t): list(slow * (0.2 + 0.001 * t)) for t in (1, 16, 128, 1024)}
    found = Costs(timed).redrawn([(2048, 1), (2, 1024)], 500, np.random.default_rng(0))
    assert found[1:, 0].std() > 0.1 * found[0, 0]
    ratio = found[:, 1] / found[:, 0]
    assert ratio == pytest.approx(1.224 / 0.201, rel=1e-6)


def test_redrawn_seconds_are_as_wide_as_their_interval() -> None:
    costs = Costs(_timed(lambda t: 0.2 + 0.01 * t**0.5, noise=0.1))
    one = costs.seconds([(32, 64)])[0]
    found = costs.redrawn([(32, 64)], 20_000, np.random.default_rng(0))
    assert found[0, 0] == pytest.approx(one.value)
    low, high = np.quantile(found[1:, 0], [0.025, 0.975])
    assert (low, high) == pytest.approx((one.low, one.high), rel=0.03)


def test_costs_survive_the_way_to_a_file_and_back(tmp_path: Path) -> None:
    costs = Costs(_timed(lambda t: 0.2 + 0.001 * t, noise=0.1))
    folder = Folder(tmp_path)
    folder.write(COSTS, costs.record)
    assert costs_from(folder.read(COSTS)) == costs


def test_updates_of_a_real_env_are_timed() -> None:
    layouts = [Layout(64 // t, t, 64, 1) for t in (1, 4, 16, 64)]
    settings = PPOSettings(network="8")
    found = measure_costs(resolve("tabular:FrozenLake-v1"), settings, layouts)
    assert set(found.timed) == {(64, 1), (16, 4), (4, 16), (1, 64)}
    assert all(len(rounds) == 5 for rounds in found.timed.values())
    seconds = found.seconds([(8, 8), (2, 32)])
    assert all(0 < one.low <= one.value <= one.high for one in seconds)


def test_what_was_timed_is_told_without_the_fit() -> None:
    """A law that no fit can follow: each layout has the mean of its own rounds."""
    timed = {(64, 4): [0.1, 0.2, 0.4], (32, 8): [1.0, 1.0, 1.0], (16, 16): [0.002, 0.004, 0.008]}
    costs = Costs(timed)
    means = {(64, 4): 0.2, (32, 8): 1.0, (16, 16): 0.004}  # geometric
    for split, mean in means.items():
        found = costs.measured(split)
        assert (found.envs, found.steps) == split
        assert found.seconds.value == pytest.approx(mean)
        assert found.milliseconds.value == pytest.approx(1000 * mean)
        assert found.milliseconds.high == pytest.approx(1000 * found.seconds.high)
        assert found.steps_per_second == pytest.approx(256 / mean)
    steady, shaky = costs.measured((32, 8)).seconds, costs.measured((64, 4)).seconds
    assert steady.low == pytest.approx(1.0) and steady.high == pytest.approx(1.0)
    assert shaky.low < 0.2 < shaky.high


def test_the_batches_are_those_that_were_timed() -> None:
    assert Costs(_timed(lambda t: 0.2)).batches == {2048}
    assert Costs({(8, 8): [1.0] * 2, (4, 16): [1.0] * 2, (8, 16): [1.0] * 2}).batches == {64, 128}


@pytest.mark.parametrize(("seconds", "updates"), [(0.0, 200), (0.01, 20), (0.2, 1), (60.0, 1)])
def test_a_turn_lasts_about_as_long_whatever_an_update_takes(seconds, updates) -> None:
    assert updates_of_a_turn(seconds) == updates


@pytest.mark.parametrize(
    "layout",
    [Layout(64, 128, 64, 4), Layout(2**20, 16, 2**12, 10), Layout(1, 2**24, 2**24, 1)],
)
def test_no_more_is_tried_than_takes_a_few_seconds(layout: Layout) -> None:
    tried = costs._tried(layout)
    assert tried.batch * tried.epochs <= costs._MOST_TRIED
    assert tried.batch % tried.minibatch == 0 and tried.minibatch <= layout.minibatch
    small = layout.batch * layout.epochs <= costs._MOST_TRIED
    assert (tried == layout) == small


def test_a_huge_update_is_extrapolated_from_the_part_that_was_timed(monkeypatch) -> None:
    class Timed:
        first = 0.5

        def __init__(self, env, settings, layout, vector) -> None:
            self.batch = layout.batch

        def close(self) -> None:
            pass

    monkeypatch.setattr(costs, "TimedPPO", Timed)
    monkeypatch.setattr(costs, "_MOST_TRIED", 64)
    env = resolve("tabular:FrozenLake-v1")
    assert update_seconds(env, PPOSettings(), Layout(8, 8, 64, 1)) == 0.5
    assert update_seconds(env, PPOSettings(), Layout(16, 8, 64, 3)) == 0.5 * 6
