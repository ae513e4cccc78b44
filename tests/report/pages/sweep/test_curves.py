"""Learning curves: one frame for each layout."""

from typing import Any

import pytest
from tests.report.hostile import charts_of
from tests.report.pages.sweep.reading import rendered, six

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_the_slider_brings_one_layout_forward(data: Data) -> None:
    frames = charts_of(rendered(data))["chart-curves-per_sample"]
    known = [one for one in data["layouts"] if one["seeds"]["finished"]]
    assert len(frames) == len(known)
    for frame, layout in zip(frames, known, strict=True):
        band, *_, last = frame["data"]
        curve = layout["per_sample"]["curve"]
        assert last["name"] == f"{layout['envs']}x{layout['steps']}"
        assert last["x"] == data["samples"]
        assert last["y"] == six([one["value"] for one in curve])
        assert band["y"][: len(curve)] == six([one["low"] for one in curve])
