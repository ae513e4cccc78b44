"""Learning curves of the race: means with all seeds, over time and over samples."""

from typing import Any

import numpy as np
import pytest
from msgspec import convert
from tests.report import made_up_advice
from tests.report.hostile import words_of

from nbyt.report.pages.advice.curves import curves_section, means
from nbyt.results import Advice
from nbyt.results.advice import Arm

Data = dict[str, Any]


def test_a_line_is_the_mean_and_its_band_holds_all_seeds(data: Data) -> None:
    arm = data["race"]["arms"][1]
    returns = np.array(arm["returns"])
    found = means(convert(arm, Arm))
    assert np.allclose([one.value for one in found], returns.mean(0))
    assert [one.low for one in found] == returns.min(0).tolist()
    assert [one.high for one in found] == returns.max(0).tolist()


def test_every_layout_has_a_curve_and_the_advised_one_comes_forward(data: Data) -> None:
    part = curves_section(convert(data, Advice))
    arms = data["race"]["arms"]
    assert set(part.charts) == {"chart-curves-spent", "chart-curves-samples"}
    slider = part.sliders["slider-curves"]
    assert slider.words[slider.start] == "64x32, advised" and len(slider.words) == len(arms)
    for name, key in (("chart-curves-spent", "spent"), ("chart-curves-samples", "samples")):
        frame = part.charts[name][slider.start]
        lines = [trace for trace in frame["data"] if "name" in trace]
        assert {trace["name"] for trace in lines} == {f"{a['envs']}x{a['steps']}" for a in arms}
        widths = {trace["name"]: trace["line"]["width"] for trace in lines}
        assert max(widths, key=lambda one: widths[one]) == "64x32"
        assert lines[-1]["x"] == arms[2][key]
        assert frame["layout"]["shapes"][0]["y0"] == data["race"]["untrained"]


def test_shares_of_a_training_have_their_seconds(data: Data) -> None:
    ticks = _ticks(data)
    assert ticks[0] == "0 %<br>0 s" and ticks[-1] == "25 %<br>2.5 s"
    data["race"]["unit_seconds"] = None
    assert _ticks(data)[-1] == "25 %"


def _ticks(data: Data) -> list[str]:
    charts = curves_section(convert(data, Advice)).charts["chart-curves-spent"]
    return charts[0]["layout"]["xaxis"]["ticktext"]


def test_for_the_same_samples_one_chart_says_it_all(data: Data) -> None:
    data["objective"] = "samples"
    data["advice"]["samples"] |= made_up_advice.split(32)
    data["race"]["unit_seconds"] = None
    assert set(curves_section(convert(data, Advice)).charts) == {"chart-curves-spent"}


def test_a_single_layout_with_a_single_seed_is_drawn(data: Data) -> None:
    arm = data["race"]["arms"][0]
    arm |= {key: arm[key][:1] for key in ("seeds", "returns", "gains")}
    data["race"]["arms"] = [arm]
    part = curves_section(convert(data, Advice))
    assert part.sliders == {} and len(part.charts["chart-curves-spent"]) == 1


@pytest.mark.parametrize("last", [0.0, 1e-6, 3.0, 1e90])
def test_any_budget_has_an_axis(data: Data, last: float) -> None:
    for arm in data["race"]["arms"]:
        arm["spent"] = np.linspace(0, last, len(arm["spent"])).tolist()
    part = curves_section(convert(data, Advice))
    assert len(part.charts["chart-curves-spent"][0]["layout"]["xaxis"].get("tickvals", [])) < 12


def test_without_a_race_a_sentence_says_so(bare: Data) -> None:
    part = curves_section(convert(bare, Advice))
    assert not part.charts and "Nothing was trained for this advice" in words_of(part.html)
