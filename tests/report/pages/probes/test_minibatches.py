"""Mini-batches over training, and within an update."""

import json
import re
from typing import Any

import pytest
from tests.report.hostile import charts_of, words_of
from tests.report.pages.probes.probes_sample import drawn, training
from tests.report.typed import render_probes

from nbyt.report.pages.probes.minibatches import MOST_POINTS, MOST_UPDATES

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_mini_batches_of_first_and_last_epoch(data: Data) -> None:
    charts = charts_of(render_probes(data))
    looked = data["records"][0]["minibatches"]
    for name, epoch in (("first epoch", 0), ("last epoch", 3)):
        own = [one["cosine"] for one in looked if one["epoch"] == epoch]
        line = drawn(charts["chart-epochs-0-0-0"][0], name)
        assert line["y"][0] == pytest.approx(sum(own) / len(own), rel=1e-5)
    ratios = charts["chart-epochs-1-0-0"][0]
    assert drawn(ratios, "highest, last epoch")["y"][0] == pytest.approx(
        max(one["ratio_high"] for one in looked), rel=1e-5
    )
    assert [one["y0"] for one in ratios["layout"]["shapes"]] == [0.8, 1.2]


def test_one_epoch_is_not_set_against_itself(data: Data) -> None:
    for record in data["records"]:
        record["minibatches"] = [one for one in record["minibatches"] if one["epoch"] == 0]
    chart = charts_of(render_probes(data))["chart-epochs-0-0-0"][0]
    assert [one["name"] for one in chart["data"]] == ["the only epoch"]


def test_the_slider_has_every_update_and_begins_at_the_last(data: Data) -> None:
    html = render_probes(data)
    course = charts_of(html)["chart-course-0-0-0"]
    for record, chart in zip(data["records"], course, strict=True):
        cosines = [float(f"{one['cosine']:.6g}") for one in record["minibatches"]]
        assert chart["data"][0]["y"] == cosines
    said = json.loads(re.search(r'id="page-data">(.*?)</script>', html)[1])
    assert said["sliders"]["slider-course-0"]["start"] == len(course) - 1


def test_a_long_training_stays_one_page() -> None:
    data = training(60, pools=False)
    for record in data["records"]:
        record["minibatches"] = record["minibatches"] * 11
    html = render_probes(data)
    course = charts_of(html)["chart-course-0-0-0"]
    assert len(course) == MOST_UPDATES
    assert all(len(one["data"][0]["y"]) <= MOST_POINTS for one in course)
    assert "The slider stops at 40 of 60 probed updates." in words_of(html)
    assert "up to 2 mini-batches" in words_of(html)
    assert len(charts_of(html)["chart-worth-0-0"][0]["data"][1]["y"]) == 60
