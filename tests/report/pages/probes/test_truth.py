"""The gradient of a training against the true one."""

from typing import Any

import pytest
from tests.report.hostile import charts_of, words_of
from tests.report.pages.probes.probes_sample import drawn
from tests.report.typed import render_probes

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_pools_are_held_against_the_true_gradient(data: Data) -> None:
    charts = charts_of(render_probes(data))
    pooled = [one for one in data["records"] if one["pool"]]
    line = drawn(charts["chart-truth-0-0"][0], "alignment")
    own = [one["pool"]["layouts"][1]["actor"]["alignment"]["value"] for one in pooled]
    assert line["x"] == [one["samples"] for one in pooled]
    assert line["y"] == pytest.approx(own, rel=1e-5)
    steps = drawn(charts["chart-steps-0-0"][0], "lambda 0.95")
    assert steps["x"] == [16, 64, 256, 1024]
    words = words_of(render_probes(data))
    assert "Measured at 4 of 12 probes" in words and "8x256, this training" in words


def test_one_layout_is_not_drawn_against_steps(data: Data) -> None:
    for record in data["records"]:
        if record["pool"]:
            record["pool"]["layouts"] = record["pool"]["layouts"][1:2]
    names = set(charts_of(render_probes(data)))
    assert "chart-truth-0-0" in names and not {one for one in names if "steps" in one}
