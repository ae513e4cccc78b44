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
