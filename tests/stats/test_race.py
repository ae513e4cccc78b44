"""Laws of the race: what is promised, smoothed, chosen, and how sure that is."""

import numpy as np
import pytest

from nbyt.stats.race import (
    CALIBRATED_FROM,
    FRACTION,
    Judged,
    best_between,
    has_gained,
    judge_race,
    over_budget,
    promised,
    smoothed,
    times_as_long,
)
from nbyt.stats.references import Reference

OCTAVES = np.arange(12.0)
# A hill over T = 32, and a plateau of long T.
HILL = np.exp(-0.5 * ((OCTAVES - 5) / 2.5) ** 2)
PLATEAU = np.clip(OCTAVES / 5, 0.1, 1.0)
TRIED = (1, 3, 5, 7)


def _reference(mean: np.ndarray) -> Reference:
    return Reference(OCTAVES, mean, 1e-4 * np.eye(12), np.full(12, 0.1))


REFERENCES = (_reference(HILL), _reference(PLATEAU), _reference(np.roll(HILL, -2)))


def test_a_flat_curve_promises_its_height_and_a_rising_one_more_than_its_mean() -> None:
    assert promised(np.full((1, 9), 3.0)) == pytest.approx(3.0)
    rising = np.linspace(0, 1, 9)[None]
    assert promised(rising) == pytest.approx(FRACTION * 0.5 + (1 - FRACTION) * 1.0)
    assert promised(rising, 1.0) == pytest.approx(0.5)


def test_curves_over_a_budget_are_read_at_the_samples_it_pays_for() -> None:
    samples = np.array([0.0, 100.0, 200.0])
    curves = samples[None] / 10
    assert over_budget(curves, samples, 2.0, 200.0, 3)[0] == pytest.approx([0, 5, 10])
    # Past its last sample a curve keeps its last return.
    assert over_budget(curves, samples, 0.5, 200.0, 3)[0] == pytest.approx([0, 20, 20])


def test_smoothing_without_noise_goes_through_the_arms() -> None:
    gains = HILL[list(TRIED)]
    found = smoothed(OCTAVES, TRIED, gains, noise=1e-6)
    assert found[list(TRIED)] == pytest.approx(gains / gains.max(), abs=1e-6)


def test_the_best_lies_between_the_arms_and_never_outside() -> None:
    assert best_between(OCTAVES, TRIED, HILL[list(TRIED)]) in (4, 5, 6)
    rising = np.array([0.1, 0.3, 0.6, 1.0])
    assert best_between(OCTAVES, TRIED, rising) <= 7


def test_the_choice_does_not_depend_on_the_scale_of_returns() -> None:
    gains = HILL[list(TRIED)] + np.array([0.02, -0.03, 0.01, 0.04])
    choices = {best_between(OCTAVES, TRIED, scale * gains) for scale in (1e-3, 1.0, 1e4)}
    assert len(choices) == 1


def _judged(gains: np.ndarray, trainings: float = 4.0) -> Judged:
    generator = np.random.default_rng(0)
    return judge_race(
        OCTAVES, TRIED, gains, references=REFERENCES, trainings=trainings, generator=generator
    )


def test_a_clear_race_names_the_top_of_the_hill_and_is_sure_of_it() -> None:
    noise = 0.02 * np.random.default_rng(1).normal(size=(4, 8))
    found = _judged(HILL[list(TRIED)][:, None] + noise, trainings=8.0)
    assert found.learnt
    assert found.best in (4, 5, 6)
    assert found.within is not None
    assert found.within > 0.7
    lost = {place: one.value for place, one in zip(found.places, found.losses, strict=True)}
    assert lost[found.best] < 0.05
    # T = 2 reaches exp(-1.28) = .28 of the best.
    assert lost[1] == pytest.approx(1 - HILL[1], abs=0.1)
    assert found.places == tuple(range(1, 8))
    assert set(found.safe) <= set(found.places)


def test_more_noise_makes_less_sure() -> None:
    generator = np.random.default_rng(2)
    means = HILL[list(TRIED)][:, None]
    sure = _judged(means + 0.02 * generator.normal(size=(4, 4)))
    unsure = _judged(means + 0.5 * generator.normal(size=(4, 4)))
    widths = [
        np.mean([one.high - one.low for one in found.losses if one.high is not None])
        for found in (sure, unsure)
    ]
    assert widths[1] > widths[0]


def test_no_probability_is_given_below_the_budget_at_which_it_is_calibrated() -> None:
    gains = HILL[list(TRIED)][:, None] * np.ones((4, 2))
    assert _judged(gains, trainings=CALIBRATED_FROM / 2).within is None
    assert _judged(gains, trainings=float(CALIBRATED_FROM)).within is not None


@pytest.mark.parametrize("seeds", [1, 4])
def test_a_race_in_which_nothing_is_learnt_says_so(seeds: int) -> None:
    generator = np.random.default_rng(3)
    learnt = [_judged(generator.normal(0, 1, size=(4, seeds))).learnt for _ in range(20)]
    assert np.mean(learnt) < 0.5
    assert _judged(10 + generator.normal(0, 1, size=(4, seeds))).learnt


def test_a_race_that_was_interrupted_is_judged_by_what_is_there() -> None:
    generator = np.random.default_rng(4)
    gains = HILL[list(TRIED)][:, None] + 0.03 * generator.normal(size=(4, 8))
    gains[1, 5:], gains[3, 2:] = np.nan, np.nan
    found = _judged(gains)
    assert found.learnt
    assert found.places == tuple(range(1, 8))
    assert found.best in (4, 5, 6)
    gains[3] = np.nan
    assert _judged(gains).places == tuple(range(1, 6))


def test_the_slower_arm_takes_longer_to_the_same_return() -> None:
    generator = np.random.default_rng(0)
    slow, fast = np.linspace(0, 1, 11), np.linspace(0, 2, 11)
    some = [curve + 0.01 * generator.normal(size=(4, 11)) for curve in (slow, fast)]
    times = times_as_long(*some, generator)
    assert times is not None and times.approximate
    assert times.low < 2.0 < times.high and times.value == pytest.approx(2.0, rel=0.1)
    assert times_as_long(*reversed(some), generator) is None  # it is not the slower one
    assert times_as_long(*(one[:1] for one in some), generator) is None  # one seed, no interval


def test_an_arm_has_gained_where_its_mean_is_above_the_untrained_policy() -> None:
    nan = np.nan
    assert has_gained(np.array([[-1.0, -0.5], [0.3, -0.1]]))
    assert not has_gained(np.array([[0.0, 0.0], [0.3, -0.4]]))
    assert has_gained(np.array([[nan, nan], [nan, 0.1]]))
    assert not has_gained(np.array([[nan, nan]]))
