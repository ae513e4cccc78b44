"""The page of a probed training as text: nothing becomes markup, every number has its place."""

import json
import re
from typing import Any

import pytest
from hostile import PAYLOADS, Elements, charts_of, poisoned, words_of
from tests.report.probes.probes_sample import BATCH, SILENT, head, training

from nbyt.report.pages.probes import render_probes
from nbyt.report.pages.probes.minibatches import MOST_POINTS, MOST_UPDATES

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")
# The page looks these up in the settings; any other name is free text.
_LOOKED_UP = {"clip", "lambda"}
_CLEAN: list[Any] = []


def hostile(data: Data, payload: str) -> Data:
    """The data with the payload before every text, and before the names of facts."""
    bad: Data = poisoned(data, payload, set())
    for key in ("settings", "machine", "versions"):
        bad[key] = {
            name if name in _LOOKED_UP else payload + name: one for name, one in bad[key].items()
        }
    return bad


def values(records: list[Data], network: str, quantity: str) -> list[float | None]:
    """The values of a quantity as charts have them, with six digits."""
    found = [one["gradients"][network][quantity]["value"] for one in records]
    return [None if one is None else float(f"{one:.6g}") for one in found]


def drawn(chart: Data, name: str) -> Data:
    """The line of a chart's series."""
    return next(one for one in chart["data"] if one.get("name") == name)


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_text_becomes_markup(payload: str) -> None:
    data = training(3)
    if not _CLEAN:
        _CLEAN.append(Elements(render_probes(data)).found)
    html = render_probes(hostile(data, payload))
    assert Elements(html).found == _CLEAN[0]
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u2066\u2028\u2029]", html)


def test_the_test_above_would_see_markup(data: Data) -> None:
    html = render_probes(data)
    assert Elements(html.replace("CartPole", "<i>")).found != Elements(html).found
    shown = Elements(render_probes(hostile(data, "<script>"))).words
    assert sum("<script>" in word for word in shown) > 15


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


def test_the_last_record_is_told_in_words(data: Data) -> None:
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


def test_many_places_without_a_number_are_counted() -> None:
    data = training(20, pools=False, minibatches=False)
    for record in data["records"][:15]:
        record["gradients"]["critic"]["noise_scale"] = SILENT
    words = words_of(render_probes(data))
    assert "critic at 15 places from 20480 to 307200: the signal is lost in noise" in words


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


def test_what_was_not_looked_at_is_said_and_not_drawn() -> None:
    html = render_probes(training(3, pools=False, minibatches=False))
    words = words_of(html)
    assert "The training did not show its mini-batches" in words
    assert "No pool of long chains was collected" in words
    assert {name.split("-")[1] for name in charts_of(html)} == {"now", "variance", "worth"}


def test_what_is_undetermined_everywhere_is_a_sentence(data: Data) -> None:
    for record in data["records"]:
        for gradient in record["gradients"].values():
            gradient.update(dict.fromkeys(gradient, SILENT))
        record["mean_return"] = None
        for one in record["minibatches"]:
            one["cosine"] = None
    html = render_probes(data)
    words = words_of(html)
    names = set(charts_of(html))
    assert not {name for name in names if name.split("-")[1] in ("now", "variance", "worth")}
    for said in ("Noise scale", "Worth of a sample", "Parts of the variance, critic"):
        assert f"{said}, not drawn: the signal is lost in noise." in words
    assert "What the samples of a batch are worth cannot be told: the signal is lost" in words
    # The other charts of mini-batches are there, in the slider too.
    assert "chart-epochs-0-0" in names and "chart-course-0-1-0" in names


def test_nothing_measured_yet_is_said() -> None:
    html = render_probes({**head(), "records": []})
    words = words_of(html)
    assert "Nothing was measured yet. A probe is made every 10 updates." in words
    assert charts_of(html) == {} and "Stable-Baselines3 2.9.2" in words


def test_a_loop_that_says_little_has_a_page(data: Data) -> None:
    data = {key: data[key] for key in ("title", "library", "machine", "versions", "records")}
    for record in data["records"]:
        del record["gradients"]["actor"], record["gradients"]["critic"]
    words = words_of(render_probes(data))
    assert "None" not in words
    assert "Parts of the variance, total" in words
    # The size of the batch is that of its units together.
    assert f"batch of {BATCH:,} samples" in words


def test_settings_units_and_warnings_are_listed(data: Data) -> None:
    data["settings"] |= {"normalise": True, "network": [64, 64]}
    words = words_of(render_probes(data))
    for said in ("0.0003", "[64, 64]", "16 pieces of env streams, 128 steps each", "9,155"):
        assert said in words
    assert "Episodes are longer than the pieces of streams. (at update 30)" in words


def test_links_lead_somewhere(data: Data) -> None:
    html = render_probes(data)
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
    assert set(charts_of(html)) <= set(ids)
