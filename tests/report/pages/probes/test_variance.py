"""Parts of the variance and the worth of a sample over training."""

from typing import Any

import pytest
from tests.report.hostile import charts_of, words_of
from tests.report.pages.probes.probes_sample import BATCH, SILENT, drawn, training, values
from tests.report.typed import render_probes

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_charts_have_the_numbers(data: Data) -> None:
    records, charts = data["records"], charts_of(render_probes(data))
    samples = [one["samples"] for one in records]
    for place, network in enumerate(("actor", "critic")):
        for name in ("individual", "covariance"):
            line = drawn(charts[f"chart-variance-0-{place}"][0], name)
            assert line["x"] == samples and line["y"] == values(records, network, name)
        worth = drawn(charts["chart-worth-0-0"][0], network)
        assert worth["y"] == values(records, network, "ess_ratio")
    scale = charts["chart-worth-0-1"][0]
    assert drawn(scale, "critic")["y"] == values(records, "critic", "noise_scale")
    assert scale["layout"]["yaxis"]["type"] == "log"
    assert [one["y0"] for one in scale["layout"]["shapes"]] == [BATCH]
    returns = charts["chart-now-1"][0]["data"][0]["y"]
    assert returns == [float(f"{one['mean_return']:.6g}") for one in records]


def test_intervals_are_bands(data: Data) -> None:
    chart = charts_of(render_probes(data))["chart-worth-0-0"][0]
    band = next(one for one in chart["data"] if one.get("fill") == "toself")
    first = data["records"][0]["gradients"]["actor"]["ess_ratio"]
    assert band["y"][0] == pytest.approx(first["low"], rel=1e-5)
    assert band["y"][-2] == pytest.approx(first["high"], rel=1e-5)


def test_the_variance_has_a_log_axis_only_where_that_fits(data: Data) -> None:
    axis = "chart-variance-0-0"
    assert charts_of(render_probes(data))[axis][0]["layout"]["yaxis"]["type"] == "log"
    data["records"][3]["gradients"]["actor"]["covariance"]["value"] = -0.001
    assert "type" not in charts_of(render_probes(data))[axis][0]["layout"]["yaxis"]


def test_many_places_without_a_number_are_counted() -> None:
    data = training(20, pools=False, minibatches=False)
    for record in data["records"][:15]:
        record["gradients"]["critic"]["noise_scale"] = SILENT
    words = words_of(render_probes(data))
    assert "critic at 15 places from 20480 to 307200: the signal is lost in noise" in words
