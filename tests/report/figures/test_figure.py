"""Figures of every kind as parts of a page."""

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part
from nbyt.results.study import Lines


def _lines(title: str) -> Lines:
    return figures.lines(title, "x", "y", [figures.series("s", [1, 2], [{"value": 1.0}] * 2)])


def test_a_row_has_a_chart_for_each_figure() -> None:
    part = figures_part([figures.row(_lines("a"), _lines("b"))], "name")
    assert list(part.charts) == ["chart-name-0-0", "chart-name-0-1"]
    assert 'class="row"' in part.html


def test_a_slider_has_its_words_and_a_frame_for_each_place() -> None:
    frames = [[_lines("a")], [_lines("b")]]
    part = figures_part([figures.slides("s", "Which", ["one", "two"], frames, start=-1)], "name")
    assert len(part.charts["chart-name-0-0"]) == 2
    slider = part.sliders["slider-name-0"]
    assert (list(slider.words), slider.start) == (["one", "two"], 1)
    # Titles differ, so each place has its own.
    assert part.html.count('data-of="slider-name-0"') == 2


def test_one_frame_needs_no_slider() -> None:
    part = figures_part([figures.slides("s", "Which", ["one"], [[_lines("a")]])], "name")
    assert part.sliders == {} and 'type="range"' not in part.html and "one" in part.html


def test_a_table_shows_texts_and_numbers() -> None:
    rows = [["a <b>", {"value": 0.5, "low": 0.4, "high": 0.6}]]
    html = figures_part([figures.table("t", ["name", "number"], rows)], "name").html
    assert "a &lt;b&gt;" in html and "[0.40, 0.60]" in html
