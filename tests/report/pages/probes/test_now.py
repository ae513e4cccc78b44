"""Sentences about a batch: what they say follows from the interval, not from the value."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.report.hostile import words_of
from tests.report.pages.probes.probes_sample import BATCH
from tests.report.typed import number, render_probes

from nbyt.report.pages.probes.now import noise, shared, worth
from nbyt.results.values import Number

SILENT = number(None, reason="the signal is lost in noise")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (number(0.3, 0.2, 0.4), "worth 610 [410 to 820] independent ones."),
        (number(0.9, 0.7, 1.1), "whether that is less or more than it has cannot be told"),
        (number(0.9, 0.7, None), "whether that is less or more than it has cannot be told"),
        (number(1.3, 1.1, 1.5), "more than it has"),
        (SILENT, "cannot be told: the signal is lost in noise."),
    ],
)
def test_what_a_batch_is_worth(number: Number, said: str) -> None:
    assert said in worth(number, 2048)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (number(0.7, 0.6, 0.8), "70 % [60, 80] of its variance is covariance: steps"),
        (number(-0.3, -0.4, -0.2), "Its covariance is negative, \u221230 %"),
        (number(0.1, -0.1, 0.3), "whether there is any cannot be told"),
        (SILENT, "cannot be told: the signal is lost in noise."),
    ],
)
def test_how_much_is_covariance(number: Number, said: str) -> None:
    assert said in shared(number)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (number(6144, 4096, 8192), "The noise is 3.0 [2.0, 4.0] times the signal; with 6,100"),
        (SILENT, "cannot be told: the signal is lost in noise."),
        (replace(SILENT, low=-10.0), "cannot be told: the signal is lost in noise."),
        (number(-100, -300, 1024), "cannot be told from none: it is at most 0.5 times"),
        (replace(SILENT, low=4096.0), "The noise is at least 2 times the signal; more cannot"),
    ],
)
def test_how_large_the_noise_is(number: Number, said: str) -> None:
    assert said in noise(number, 2048)


@pytest.mark.usefixtures("light")
def test_the_last_record_is_told_in_words(data: dict[str, Any]) -> None:
    data["records"][-1]["gradients"]["actor"]["ess_ratio"] = {
        "value": 0.3,
        "low": 0.234,
        "high": 0.376,
    }
    data["records"][-1]["warnings"] = ["Something was odd."]
    said = words_of(render_probes(data))
    assert "A batch of 2,048 samples is worth 610 [480 to 770] independent ones." in said
    assert f"Update 120, after {120 * BATCH:,} samples" in said
    # Of the last record, and among those of all.
    assert said.count("Something was odd.") == 2
