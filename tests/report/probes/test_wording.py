"""Sentences about a batch: what they say follows from the interval, not from the value."""

from typing import Any

import pytest
from tests.report.probes.probes_sample import SILENT

from nbyt.report.numbers import samples_words
from nbyt.report.pages.probes.now import noise, shared, worth


def between(value: float, low: float | None, high: float | None, **more: Any) -> dict[str, Any]:
    """A number with these ends."""
    return {"value": value, "low": low, "high": high, **more}


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (between(611.4, 480.2, 770.9), "610 [480 to 770]"),
        (between(12_345, 9_876, 15_432), "12,300 [9,900 to 15,400]"),
        (between(12_345, 9_876, None), "12,300 [9,900 or more]"),
        (between(12_345, None, None), "12,300 [no interval]"),
        (between(611.4, 480.2, 770.9, approximate=True), "≈\u202f610 [480 to 770]"),
        (between(7.31, 5.2, 9.9), "7.3 [5.2, 9.9]"),
        (between(151, 0.42, 159_123), "150 [0.42 to 160,000]"),
    ],
)
def test_samples_have_no_digit_that_the_interval_denies(number: dict[str, Any], said: str) -> None:
    assert samples_words(number) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (between(0.3, 0.2, 0.4), "worth 610 [410 to 820] independent ones."),
        (between(0.9, 0.7, 1.1), "whether that is less or more than it has cannot be told"),
        (between(0.9, 0.7, None), "whether that is less or more than it has cannot be told"),
        (between(1.3, 1.1, 1.5), "more than it has"),
        (SILENT, "cannot be told: the signal is lost in noise."),
    ],
)
def test_what_a_batch_is_worth(number: dict[str, Any], said: str) -> None:
    assert said in worth(number, 2048)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (between(0.7, 0.6, 0.8), "70 % [60, 80] of its variance is covariance: steps"),
        (between(-0.3, -0.4, -0.2), "Its covariance is negative, \u221230 %"),
        (between(0.1, -0.1, 0.3), "whether there is any cannot be told"),
        (SILENT, "cannot be told: the signal is lost in noise."),
    ],
)
def test_how_much_is_covariance(number: dict[str, Any], said: str) -> None:
    assert said in shared(number)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (between(6144, 4096, 8192), "The noise is 3.0 [2.0, 4.0] times the signal; with 6,100"),
        (SILENT, "cannot be told: the signal is lost in noise."),
        ({**SILENT, "low": -10.0}, "cannot be told: the signal is lost in noise."),
        (between(-100, -300, 1024), "cannot be told from none: it is at most 0.5 times"),
        ({**SILENT, "low": 4096.0}, "The noise is at least 2 times the signal; more cannot"),
    ],
)
def test_how_large_the_noise_is(number: dict[str, Any], said: str) -> None:
    assert said in noise(number, 2048)
