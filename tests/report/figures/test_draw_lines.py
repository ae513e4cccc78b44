"""Lines: bands, log axes, ticks."""

from tests.report.figures.drawing import chart_of, html_of

from nbyt.report import figures


def test_an_interval_that_never_ends_leaves_the_values_visible() -> None:
    numbers = [{"value": v, "low": v - w, "high": v + w} for v, w in ((1, 900), (2, 0.1), (3, 0.1))]
    figure = figures.lines("", "x", "y", [figures.series("s", [1, 2, 3], numbers)])
    low, high = chart_of(figure)["layout"]["yaxis"]["range"]
    assert low > -10 and high < 15
    assert "go beyond the edge" in html_of(figure)


def test_a_log_axis_shows_what_it_can() -> None:
    numbers = [
        {"value": 0.1, "low": -0.1, "high": 0.3},
        {"value": 10.0, "low": 9.0, "high": 11.0},
        {"value": -1.0, "low": -2.0, "high": 0.0},
    ]
    some = [figures.series("s", [1, 10, 100], numbers)]
    figure = figures.lines("", "x", "y", some, log_x=True, log_y=True, marks=[(1.0, "one")])
    chart = chart_of(figure)
    band, line = chart["data"]
    assert line["y"] == [0.1, 10.0, None]
    assert all(y is None or y > 0 for y in band["y"])
    assert chart["layout"]["annotations"][0]["y"] == 0
    assert "s at 100: −1.0 [−2.0, 0.0] has no place on a log axis" in html_of(figure)


def test_words_of_ticks_are_never_left_out() -> None:
    some = [figures.series("s", [1, 2], [{"value": 1.0}, {"value": 2.0}])]
    words = figures.lines("", "x", "y", some, ticks=[(1, "64x32"), (2, "32x64")])
    digits = figures.lines("", "x", "y", some, ticks=[(1, "16"), (2, "32")])
    assert chart_of(words)["layout"]["xaxis"]["all"] is True
    assert "all" not in chart_of(digits)["layout"]["xaxis"]


def test_exact_numbers_have_no_band() -> None:
    exact = [{"value": float(x), "low": float(x), "high": float(x)} for x in range(3)]
    bare = [{"value": float(x)} for x in range(3)]
    some = [figures.series("exact", [0, 1, 2], exact), figures.series("bare", [0, 1, 2], bare)]
    chart = chart_of(figures.lines("", "x", "y", some))
    assert len(chart["data"]) == 2
    assert chart["data"][0]["hovertext"][2] == "2: exact 2"
