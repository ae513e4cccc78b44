"""Bars, points and histograms."""

from tests.report.figures.drawing import chart_of, charts_of, html_of

from nbyt.report import figures
from nbyt.results.study import Slides

KEY = "chart-f-0-0"


def _slides(tops: tuple[float, float]) -> Slides:
    frames = [
        [figures.points("", "x", "y", [{"name": "p", "x": [0, 1], "y": [0, top]}])] for top in tops
    ]
    return figures.slides("s", "Which", ["a", "b"], frames)


def test_frames_that_differ_much_say_that_the_axis_changes() -> None:
    alike, apart = _slides((1.0, 2.0)), _slides((1.0, 100.0))
    first, second = (one["layout"]["yaxis"]["range"] for one in charts_of(alike, KEY))
    assert first == second and "The vertical axis changes" not in html_of(alike)
    first, second = (one["layout"]["yaxis"]["range"] for one in charts_of(apart, KEY))
    assert first != second
    assert "The vertical axis changes with the slider." in html_of(apart)


def test_a_bar_starts_at_zero_and_has_its_interval() -> None:
    numbers = [{"value": 5.0, "low": 4.0, "high": 7.0}, {"value": None, "reason": "not run"}]
    figure = figures.bars("", ["a", "b"], "y", [figures.series("s", [0, 1], numbers)])
    (bar,) = chart_of(figure)["data"]
    assert bar["y"] == [5.0, None]
    assert bar["error_y"]["array"][0] == 2.0 and bar["error_y"]["arrayminus"][0] == 1.0
    low, high = chart_of(figure)["layout"]["yaxis"]["range"]
    assert low <= 0 and high >= 7
    assert "s at b: not run" in html_of(figure)


def test_a_histogram_is_an_outline_from_zero_to_zero() -> None:
    some = [{"name": "h", "heights": [1.0, 3.0]}]
    (trace,) = chart_of(figures.histogram("", "x", [0.0, 1.0, 2.0], some, y_title="y"))["data"]
    assert trace["x"] == [0.0, 0.0, 1.0, 2.0, 2.0] and trace["y"] == [0, 1.0, 3.0, 3.0, 0]
