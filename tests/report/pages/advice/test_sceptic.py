"""What a sceptic asks: trainings, costs, what was not measured, and the track record."""

from typing import Any

import pytest
from msgspec import convert
from tests.report import made_up_advice
from tests.report.hostile import words_of

from nbyt.report.pages.advice.sceptic import loss_bar, sceptic_sections, unmeasured
from nbyt.results import Advice
from nbyt.results.prior import Loss

Data = dict[str, Any]


def words(data: Data) -> str:
    """The sections as text."""
    return words_of(sceptic_sections(convert(data, Advice)).html)


def test_every_training_is_named_with_seeds_and_samples(data: Data) -> None:
    said = words(data)
    for arm in data["race"]["arms"]:
        seeds = ", ".join(map(str, arm["seeds"]))
        assert f"{len(arm['seeds'])} {seeds} {arm['samples'][-1]:,}" in said
    assert "819,200 (0.82M)" in said and "41 s" in said
    for one in (data["prior"]["version"], data["prior"]["sha256"], data["reproduce"]):
        assert one in said
    assert all(stage["name"] in said for stage in data["stages"])


def test_the_track_record_has_its_rivals_beside_it(data: Data) -> None:
    said = words(data)
    for one in ("3.4 % [1.1, 6.2]", "11 % [5, 18]", "13 % [6, 21]", "Optuna TPE, median pruner"):
        assert one in said
    assert "On 12 tasks it had not seen" in said
    data["track_record"] = made_up_advice.track(sealed=False)
    assert "On 12 reference tasks, each left out in turn" in words(data)
    assert "There is no record of this rule" in words({**data, "track_record": None})


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("measured", "on any machine but this one"),
        ("parallel:16", "the profile parallel:16 was taken"),
        ("gpu.json", "it was read from gpu.json"),
        (None, "nothing is said about equal time"),
    ],
)
def test_what_was_not_measured_is_said(data: Data, source: str | None, said: str) -> None:
    found = " ".join(unmeasured(convert({**data, "costs_from": source}, Advice)))
    assert said in found and "T below 2 or above 128" in found
    assert "each made 25 % of its steps" in found and "3 layouts without a training" in found
    assert "How probable" not in found


def test_a_missing_probability_and_a_missing_race_are_said(bare: Data) -> None:
    found = " ".join(unmeasured(convert(bare, Advice)))
    assert "How probable it is" in found and "This task" in found
    assert "Nothing: no layout was trained on this task" in words(bare)


def test_one_seed_has_no_interval(data: Data) -> None:
    arm = data["race"]["arms"][0]
    arm |= {key: arm[key][:1] for key in ("seeds", "returns", "gains")}
    assert "(one seed)" in words(data)


def test_a_bar_is_cut_to_its_scale() -> None:
    style = "--low:0.0000;--high:1.0000;--value:0.5000"
    assert style in loss_bar(Loss(value=0.1, low=-0.1, high=0.3), 0.2)
    assert "--high:0.0000" in loss_bar(Loss(value=0.0, low=0.0, high=0.0), 0.0)
