"""Laws of landscapes drawn given reference tasks."""

import numpy as np
import pytest

from nbyt.stats.references import Reference, drawn_losses, landscapes_given

OCTAVES = np.arange(12.0)
SHORT = np.clip(1.3 - OCTAVES / 10, 0.05, 1.0)
LONG = np.clip(OCTAVES / 8, 0.05, 1.0)
TRIED = (1, 3, 5, 7)


def _reference(mean: np.ndarray, noise: float = 0.05) -> Reference:
    return Reference(OCTAVES, mean, 1e-4 * np.eye(12), np.full(12, noise))


REFERENCES = (_reference(SHORT), _reference(LONG))


def _drawn(gains: np.ndarray, references: tuple[Reference, ...] = REFERENCES) -> np.ndarray:
    return landscapes_given(references, OCTAVES, TRIED, gains, np.random.default_rng(0))


@pytest.mark.parametrize("mean", [SHORT, LONG])
def test_trainings_pick_the_reference_that_they_resemble(mean: np.ndarray) -> None:
    gains = 7.0 * mean[list(TRIED)][:, None] * np.ones((4, 4))
    lost = drawn_losses(_drawn(gains)).mean(0)
    truth = 1 - mean / mean.max()
    assert lost == pytest.approx(truth, abs=0.15)


def test_a_loss_is_a_share_and_some_layout_has_none() -> None:
    lost = drawn_losses(_drawn(np.ones((4, 2))))
    assert lost.min() >= 0
    assert lost.max() <= 1
    assert lost.min(1) == pytest.approx(0)


def test_seeds_narrow_what_is_believed() -> None:
    generator = np.random.default_rng(1)
    gains = SHORT[list(TRIED)][:, None] + 0.1 * generator.normal(size=(4, 32))
    few, many = (drawn_losses(_drawn(gains[:, :seeds])).std(0).mean() for seeds in (1, 32))
    assert many < few


def test_the_scale_of_returns_does_not_matter() -> None:
    gains = SHORT[list(TRIED)][:, None] * np.ones((4, 3))
    one, other = (drawn_losses(_drawn(scale * gains)).mean(0) for scale in (1.0, 1e4))
    assert one == pytest.approx(other)


def test_an_arm_without_a_seed_says_as_much_as_an_arm_that_was_not_tried() -> None:
    gains = LONG[list(TRIED)][:, None] * np.ones((4, 3))
    gains[2] = np.nan
    fewer = landscapes_given(
        REFERENCES, OCTAVES, (1, 3, 7), gains[[0, 1, 3]], np.random.default_rng(0)
    )
    assert np.array_equal(_drawn(gains), fewer)
    with pytest.raises(ValueError, match="no arm"):
        _drawn(np.full((4, 3), np.nan))


def test_half_a_race_says_less_than_a_whole_one_and_more_than_none_of_that_half() -> None:
    generator = np.random.default_rng(1)
    noisy = (_reference(SHORT, 0.3), _reference(LONG, 0.3))
    whole = LONG[list(TRIED)][:, None] + 0.3 * generator.normal(size=(4, 24))
    ragged, short = whole.copy(), whole[:, :2]
    ragged[2:, 2:] = np.nan
    spreads = [_drawn(gains, noisy)[:, 3].std() for gains in (whole, ragged, short)]
    assert spreads[0] < spreads[1] * 1.1
    assert spreads[1] < spreads[2]


def test_the_order_of_seeds_does_not_matter_and_one_that_nobody_has_changes_nothing() -> None:
    generator = np.random.default_rng(2)
    gains = LONG[list(TRIED)][:, None] + 0.1 * generator.normal(size=(4, 5))
    gains[0, 3], gains[2, 1] = np.nan, np.nan
    empty = np.column_stack([gains[:, ::-1], np.full(4, np.nan)])
    assert _drawn(empty) == pytest.approx(_drawn(gains))
