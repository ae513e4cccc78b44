"""Expected losses over T: what was trained, what follows from it, and where nothing is claimed."""

from math import isclose, sqrt
from typing import Any

import pytest
from msgspec import convert
from tests.report.hostile import words_of

from nbyt.report.pages.advice.losses import loss_chart, loss_section
from nbyt.results import Advice

Data = dict[str, Any]


def chart(data: Data) -> Data:
    """The chart of the losses."""
    return loss_chart(convert(data, Advice))


def trace(data: Data, name: str) -> Data:
    """One of its traces."""
    return next(one for one in chart(data)["data"] if one.get("name") == name)


def words_in(data: Data) -> str:
    """The words that are drawn into the chart."""
    return " | ".join(one["text"] for one in chart(data)["layout"]["annotations"])


def test_trained_layouts_are_filled_and_others_hollow(data: Data) -> None:
    found = trace(data, "expected loss")
    tried = [one["trainings"] > 0 for one in data["layouts"]]
    assert [one == "circle" for one in found["marker"]["symbol"]] == tried
    losses = [one["loss"]["value"] for one in data["layouts"]]
    assert all(isclose(y, sqrt(100 * x)) for y, x in zip(found["y"], losses, strict=True))
    assert "512x4: loses 71 % [52, 88], not trained" in found["hovertext"]


def test_advised_yours_and_defaults_are_marked(data: Data) -> None:
    assert trace(data, "advised")["x"] == [32] and trace(data, "yours")["x"] == [128]
    assert trace(data, "library default")["x"] == [8, 16, 32, 64, 128]
    assert "64x32 advised" in words_in(data) and "16x128 yours" in words_in(data)


def test_the_5_percent_line_and_the_safe_range_are_drawn(data: Data) -> None:
    data["safe_range"] = [[512, 4], [64, 32], [32, 64]]
    shapes = chart(data)["layout"]["shapes"]
    lines = [one["y0"] for one in shapes if one["type"] == "line" and one.get("xref") == "paper"]
    assert lines == [sqrt(5.0)]
    safe = [(one["x0"], one["x1"]) for one in shapes if "@green" in one.get("fillcolor", "")]
    assert [(low * sqrt(2), high / sqrt(2)) for low, high in safe] == [
        pytest.approx((4, 4)),
        pytest.approx((32, 64)),
    ]
    assert words_in(data).count("safe") == 2


def test_what_was_not_tried_is_shaded(data: Data) -> None:
    assert "not tried" not in words_in(data)
    data["current"] |= {"envs": 2, "steps": 1024, "loss": None, "speedup": None}
    assert "not tried" in words_in(data) and "2x1024 yours" in words_in(data)
    assert 1024 in chart(data)["layout"]["xaxis"]["tickvals"]
    words = words_of(loss_section(convert(data, Advice)).html)
    assert "Nothing is claimed of T below 2 or above 128." in words


def test_undetermined_losses_are_not_drawn(data: Data) -> None:
    nothing = {"value": None, "low": None, "high": None, "reason": "no reference has this T"}
    data["layouts"][4]["loss"] = nothing
    assert 32 not in trace(data, "expected loss")["x"]
    assert 'title="no reference has this T"' in loss_section(convert(data, Advice)).html


def test_the_table_has_every_layout(data: Data) -> None:
    html = loss_section(convert(data, Advice)).html
    words = words_of(html)
    assert html.count("<tr") == 1 + len(data["layouts"])
    for said in (
        "★ advised",
        "◇ yours",
        "quarter trainings",
        "1.7 ×",
        "92 %",
        "CleanRL, PureJaxRL",
    ):
        assert said in words


def test_without_a_race_the_losses_are_the_references(bare: Data, unlearnt: Data) -> None:
    words = words_of(loss_section(convert(bare, Advice)).html)
    assert "all losses are means over the reference tasks" in words and "within 5 %" not in words
    assert set(trace(bare, "expected loss")["marker"]["symbol"]) == {"circle-open"}
    assert "The race says nothing" in words_of(loss_section(convert(unlearnt, Advice)).html)
